#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/schema/fields.h"
#include "report/data/config_types.h"

namespace difflab::report {

class Frame;
struct FrameRun;

/// Share of the baseline's x that a variant needs to reach the same level of a metric, the worse of
/// their two best: parameters at equal loss (arXiv 2410.05258, figure 3). Seed by seed, over the
/// runs of all sizes (statistics/equal_level.h); all of them get the same number, the baseline's 1.
/// None where a size has no result, or the two reach no common level between sizes.
struct EqualLevelConfig : OfMetric {
  static constexpr std::string_view kKind = "equal_level";
  static constexpr std::string_view kAbout =
      "share of the baseline's x that a variant needs to reach the same level of a metric";

  std::string x = "parameters";
  std::string along;
  std::string variants;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "the metric's key in tables, figures and claims", config::given());
    visit("value", value, "metric of result.json whose level is reached, e.g. test_loss",
          config::given());
    visit("x", x, "metric of result.json that is needed for it");
    visit("along", along, "axis of the sizes, e.g. model.d_model", config::given());
    visit("variants", variants, "axis that has the baseline among its values", config::given());
  }
  std::optional<double> of(const FrameRun& run, const Frame& frame) const;
};

}  // namespace difflab::report
