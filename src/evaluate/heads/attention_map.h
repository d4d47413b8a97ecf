#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Whose attention is shown.
enum class MapQueries {
  kLast,   ///< the last position's
  kEvery,  ///< every position's
};

/// Which heads are shown.
enum class MapHeads {
  kMean,  ///< their mean
  kEach,  ///< each beside their mean
};

template <>
inline constexpr auto config::kNames<MapQueries> = names("last", "every");

template <>
inline constexpr auto config::kNames<MapHeads> = names("mean", "each");

/// One example of where the attention goes, weight by weight, for a figure over the positions of
/// the context (arXiv 2410.05258, figure 1). A mean over many is attention_allocation.
struct AttentionMapConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "attention_map";
  static constexpr std::string_view kAbout =
      "attention weights of one sequence, position by position (arXiv 2410.05258, figure 1)";
  static constexpr std::array<MetricFacts, 0> kMetrics = {};
  /// A map of every query has T² / 2 cells for each layer.
  static constexpr std::int64_t kLongestMap = 128;

  std::int64_t sequence = 0;
  std::optional<double> depth = {};
  MapQueries queries = MapQueries::kLast;
  MapHeads heads = MapHeads::kMean;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("sequence", sequence, "which sequence of the test split, 0 for the first",
          config::between(0, 1'000));
    visit("depth", depth, "depth of the asked needle, in % of the noise; null: the task's",
          config::between(0, 100));
    visit("queries", queries, "last (position's attention alone) or every");
    visit("heads", heads, "mean of the heads or each of them, too");
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    if (depth && needles_of(task) == nullptr) {
      check.problem("depth", "is given; expected a task with needles (needle, needle_recall)");
    }
    const auto T = sequence_length(task);
    if (queries == MapQueries::kEvery && T > kLongestMap) {
      check.problem("queries", concat("is every of ", T, " tokens; expected at most ", kLongestMap,
                                      ", or last"));
    }
  }

  /// No metrics. Details: cells, each with layer, head (a number, or "mean" of all), map (weights,
  /// or first and second for A₁ and A₂ of a difference), query and key (positions, the key's not
  /// behind the query's), token (of the key, as people read it), weight, and share: the size of the
  /// weight as part of the sizes in its row, 0 in a row without any.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
