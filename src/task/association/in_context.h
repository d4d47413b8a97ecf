#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

class Random;

/// Many-shot in-context classification: an episode draws C classes, each a prototype of F symbols
/// with a label of its own; K labelled examples stand in the context, then one to be classified.
///
///   inputs    B s3 s9 l5  s4 s1 l2  s3 s9 l5  s4 s7      F = 2, C = 2, K = 3, T = 12
///   targets   . .  .  .   .  .  .   .  l5 .   .  l2      . kIgnore
///
/// Prototypes of an episode differ in every feature. In an example each feature is, with
/// probability `flip`, any symbol instead, so one example can mislead and many help. Every class is
/// shown; which one an example has says nothing about the next (were classes shown equally often,
/// counting them would answer). With `score_all` each label whose
/// class was shown before is trained on, too; held-out figures are always those of the last example
/// alone. Follows the many-shot evaluation of the DIFF paper (arXiv 2410.05258, section 3.5), with
/// symbols instead of sentences.
struct InContextConfig : TaskKind<InContextConfig> {
  static constexpr std::string_view kKind = "in_context";
  static constexpr std::string_view kAbout =
      "classes that only the examples in the context define (arXiv 2410.05258, section 3.5)";

  std::int64_t classes = 4;   ///< C
  std::int64_t shots = 16;    ///< K, all classes together
  std::int64_t features = 3;  ///< F, symbols of an example
  std::int64_t symbols = 32;  ///< distinct symbols
  std::int64_t labels = 16;   ///< distinct labels, of which an episode draws C
  double flip = 0.1;          ///< probability that a feature is replaced
  bool score_all = true;      ///< whether labels in the context are trained on
  double recall_share = 0;    ///< share of each batch that is cyclic repetition (recall_mixture.h)

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("classes", classes, "classes C of an episode", config::between(2, 1'000'000));
    visit("shots", shots, "labelled examples K in the context, all classes together",
          config::between(1, 1'000'000));
    visit("features", features, "symbols F of an example", config::between(1, 1'000'000));
    visit("symbols", symbols, "distinct symbols", config::between(2, 1'000'000));
    visit("labels", labels, "distinct labels, of which an episode draws one per class",
          config::between(2, 1'000'000));
    visit("flip", flip, "probability that a feature of an example is any symbol instead",
          config::between(0, 1));
    visit("score_all", score_all,
          "whether each label in the context is trained on, once its class was shown");
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, sequence_length(), check);
    const KeyedNumber least{"classes", classes};
    check_at_least({"shots", shots}, least, "so that every class is shown", check);
    check_at_least({"symbols", symbols}, least, "because classes differ in every feature", check);
    check_at_least({"labels", labels}, least, "because labels are distinct", check);
  }

  std::int64_t sequence_length() const { return 1 + shots * (features + 1) + features; }

  /// Ranges of the vocabulary.
  enum Range : std::size_t { kBegin, kSymbol, kLabel };
  Symbols vocabulary() const { return {{"B", 1}, {"s", symbols}, {"l", labels}}; }

  std::unique_ptr<Task> build() const;
};

/// An object of a class and what is seen of it.
struct InContextExample {
  std::int64_t class_index;            ///< in [0, C)
  std::vector<std::int64_t> features;  ///< F tokens
};

/// Contents of an episode, from which its sequences are written.
struct InContextEpisode {
  std::vector<std::int64_t> labels;     ///< token of each class
  std::vector<InContextExample> shots;  ///< K
  std::vector<InContextExample> queries;
};

enum class ShotClasses {
  kDrawn,     ///< one shot of each class, the other shots of any
  kBalanced,  ///< equally many of each class, one more or less
};

InContextEpisode draw_episode(const InContextConfig& config, ShotClasses classes,
                              std::int64_t queries, Random& random);

enum class ShotOrder {
  kRandom,       ///< any order
  kAlternating,  ///< the classes in turn, c a b | c a b | …; which comes first is drawn
};

/// An order of the episode's shots: order[i] is the shot that comes i-th.
std::vector<std::size_t> draw_order(const InContextConfig& config, const InContextEpisode& episode,
                                    ShotOrder order, Random& random);

/// The tokens of an episode asked about one of its queries, [T].
std::vector<std::int64_t> write_episode(const InContextEpisode& episode,
                                        const std::vector<std::size_t>& order,
                                        const InContextExample& query);

}  // namespace difflab
