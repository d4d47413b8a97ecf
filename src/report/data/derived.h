#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/schema/fields.h"
#include "report/data/config_types.h"

namespace difflab::report {

class Frame;
struct FrameRun;

/// Fields of the metrics that are derived from cells of one run: a name, and which cells.
struct DerivedCommon {
  std::string name;
  std::string source;
  std::string value = "accuracy";
  TextMap where;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "the metric's key in tables, figures and claims", config::given());
    visit("source", source, "evaluation whose cells it is made from, e.g. needle_grid",
          config::given());
    visit("value", value, "key of the cells with the score");
    visit("where", where, "keep only cells with these values, e.g. {needles: 4, queries: 1}");
  }
};

/// The longest context at which a run keeps a share of its own score at the shortest: with 0.85,
/// what RULER (arXiv 2404.06654) measures against a fixed score. Scores are means over the other
/// keys of the cells. A run that keeps it to the end has the longest length asked. A run whose base
/// score is not above chance (its Wilson interval reaches it) has 0: left out, it would flatter the
/// mean of its variant.
struct EffectiveLengthConfig : DerivedCommon {
  static constexpr std::string_view kKind = "effective_length";
  static constexpr std::string_view kAbout =
      "the longest context at which a run keeps a share of its own score at the shortest";

  std::string x = "length";
  double share = 0.85;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    DerivedCommon::visit_fields(visit);
    visit("x", x, "key of the cells with the length");
    visit("share", share, "of the score at the shortest length", config::between(0, 1));
  }
  std::optional<double> of(const FrameRun& run, const Frame& frame) const;
};

/// The area under the depth × length map divided by its ground: the mean score by the trapezoid
/// rule over the depth and the logarithm of the length, between 0 and 1. A map with holes has none.
struct MapAreaConfig : DerivedCommon {
  static constexpr std::string_view kKind = "map_area";
  static constexpr std::string_view kAbout =
      "the mean score over the depth x length map, by the trapezoid rule in depth and log length";

  std::string x = "length", y = "depth";

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    DerivedCommon::visit_fields(visit);
    visit("x", x, "key of the cells whose logarithm is one side");
    visit("y", y, "key of the cells that is the other side");
  }
  std::optional<double> of(const FrameRun& run, const Frame& frame) const;
};

/// Derived metric, 1 if a metric of the run's result is below a bound, else 0: reports count such
/// runs, with Wilson's interval. A run that diverged has no number and counts as 0. The name begins
/// with is_, by which reports know it.
struct BelowConfig : OfMetric {
  static constexpr std::string_view kKind = "below";
  static constexpr std::string_view kAbout =
      "whether a metric of the run is below a bound: runs are counted, as k of n";

  double bound = 0;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "the metric's key in tables, figures and claims; begins with is_");
    visit("value", value, "metric of result.json, e.g. lambda.0", config::given());
    visit("bound", bound, "what it has to be below");
  }
  void validate(config::Check& check) const;
  std::optional<double> of(const FrameRun& run, const Frame& frame) const;
};

/// A source's numbers for a metric, by the value of an axis, so that a table has them beside the
/// measured ones. A run whose value is not listed has none.
struct PublishedConfig : OfMetric {
  static constexpr std::string_view kKind = "published";
  static constexpr std::string_view kAbout =
      "what a source gives for a metric, by value of an axis";

  TextMap numbers;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "the metric's key in tables and figures; begins with published_");
    visit("value", value, "metric of result.json that the source gives, e.g. test_loss",
          config::given());
    visit("numbers", numbers, "value of an axis -> number, e.g. {transformer: 3.087, diff: 3.062}");
  }
  void validate(config::Check& check) const;
  std::optional<double> of(const FrameRun& run, const Frame& frame) const;
};

/// Share of the baseline's x that a variant needs to reach the same level of a metric, the worse of
/// their two best: parameters at equal loss (arXiv 2410.05258, figure 3). Seed by seed, over the
/// runs of all sizes (statistics/equal_level.h); all of them get the same number, the baseline's 1.
/// None where a size has no result, or the two reach no common level between sizes.
struct EqualLevelConfig : OfMetric {
  static constexpr std::string_view kKind = "equal_level";
  static constexpr std::string_view kAbout =
      "share of the baseline's x that a variant needs to reach the same level of a metric";

  std::string x = "parameters";
  std::string along, variants;

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

/// A metric that the report adds to every run: from the cells of an evaluation, from other metrics
/// or from a source.
using DerivedConfig = std::variant<EffectiveLengthConfig, MapAreaConfig, BelowConfig,
                                   PublishedConfig, EqualLevelConfig>;

}  // namespace difflab::report
