#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/schema/fields.h"
#include "task/base/lengths.h"
#include "util/text.h"

namespace difflab {

class Task;

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
/// paper (arXiv 2410.05258, section 3.3), with symbols instead of sentences.
struct NeedleConfig {
  static constexpr std::string_view kKind = "needle";
  static constexpr std::string_view kAbout =
      "key-value pairs hidden in noise, asked for at the end (arXiv 2410.05258, section 3.3)";

  std::int64_t length = 64;  ///< T, tokens of a sequence, needles and questions included
  std::vector<std::int64_t> lengths = {};
  std::int64_t needles = 4;          ///< N
  std::int64_t queries = 1;          ///< R
  std::optional<double> depth = {};  ///< %, nothing draws it per sample
  std::int64_t noise_tokens = 64;    ///< distinct noise symbols
  std::int64_t keys = 32;            ///< distinct keys
  std::int64_t values = 32;          ///< distinct values

  /// The shortest sequence with at least one noise token per needle.
  static constexpr std::int64_t smallest_length(std::int64_t needles, std::int64_t queries) {
    return 1 + 3 * needles + 2 * queries;
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("needles", needles, "needles N hidden in a sequence", config::between(1, 1'000'000));
    visit("queries", queries, "needles R that are asked for", config::between(1, 1'000'000));
    visit("depth", depth, "where the asked needle lies, in % of the noise; null draws it",
          config::between(0, 100));
    visit("noise_tokens", noise_tokens, "distinct noise symbols", config::between(1, 1'000'000));
    visit("keys", keys, "distinct keys", config::between(1, 1'000'000));
    visit("values", values, "distinct values", config::between(2, 1'000'000));
  }
  void validate(config::Check& check) const {
    if (queries > needles) {
      check.problem("queries", concat("is ", queries, "; expected at most needles, ", needles));
    }
    if (needles > keys) {
      check.problem("keys", concat("is ", keys, "; expected at least needles, ", needles,
                                   ", because keys are distinct"));
    }
    if (needles > values) {
      check.problem("values", concat("is ", values, "; expected at least needles, ", needles,
                                     ", because values are distinct"));
    }
    if (length < smallest_length(needles, queries)) {
      check.problem("length", concat("is ", length, ", too short for ", needles, " needles and ",
                                     queries, " queries; the smallest that fits is ",
                                     smallest_length(needles, queries)));
    }
    check_lengths(lengths, length, smallest_length(needles, queries), check);
  }

  std::int64_t sequence_length() const { return length; }
  std::int64_t vocab_size() const;  ///< V, reserved tokens included (vocabulary.h)

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
