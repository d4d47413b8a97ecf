#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// Needles that are asked for by another word than they contain (NoLiMa, Modarressi et al. 2025,
/// arXiv 2502.05167, in symbols). A world maps each thing a to its sign π(a); sequences of bare
/// pairs teach it. A needle is a name and a thing. It is asked for by its thing (direct) or by the
/// sign of that (associative), which no token of the context is.
///
///   inputs    B n x4 a7 n n x1 a2 n ? a7        direct: N = 2, T = 11
///   targets   . . .  .  . . .  .  . . x4        . kIgnore
///   inputs    B n x4 a7 n n x1 a2 n ? b5        associative, where b5 is π(a7)
///   targets   . . .  .  . . .  .  . . x4
///   inputs    B a7 b5 a0 b3 a2 b8 a4 b1 a9      bare pairs
///   targets   . b5 .  b3 .  b8 .  b1 .  b6
///
/// π is a bijection that depends on `world` alone. Names and things of needles are distinct, and
/// needles lie as in the needle task. Things of bare pairs are drawn with replacement.
struct AssociativeNeedleConfig : TaskKind<AssociativeNeedleConfig> {
  static constexpr std::string_view kKind = "associative_needle";
  static constexpr std::string_view kAbout =
      "needles asked for by an associated word, learned in the weights (NoLiMa, arXiv 2502.05167)";
  static constexpr std::array<std::string_view, 3> kParts = {"associative", "direct", "bare"};

  std::int64_t length = 64;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t needles = 4;          ///< N
  std::int64_t queries = 1;          ///< R
  std::optional<double> depth = {};  ///< % of the noise before the first asked; nothing draws it
  std::int64_t things = 32;          ///< and as many signs
  std::int64_t names = 32;           ///< distinct names
  std::int64_t noise_tokens = 32;    ///< distinct noise symbols
  std::uint64_t world = 0;           ///< which π
  double direct_share = 0.25;        ///< of the sequences that are no repetition
  double bare_share = 0.25;          ///< of them; the rest is associative
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  /// With at least one noise token per needle.
  std::int64_t smallest_length() const { return 1 + 3 * needles + 2 * queries; }
  /// Tokens of noise in a sequence that asks for needles.
  std::int64_t noise() const { return length - 1 - 2 * needles - 2 * queries; }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("needles", needles, "needles N hidden in a sequence", config::between(1, 100'000));
    visit("queries", queries, "needles R that are asked for, one after the other",
          config::between(1, 100'000));
    visit("depth", depth, "where the needle asked for first lies, in % of the noise; null draws it",
          config::between(0, 100));
    visit("things", things, "distinct things, and as many signs", config::between(2, 1'000'000));
    visit("names", names, "distinct names", config::between(1, 1'000'000));
    visit("noise_tokens", noise_tokens, "distinct noise symbols", config::between(1, 1'000'000));
    visit("world", world, "number of the map from things to signs");
    visit("direct_share", direct_share,
          "share of sequences, less repetition, that ask for the needle's own thing",
          config::between(0, 1));
    visit("bare_share", bare_share,
          "share of sequences, less repetition, that are bare pairs of thing and sign",
          config::between(0, 1));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, shortest_of(lengths, length), check);
    if (direct_share + bare_share >= 1) {
      check.problem("bare_share", concat("is ", bare_share, " beside direct_share ", direct_share,
                                         "; expected less than 1 together, because the rest is "
                                         "associative"));
    }
    const KeyedNumber hidden{"needles", needles};
    check_at_most({"queries", queries}, hidden, check);
    check_at_least({"names", names}, hidden, "because names are distinct", check);
    check_at_least({"things", things}, hidden, "because things are distinct", check);
    if (length < smallest_length()) {
      check.problem("length", concat("is ", length, ", too short for ", needles, " needles and ",
                                     queries, queries == 1 ? " query" : " queries",
                                     "; the smallest that fits is ", smallest_length()));
    }
    check_lengths(lengths, length, smallest_length(), check);
  }

  enum Range : std::size_t { kBegin, kQuestion, kNoise, kThings, kSigns, kNames };
  Symbols vocabulary() const {
    return {{"B", 1}, {"?", 1}, {"n", noise_tokens}, {"a", things}, {"b", things}, {"x", names}};
  }
  std::vector<std::pair<std::string_view, double>> part_shares() const {
    return {{"bare_share", bare_share}, {"direct_share", direct_share}};
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
