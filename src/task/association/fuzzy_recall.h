#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// Recall with keys and values of several tokens: N pairs whose keys and values have 1 to M tokens,
/// then R of the keys with M tokens once more, each with its value behind it (fuzzy in-context
/// recall of MAD, Poli et al. 2024, arXiv 2403.17844).
///
///   inputs    _ _ B k1 v3 k2 k1 v5 v2 ? k2 k1 v5      N = 2, M = 2, R = 1
///   targets   . . . .  .  .  .  .  .  . .  v5 v2      . kIgnore
///
/// The tokens of a key are distinct, as are those of a value. Keys of a sequence are distinct, but
/// one may be the end or the beginning of another; values may be alike. A sequence ends with its
/// last value; _ precedes it up to T.
struct FuzzyRecallConfig : TaskKind<FuzzyRecallConfig> {
  static constexpr std::string_view kKind = "fuzzy_recall";
  static constexpr std::string_view kAbout =
      "recall with keys and values of one to three tokens (MAD, arXiv 2403.17844)";

  std::int64_t pairs = 8;         ///< N
  std::int64_t queries = 2;       ///< R
  std::int64_t longest = 3;       ///< M
  std::int64_t key_tokens = 8;    ///< distinct tokens of keys
  std::int64_t value_tokens = 8;  ///< distinct tokens of values
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  /// B, the pairs, and ? with key and value for each query, whose last token is not an input.
  std::int64_t sequence_length() const {
    return 1 + 2 * longest * pairs + (1 + 2 * longest) * queries - 1;
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("pairs", pairs, "key-value pairs N of a sequence", config::between(1, 100'000));
    visit("queries", queries, "keys R that are asked for", config::between(1, 100'000));
    visit("longest", longest, "most tokens M of a key, and of a value", config::between(1, 8));
    visit("key_tokens", key_tokens, "distinct tokens of keys", config::between(1, 1'000'000));
    visit("value_tokens", value_tokens, "distinct tokens of values", config::between(2, 1'000'000));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, sequence_length(), check);
    check_at_most({"queries", queries}, {"pairs", pairs}, check);
    check_at_least({"value_tokens", value_tokens}, {"longest", longest},
                   "because the tokens of a value are distinct", check);
    check_at_least({"key_tokens", key_tokens}, {"longest", longest},
                   "because the tokens of a key are distinct", check);
    if (longest > key_tokens) return;
    // All pairs may have a key of one size, the shortest of which are the fewest.
    check_at_least({"key_tokens", key_tokens}, {"pairs", pairs},
                   "because the keys of a sequence are distinct", check);
  }

  enum Range : std::size_t { kFiller, kBegin, kQuestion, kKeys, kValues };
  Symbols vocabulary() const {
    return {{"_", 1}, {"B", 1}, {"?", 1}, {"k", key_tokens}, {"v", value_tokens}};
  }

  /// Accuracy of a guess, token by token, among the values of the context that begin with the
  /// tokens told so far and go on; averaged over all tokens asked for.
  // A value of size j or more exists with probability P(j) = (M − j + 1)/M. Another pair's value
  // has that size and begins with the j − 1 tokens told with probability p; m of N − 1 do
  // (binomial), and a guess among the 1 + m is the asked value in
  // E[1/(1 + m)] = (1 − (1 − p)^N)/(N p) of all cases, else one that goes on with the same token in
  // 1/(V − j + 1) of them.
  double chance() const {
    const auto M = static_cast<double>(longest), N = static_cast<double>(pairs);
    double asked = 0, right = 0, same_beginning = 1;
    for (std::int64_t j = 1; j <= longest; ++j) {
      const auto fresh = static_cast<double>(value_tokens - j + 1);
      const double exists = (M - static_cast<double>(j) + 1) / M;
      const double p = exists * same_beginning;
      const double own = (1 - std::pow(1 - p, N)) / (N * p);
      right += exists * (own + (1 - own) / fresh);
      asked += exists;
      same_beginning /= fresh;
    }
    return right / asked;
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
