#pragma once

#include "task/base/task_kind.h"

namespace difflab {

/// The next token of a generated language whose entropy is known exactly.
///
///   inputs    B w3 w1 ( w7 ) w4 . k2 w9 w0 c w3 w1 ( w7 ) w4 . k2 w9      T = 21, M = 2
///   targets   w3 w1 ( w7 ) w4 . k2 w9 w0 c w3 w1 ( w7 ) w4 . k2 w9 w0
///
/// A document is B and then units, cut off at T + 1 tokens: clauses; c and the last clause again; a
/// name k and its M words, which the first mention in a document draws and later ones repeat. A
/// clause is a chain of words, each one of the few followers of the word before it, and ".". An
/// aside in brackets may follow a word: a chain that begins at that word, from which the clause
/// then goes on.
///
/// Whoever knows the language can tell from the tokens so far in which unit and where in it the
/// next one is. Hence its entropy is that of the draws, and needs no more than the probability that
/// a unit begins at a position (token_entropies).
struct LanguageConfig : TaskKind<LanguageConfig> {
  static constexpr std::string_view kKind = "language";
  static constexpr std::string_view kAbout =
      "the next token of a generated language whose entropy is known exactly";
  static constexpr bool kEveryToken = true;  ///< each position asks for the next token

  std::int64_t length = 256;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t words = 64;
  std::int64_t followers = 4;  ///< of each word
  double alpha = 1;            ///< α
  std::int64_t shortest = 2;   ///< words of a clause, without asides
  std::int64_t longest = 6;
  double aside = 0.1;            ///< probability behind each word but the last
  std::int64_t aside_words = 2;  ///< at most
  double copy = 0.15;            ///< probability that a unit is a copy, if there is a clause
  double mention = 0.25;         ///< probability that a unit is a name
  std::int64_t names = 16;
  std::int64_t name_words = 2;  ///< M
  std::uint64_t world = 0;      ///< which followers

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("words", words, "distinct words", config::between(1, 100'000));
    visit("followers", followers, "words that may follow a word", config::between(1, 1'000));
    visit("alpha", alpha, "power α of the followers: rank r in proportion to r^-α",
          config::between(0, 10));
    visit("shortest", shortest, "least words of a clause", config::between(1, 1'000));
    visit("longest", longest, "most words of a clause", config::between(1, 1'000));
    visit("aside", aside, "probability of an aside after a word of a clause",
          config::between(0, 1));
    visit("aside_words", aside_words, "most words of an aside", config::between(1, 1'000));
    visit("copy", copy, "probability that a unit repeats the last clause", config::between(0, 1));
    visit("mention", mention, "probability that a unit is a name with its words",
          config::between(0, 1));
    visit("names", names, "distinct names", config::between(1, 100'000));
    visit("name_words", name_words, "words M of a name", config::between(1, 100));
    visit("world", world, "number of the table of followers");
  }
  void validate(config::Check& check) const {
    check_lengths(lengths, length, 1, check);
    check_at_most({"followers", followers}, {"words", words}, check);
    check_at_most({"shortest", shortest}, {"longest", longest}, check);
    if (copy + mention >= 1) {
      check.problem("mention", concat("is ", mention, " beside copy ", copy,
                                      "; expected less than 1 together, because the rest are "
                                      "clauses"));
    }
  }

  enum Range : std::size_t { kBegin, kEnd, kOpen, kClose, kCopy, kNames, kWords };
  Symbols vocabulary() const {
    return {{"B", 1}, {".", 1}, {"(", 1}, {")", 1}, {"c", 1}, {"k", names}, {"w", words}};
  }

  /// The probabilities of a word's followers, by rank.
  std::vector<double> ranks() const;
  /// The probability that a clause ends behind its i-th word, if it comes so far.
  double ends_behind(std::int64_t i) const {
    return i < shortest ? 0 : 1 / static_cast<double>(longest - i + 1);
  }
  /// The same for an aside.
  double closes_behind(std::int64_t i) const {
    return 1 / static_cast<double>(aside_words - i + 1);
  }

  std::unique_ptr<Task> build() const;
};

/// The followers of every word in a world, and behind the last word those of a clause's beginning:
/// [words + 1][followers], by rank.
std::vector<std::vector<std::int64_t>> followers_of_words(const LanguageConfig& config);

/// The entropy of the token to be predicted at each of the T positions, given all those before it,
/// in nats, averaged over documents: the expected loss there of a model that knows the language. No
/// model's is lower. Exact but for rounding; takes T · clause length steps.
std::vector<double> token_entropies(const LanguageConfig& config);

}  // namespace difflab
