#pragma once

#include <variant>

#include "report/figure/bar.h"
#include "report/figure/heatmap.h"
#include "report/figure/histogram.h"
#include "report/figure/line.h"
#include "report/figure/scatter.h"
#include "report/figure/stacked.h"
#include "report/figure/survival.h"

namespace difflab::report {

/// Every kind of figure; `mark:` in the YAML picks one.
/// To add one: write figure/NAME.{h,cpp} with a config struct and its `draw`, add it here.
using FigureConfig = std::variant<LineConfig, BarConfig, HeatmapConfig, StackedConfig,
                                  HistogramConfig, ScatterConfig, SurvivalConfig>;

}  // namespace difflab::report
