#pragma once

#include "task/base/task_kind.h"

namespace difflab {

/// Cyclic repetition: a random prefix of length P, repeated to the end of the sequence; every token
/// that repeats is to be predicted.
///
///   inputs    B a b c a b c a b        P = 3, T = 9, B begin
///   targets   . . . a b c a b c        . kIgnore
///
/// P is drawn per sequence from T/4 … T/2, so a fixed offset does not help: the model must match
/// content (Olsson et al. 2022, arXiv:2209.11895, call the circuit an induction head).
struct RecallConfig : TaskKind<RecallConfig> {
  static constexpr std::string_view kKind = "recall";
  static constexpr std::string_view kAbout =
      "a sequence that repeats: its second and later rounds are to be predicted";

  static constexpr std::int64_t kSmallestLength = 8;

  std::int64_t length = 64;   ///< T
  std::int64_t tokens = 130;  ///< V, two of them reserved (begin, question mark)
  std::vector<std::int64_t> lengths = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(kSmallestLength, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("vocab_size", tokens, "tokens V, two of them reserved", config::between(4, 1'000'000));
  }

  void validate(config::Check& check) const {
    check_lengths(lengths, length, kSmallestLength, check);
  }

  enum Range : std::size_t { kBegin, kQuestion, kSymbols };
  Symbols vocabulary() const { return {{"B", 1}, {"?", 1}, {"s", tokens - 2}}; }

  std::unique_ptr<Task> build() const;
};

/// Checks the sequence length of a task with a `recall_share` (recall_mixture.h).
inline void check_recall_share(double share, std::int64_t length, config::Check& check) {
  if (share == 0 || length >= RecallConfig::kSmallestLength) return;
  check.problem("recall_share", concat("is ", share, " with sequences of ", length,
                                       " tokens; cyclic repetition expects at least ",
                                       RecallConfig::kSmallestLength));
}

}  // namespace difflab
