#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// The symbols of a sequence in their order, without the blanks between them (selective copying of
/// MAD, Poli et al. 2024, arXiv 2403.17844).
///
///   inputs    _ s3 _ _ s8 s3 _ c _  _  _      n = 3, T = 11
///   targets   . .  . . .  .  . . s3 s8 s3     . kIgnore
///
/// n symbols, drawn with replacement, lie anywhere in the first T − n − 1 tokens. Behind c stand n
/// blanks, so that the answers do not help each other.
struct SelectiveCopyConfig : TaskKind<SelectiveCopyConfig> {
  static constexpr std::string_view kKind = "selective_copy";
  static constexpr std::string_view kAbout =
      "symbols among blanks, to be told in their order (MAD, arXiv 2403.17844)";

  std::int64_t length = 256;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t copied = 16;   ///< n
  std::int64_t symbols = 14;  ///< distinct symbols
  double recall_share = 0;    ///< share of each batch that is cyclic repetition (recall_mixture.h)

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(3, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("copied", copied, "symbols n to copy", config::between(1, 100'000));
    visit("symbols", symbols, "distinct symbols", config::between(2, 1'000'000));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, shortest_of(lengths, length), check);
    if (length < 2 * copied + 1) {
      check.problem("length", concat("is ", length, ", too short for ", copied,
                                     " symbols and as many answers; the smallest that fits is ",
                                     2 * copied + 1));
    }
    check_lengths(lengths, length, 2 * copied + 1, check);
  }

  enum Range : std::size_t { kBlank, kCopy, kSymbols };
  Symbols vocabulary() const { return {{"_", 1}, {"c", 1}, {"s", symbols}}; }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
