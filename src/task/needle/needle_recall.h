#pragma once

#include "task/needle/needle.h"
#include "task/needle/recall.h"

namespace difflab {

/// The needle task mixed with cyclic repetition, half and half by default. Needles alone give one
/// scored token per sequence and stall for thousands of steps at "some value from this context";
/// repetition teaches matching by content, which needles then reuse, within a minute on a CPU.
struct NeedleRecallConfig : TaskKind<NeedleRecallConfig> {
  static constexpr std::string_view kKind = "needle_recall";
  static constexpr std::string_view kAbout =
      "needles mixed with repetition, which teaches matching in a minute on a CPU";
  static constexpr std::array<std::string_view, 1> kParts = {"needle"};

  NeedleConfig needle = {};
  double recall_share = 0.5;  ///< share of each batch that is repetition

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("needle", needle, "the needle sequences; repetition takes their length and vocabulary");
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    if (needle.length < RecallConfig::kSmallestLength) {
      check.problem("needle.length",
                    concat("is ", needle.length, "; cyclic repetition expects at least ",
                           RecallConfig::kSmallestLength));
    }
    if (!needle.lengths.empty()) {
      check_recall_share(recall_share, shortest_of(needle.lengths, needle.length), check);
    }
  }

  std::int64_t sequence_length() const { return needle.sequence_length(); }
  Symbols vocabulary() const { return needle.vocabulary(); }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
