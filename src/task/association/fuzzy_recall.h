#pragma once

#include "task/base/task_kind.h"

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
  void validate(config::Check& check) const;

  enum Range : std::size_t { kFiller, kBegin, kQuestion, kKeys, kValues };
  Symbols vocabulary() const {
    return {{"_", 1}, {"B", 1}, {"?", 1}, {"k", key_tokens}, {"v", value_tokens}};
  }

  /// Accuracy of a guess, token by token, among the values of the context that begin with the
  /// tokens told so far and go on; averaged over all tokens asked for.
  double chance() const;

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
