#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// Multi-query associative recall: N key-value pairs, then each key once more, at gaps that follow
/// a power law; its value is to be predicted there (Arora et al. 2023, arXiv 2312.04927, and the
/// data of their repository HazyResearch/zoology).
///
///   inputs    k4 v1 k9 v7 | k9 _ _ _ _ _ k4 _      N = 2, T = 12, _ filler
///   targets   .  .  .  .  | v7 . . . . . v1 .      . kIgnore
///
/// Behind the pairs lie (T − 2N)/2 slots of two tokens; a query stands at the first of its slot.
/// Slots are drawn without replacement, slot g (from 1) in proportion to g^(a − 1), and pair i
/// takes the i-th that is drawn: with a = 1 all slots are alike, with a near 0 most queries come
/// soon. With `reassign` r, round(r · N) of the keys are shown a second time with another value,
/// and the last one counts; the pairs then come in any order:
///
///   inputs    k4 v1 k9 v7 k4 v3 | k9 _ _ _ _ _ k4 _      r = 0.5
///   targets   .  .  .  .  .  .  | v7 . . . . . v3 .
///
/// A filler is a token other than the sequence's keys (in the original it may be one), so
/// that each key is asked once; or it is always _.
struct MqarConfig : TaskKind<MqarConfig> {
  static constexpr std::string_view kKind = "mqar";
  static constexpr std::string_view kAbout =
      "multi-query associative recall: pairs, then each key once more (arXiv 2312.04927)";

  std::int64_t length = 64;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t tokens = 256;  ///< V: 1 filler, V/2 − 1 keys, the rest values; 8,192 in the paper
  std::int64_t pairs = 8;     ///< N
  double power_a = 0.01;      ///< a
  bool random_filler = true;  ///< false: always _
  double reassign = 0;        ///< r
  double recall_share = 0;    ///< share of each batch that is cyclic repetition (recall_mixture.h)

  /// Keys that get a new value.
  std::int64_t reassigned() const { return std::llround(reassign * static_cast<double>(pairs)); }
  /// Pairs shown: N, and those with a new value.
  std::int64_t shown() const { return pairs + reassigned(); }
  /// The shortest sequence with a slot for each query.
  std::int64_t smallest_length() const { return 2 * shown() + 2 * pairs; }
  std::int64_t keys() const { return tokens / 2 - 1; }
  std::int64_t values() const { return tokens - tokens / 2; }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(4, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("vocab_size", tokens, "tokens V: a filler, V/2 - 1 keys, the rest values",
          config::between(4, 1'000'000));
    visit("pairs", pairs, "key-value pairs N of a sequence, each asked once",
          config::between(1, 1'000'000));
    visit("power_a", power_a, "power a of the gaps between pairs and queries; 1: all alike",
          config::between(0, 1));
    visit("random_filler", random_filler, "whether the tokens between queries are drawn");
    visit("reassign", reassign, "share of the keys that are shown again with a new value",
          config::between(0, 1));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, shortest_of(lengths, length), check);
    if (pairs > keys()) {
      check.problem("vocab_size",
                    concat("is ", tokens, ", which has ", keys(), " keys; expected at least ",
                           2 * (pairs + 1), " for ", pairs, " pairs, because keys are distinct"));
    } else if (shown() > values()) {
      check.problem("vocab_size", concat("is ", tokens, ", which has ", values(),
                                         " values; expected at least ", 2 * shown(), " for ",
                                         shown(), " pairs shown, because values are distinct"));
    }
    if (length < smallest_length()) {
      check.problem("length", concat("is ", length, ", too short for ", shown(), " pairs and ",
                                     shown() == pairs ? "as many" : concat(pairs),
                                     " queries; the smallest that fits is ", smallest_length()));
    }
    check_lengths(lengths, length, smallest_length(), check);
  }

  enum Range : std::size_t { kFiller, kKeys, kValues };
  Symbols vocabulary() const { return {{"_", 1}, {"k", keys()}, {"v", values()}}; }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
