#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// The most frequent words of a list, most frequent first (frequent words of RULER, Hsieh et al.
/// 2024, arXiv 2404.06654, with symbols for words).
///
///   inputs    B w5 w2 w5 w3 w5 w2 w5 w1 w5 w5 w4 ? w5      K = 2, T = 14, 6 words
///   targets   . .  .  .  .  .  .  .  .  .  .  .  w5 w2     . kIgnore
///
/// How often the word of rank r occurs is fixed: floor(W · p(r)) with p(r) in proportion to r^−α
/// (Zipf) for the W words of a list; the rest of the list are words that occur once. The K + 1 most
/// frequent words occur differently often. Which words they are and their order are drawn.
struct CommonWordsConfig : TaskKind<CommonWordsConfig> {
  static constexpr std::string_view kKind = "common_words";
  static constexpr std::string_view kAbout =
      "the most frequent words of a list with Zipf frequencies (RULER, arXiv 2404.06654)";

  std::int64_t length = 64;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t words = 64;  ///< distinct words
  std::int64_t asked = 2;   ///< K
  double alpha = 1.5;       ///< α
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  /// W, all tokens but B, ? and the answers that stand in the input.
  std::int64_t listed() const { return length - 1 - asked; }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("words", words, "distinct words", config::between(2, 1'000'000));
    visit("asked", asked, "words K to be told", config::between(1, 100'000));
    visit("alpha", alpha, "power α of the frequencies: rank r in proportion to r^-α",
          config::between(0, 10));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, shortest_of(lengths, length), check);
    if (asked >= words) {
      check.problem("asked", concat("is ", asked, "; expected less than words, ", words));
      return;
    }
    if (!is_long_enough()) {
      check.problem("length", concat("is ", length, ", too short for the ", asked + 1,
                                     " most frequent of ", words,
                                     " words to differ in frequency; expected a longer list, "
                                     "fewer asked or another alpha"));
    }
    check_lengths(lengths, length, 1, check);
    for (const auto T : lengths) {
      if (with_length(*this, T).is_long_enough()) continue;
      check.problem("lengths", concat("has ", T, ", too short for the ", asked + 1,
                                      " most frequent words to differ in frequency"));
    }
  }

  enum Range : std::size_t { kBegin, kQuestion, kWords };
  Symbols vocabulary() const { return {{"B", 1}, {"?", 1}, {"w", words}}; }

  /// How often the words of rank 1, 2, … occur, none 0; they add up to W. Empty if W < 1.
  std::vector<std::int64_t> counts() const {
    const auto W = listed();
    if (W < 1) return {};
    double sum = 0;
    for (std::int64_t r = 1; r <= words; ++r) sum += std::pow(static_cast<double>(r), -alpha);
    std::vector<std::int64_t> counts;
    std::int64_t left = W;
    for (std::int64_t r = 1; r <= words && left > 0; ++r) {
      const double share = std::pow(static_cast<double>(r), -alpha) / sum;
      const auto count = static_cast<std::int64_t>(std::floor(static_cast<double>(W) * share));
      counts.push_back(std::max<std::int64_t>(count, 1));
      left -= counts.back();
    }
    counts.front() += left;  // what is left when every word was used
    return counts;
  }
  /// True if the K + 1 most frequent words occur differently often.
  bool is_long_enough() const {
    const auto often = counts();
    const auto K = static_cast<std::size_t>(asked);
    bool differ = often.size() > K;
    for (std::size_t r = 0; differ && r < K; ++r) differ = often[r] > often[r + 1];
    return differ;
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
