#pragma once

#include <variant>

#include "report/mark/heatmap.h"
#include "report/mark/histogram.h"
#include "report/mark/interval.h"
#include "report/mark/line.h"
#include "report/mark/scatter.h"
#include "report/mark/survival.h"

namespace difflab::report {

/// Every kind of figure; `mark:` in the YAML picks one.
/// To add one: write mark/NAME.{h,cpp} with a config struct and its `draw`, add it here.
using FigureConfig = std::variant<LineConfig, HeatmapConfig, HistogramConfig, IntervalConfig,
                                  ScatterConfig, SurvivalConfig>;

/// Fields that every kind of figure has.
inline const FigureCommon& common_of(const FigureConfig& figure) {
  return std::visit([](const auto& kind) -> const FigureCommon& { return kind; }, figure);
}

}  // namespace difflab::report
