#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// Which names hold a value, directly or through other names: C chains of H + 1 assignments among
/// noise, then the value of one of them, whose names are to be told in the order of assignment
/// (variable tracking of RULER, Hsieh et al. 2024, arXiv 2404.06654, with symbols for sentences).
///
///   inputs    B x4 d7 n x9 d2 x1 x9 n x8 x4 n ? d2 x9      C = 2, H = 1, T = 15
///   targets   . .  .  . .  .  .  .  . .  .  . . x9 x1      . kIgnore
///
/// x4 d7 gives the name x4 the value d7, x1 x9 gives x1 what x9 has. Chains are interleaved in any
/// way that keeps the order of each; the chain that is asked for is drawn. Names and values of a
/// sequence are distinct.
struct VariableTrackingConfig : TaskKind<VariableTrackingConfig> {
  static constexpr std::string_view kKind = "variable_tracking";
  static constexpr std::string_view kAbout =
      "all names that hold a value, through chains of assignments (RULER, arXiv 2404.06654)";

  std::int64_t length = 64;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t chains = 3;         ///< C, all but one of them distract
  std::int64_t hops = 2;           ///< H
  std::int64_t names = 32;         ///< distinct names
  std::int64_t values = 16;        ///< distinct values
  std::int64_t noise_tokens = 16;  ///< distinct noise symbols
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  std::int64_t assignments() const { return chains * (hops + 1); }
  /// Without noise.
  std::int64_t smallest_length() const { return 1 + 2 * assignments() + 2 + hops; }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("chains", chains, "chains C of assignments, one of which is asked for",
          config::between(1, 100'000));
    visit("hops", hops, "names H of a chain that get what another name has",
          config::between(0, 100'000));
    visit("names", names, "distinct names", config::between(1, 1'000'000));
    visit("values", values, "distinct values", config::between(1, 1'000'000));
    visit("noise_tokens", noise_tokens, "distinct noise symbols", config::between(1, 1'000'000));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, shortest_of(lengths, length), check);
    check_at_least({"names", names}, {"chains · (hops + 1)", assignments()},
                   "because names are distinct", check);
    check_at_least({"values", values}, {"chains", chains}, "because values are distinct", check);
    if (length < smallest_length()) {
      check.problem("length", concat("is ", length, ", too short for ", assignments(),
                                     " assignments, a question and its answers; the smallest that "
                                     "fits is ",
                                     smallest_length()));
    }
    check_lengths(lengths, length, smallest_length(), check);
  }

  enum Range : std::size_t { kBegin, kQuestion, kNoise, kNames, kValues };
  Symbols vocabulary() const {
    return {{"B", 1}, {"?", 1}, {"n", noise_tokens}, {"x", names}, {"d", values}};
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
