#pragma once

#include "task/base/names.h"
#include "task/base/task_kind.h"

namespace difflab {

/// Pairs of key and value that make it harder to tell which value is asked for.
struct NeedleDistractors {
  std::int64_t near = 0;        ///< per question, with its key but for the last token
  std::int64_t same_value = 0;  ///< with other keys, all with the value of one needle, any of them
  std::int64_t stale = 0;       ///< per question, with its key and another value, before its needle

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("near", near, "pairs per question whose key differs from its key in the last token alone",
          config::between(0, 1'000));
    visit("same_value", same_value,
          "pairs with other keys that all repeat the value of one needle, whichever is drawn",
          config::between(0, 1'000));
    visit("stale", stale, "pairs per question, before its needle, with its key and another value",
          config::between(0, 1'000));
  }
};

/// Needles in a haystack, in tokens: N key-value pairs hidden in noise, R of the keys asked at the
/// end. All questions come without their answers, so one forward pass scores each on its own.
///
///   inputs    B n n K1 V1 n n n K2 V2 n ? K2      B begin, n noise, ? question mark
///   targets   . . . .  .  . . . .  .  . . V2      . kIgnore; N = 2, R = 1, T = 13
///
/// The first question's needle lies at `depth` % of the noise: exactly round(depth/100 · noise)
/// noise tokens come before it. The others lie in distinct gaps drawn without replacement; keys
/// and values are distinct, and which needle is asked for is drawn per sample, so that neither
/// "first" nor "last" is an answer. Follows the rules of the multi-needle evaluation in the DIFF
/// paper (arXiv 2410.05258, section 3.4), with symbols instead of sentences.
///
/// A key has `key_tokens` tokens, of which the first is its own. `distractors` are further pairs;
/// `near` ones share all of a question's key but the last token, and `stale` ones all of it. Those
/// lie before the question's needle, also side by side, and the last pair of a key counts:
///
///   inputs    B n K1 K2 V1 n K5 K6 V5 n K1 K2 V2 K1 K7 V7 n ? K1 K2     near = 1, stale = 1
///   targets   . . .  .  .  . .  .  .  . .  .  .  .  .  .  . . .  V2     N = 2, M = 2
struct NeedleConfig : TaskKind<NeedleConfig> {
  static constexpr std::string_view kKind = "needle";
  static constexpr std::string_view kAbout =
      "key-value pairs hidden in noise, asked for at the end (arXiv 2410.05258, section 3.4)";

  std::int64_t length = 64;  ///< T, tokens of a sequence, needles and questions included
  std::vector<std::int64_t> lengths = {};
  std::int64_t needles = 4;  ///< N
  std::int64_t queries = 1;  ///< R
  std::vector<std::int64_t> needle_counts = {};
  std::vector<std::int64_t> query_counts = {};
  std::optional<double> depth = {};  ///< %, nothing draws it per sample
  std::int64_t noise_tokens = 64;    ///< distinct noise symbols
  std::int64_t keys = 32;            ///< distinct keys
  std::int64_t values = 32;          ///< distinct values
  std::int64_t key_tokens = 1;       ///< M
  NeedleDistractors distractors = {};
  NoiseNames noise_names = NoiseNames::kOwn;

  /// Pairs with values of their own: needles, and distractors but for those with the same value.
  std::int64_t distinct_values() const {
    return needles + queries * (distractors.near + distractors.stale);
  }
  std::int64_t pairs() const { return distinct_values() + distractors.same_value; }
  /// Noise tokens of a sequence.
  std::int64_t noise() const { return length - 1 - (key_tokens + 1) * (pairs() + queries); }
  /// The shortest sequence with at least one noise token per pair.
  std::int64_t smallest_length() const {
    return 1 + (key_tokens + 2) * pairs() + (key_tokens + 1) * queries;
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("needles", needles, "needles N hidden in a sequence", config::between(1, 1'000'000));
    visit("queries", queries, "needles R that are asked for", config::between(1, 1'000'000));
    visit("needle_counts", needle_counts,
          "numbers N of needles of batches, a pair (N, R) drawn for each; empty: all have "
          "`needles`, else that "
          "is the largest",
          config::between(1, 1'000'000));
    visit("query_counts", query_counts, "the same for R and `queries`; never R > N",
          config::between(1, 1'000'000));
    visit("depth", depth, "where the asked needle lies, in % of the noise; null draws it",
          config::between(0, 100));
    visit("noise_tokens", noise_tokens, "distinct noise symbols", config::between(1, 1'000'000));
    visit("keys", keys, "distinct keys", config::between(1, 1'000'000));
    visit("values", values, "distinct values", config::between(2, 1'000'000));
    visit("key_tokens", key_tokens, "tokens M of a key", config::between(1, 100));
    visit("distractors", distractors, "further pairs that are hard to tell from the needles");
    visit("noise_names", noise_names, kAboutNoiseNames);
  }
  void validate(config::Check& check) const;

  /// Noise without names of its own has no tokens, and there are as many more keys.
  enum Range : std::size_t { kBegin, kQuestion, kNoise, kKeys, kValues };
  Symbols vocabulary() const;

  /// Accuracy of a guess among the values that a sequence shows.
  double chance() const { return 1 / static_cast<double>(distinct_values()); }

  /// The configurations of which each batch has one: every length with all N and R ≤ N.
  std::vector<NeedleConfig> batch_kinds() const;
  std::unique_ptr<Task> build() const;
};

/// Batches of this length alone, and of `needles` and `queries`.
inline NeedleConfig with_length(NeedleConfig config, std::int64_t T) {
  config.length = T;
  config.lengths.clear();
  config.needle_counts.clear();
  config.query_counts.clear();
  return config;
}

}  // namespace difflab
