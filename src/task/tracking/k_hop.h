#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// The k-th successor in a cycle, without writing down what lies between: the n nodes of a directed
/// cycle, its edges in random order, then questions ⟨k⟩ v → the node k steps behind v, each with
/// its answer behind it (Depo of Physics of Language Models, part 4.1, Allen-Zhu 2025, here with
/// one token for a node).
///
///   inputs    B n7 n2 n2 n5 n5 n7 h2 n7 n5 h1 n2 _ _     n = 3 of N = 4, Q = 2
///   targets   .  .  .  .  .  .  .  .  n5 . .  n5 . .     . kIgnore, _ filler
///
/// The number of nodes is drawn from [least_nodes, N] with weights 1/(n + √N), k from 1 … K, all
/// alike, and the node that is asked for anew in each question. Nodes of a sequence have distinct
/// names. A sequence ends with its last question, _ follows up to T.
struct KHopConfig : TaskKind<KHopConfig> {
  static constexpr std::string_view kKind = "k_hop";
  static constexpr std::string_view kAbout =
      "the k-th successor of a node in a cycle (Depo, Physics of Language Models 4.1)";

  std::int64_t nodes = 8;                  ///< N
  std::int64_t least_nodes = 3;            ///< of a sequence; N: all have N
  std::int64_t hops = 4;                   ///< K
  std::optional<std::int64_t> asked = {};  ///< k of all questions; nothing draws it
  std::int64_t questions = 8;              ///< Q
  std::int64_t names = 32;                 ///< distinct nodes in the vocabulary
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("nodes", nodes, "nodes N of the longest cycle", config::between(2, 100'000));
    visit("least_nodes", least_nodes, "nodes of the shortest cycle", config::between(2, 100'000));
    visit("hops", hops, "most hops K that are asked for", config::between(1, 100'000));
    visit("asked", asked, "hops k that all questions ask for; null draws them from 1 to K",
          config::between(1, 100'000));
    visit("questions", questions, "questions Q of a sequence", config::between(1, 100'000));
    visit("names", names, "distinct nodes in the vocabulary", config::between(2, 1'000'000));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, sequence_length(), check);
    check_at_most({"least_nodes", least_nodes}, {"nodes", nodes}, check);
    check_at_least({"names", names}, {"nodes", nodes}, "because the nodes of a cycle are distinct",
                   check);
    if (asked) check_at_most({"asked", *asked}, {"hops", hops}, check);
  }

  std::int64_t sequence_length() const { return 1 + 2 * nodes + 3 * questions - 1; }
  enum Range : std::size_t { kBegin, kFiller, kHops, kNodes };
  Symbols vocabulary() const { return {{"B", 1}, {"_", 1}, {"h", hops}, {"n", names}}; }

  /// The probability of a cycle of least_nodes … N nodes; they add up to 1.
  std::vector<double> sizes() const {
    std::vector<double> weights;
    double sum = 0;
    for (auto n = least_nodes; n <= nodes; ++n) {
      weights.push_back(1 / (static_cast<double>(n) + std::sqrt(static_cast<double>(nodes))));
      sum += weights.back();
    }
    for (auto& weight : weights) weight /= sum;
    return weights;
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
