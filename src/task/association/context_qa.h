#pragma once

#include "task/base/task_kind.h"
#include "task/needle/recall.h"

namespace difflab {

/// Answering from the context alone. The context is F facts, each an entity, an attribute and a
/// value; pairs of entity and attribute are distinct, and so are values. A batch is part questions,
/// part summaries (the two jobs of the DIFF paper's table 4, arXiv 2410.05258, in tokens).
///
/// A question gives entity and attribute; its answer is the value, or "unknown" if the context does
/// not give it. Questions come without their answers, behind the context:
///
///   inputs    B e3 a1 v7 e3 a2 v4 e5 a6 v1 ? e3 a1 ? e8 a4         F = 3, R = 2
///   targets   . .  .  .  .  .  .  .  .  .  . .  v7 . .  unknown    . kIgnore
///
/// A share `distractors` of the facts that answer no question are near misses: about the entity of
/// a question with an attribute that no question asks for, or the other way round. The rest share
/// neither, so the context becomes more misleading while the length stays the same.
///
/// A summary repeats the facts that are marked as salient, in their order; the other facts, a share
/// `distractors`, are to be left out:
///
///   inputs    B ! e3 a1 v7 e5 a6 v1 = e3 a1     F = 2, S = 1
///   targets   . . .  .  .  .  .  .  e3 a1 v7
struct ContextQaConfig : TaskKind<ContextQaConfig> {
  static constexpr std::string_view kKind = "context_qa";
  static constexpr std::string_view kAbout =
      "questions about facts in the context, some unanswerable, and summaries of marked facts";
  static constexpr std::array<std::string_view, 2> kParts = {"question", "summary"};

  std::int64_t facts = 8;      ///< F
  std::int64_t questions = 2;  ///< R
  double distractors = 0.5;    ///< share of misleading facts
  double unanswerable = 0.25;  ///< probability that a question's fact is left out
  double summary_share = 0.5;  ///< share of each batch that is summaries
  double recall_share = 0;     ///< share of each batch that is cyclic repetition (recall_mixture.h)
  std::int64_t entities = 16;
  std::int64_t attributes = 16;
  std::int64_t values = 32;

  /// S, facts of a summary: those that are no distractors, at least 1.
  std::int64_t salient() const {
    const double share = (1 - distractors) * static_cast<double>(facts);
    return std::max<std::int64_t>(1, std::llround(share));
  }
  std::int64_t question_length() const { return 1 + 3 * facts + 3 * questions; }
  std::int64_t summary_length() const { return 1 + 3 * facts + salient() + 3 * salient(); }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("facts", facts, "facts F in the context", config::between(1, 1'000'000));
    visit("questions", questions, "questions R after a context", config::between(1, 1'000'000));
    visit("distractors", distractors,
          "share of misleading facts: near misses of questions, unmarked ones for summaries",
          config::between(0, 1));
    visit("unanswerable", unanswerable, "probability that a question's fact is left out",
          config::between(0, 1));
    visit("summary_share", summary_share, "share of what is no repetition that is summaries",
          config::between(0, 1));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
    visit("entities", entities, "distinct entities", config::between(2, 1'000'000));
    visit("attributes", attributes, "distinct attributes", config::between(2, 1'000'000));
    visit("values", values, "distinct values", config::between(2, 1'000'000));
  }
  void validate(config::Check& check) const {
    check_recall_share(recall_share, sequence_length(), check);
    check_at_most({"questions", questions}, {"facts", facts}, check);
    check_at_least({"values", values}, {"facts", facts}, "because values are distinct", check);
    // Facts that share neither entity nor attribute with a question, and near misses.
    const auto other_entities = entities - questions, other_attributes = attributes - questions;
    const bool has_others = other_entities > 0 && other_attributes > 0;
    if (!has_others || other_entities * other_attributes < facts ||
        questions * (other_entities + other_attributes) < facts) {
      check.problem("entities",
                    concat("is ", entities, " with ", attributes, " attributes, too few for ",
                           facts, " facts beside those of ", questions,
                           " questions; expected more entities or attributes"));
    }
  }

  /// Ranges of the vocabulary; _ fills the shorter of the two jobs up behind its end.
  enum Range : std::size_t {
    kFiller,
    kBegin,
    kQuestion,
    kMark,
    kSummary,
    kUnknown,
    kEntity,
    kAttribute,
    kValue
  };
  Symbols vocabulary() const {
    return {{"_", 1},       {"B", 1},        {"?", 1},          {"!", 1},     {"=", 1},
            {"unknown", 1}, {"e", entities}, {"a", attributes}, {"v", values}};
  }

  std::int64_t sequence_length() const {
    if (summary_share == 0) return question_length();
    if (summary_share == 1) return summary_length();
    return std::max(question_length(), summary_length());
  }
  std::vector<std::pair<std::string_view, double>> part_shares() const {
    return {{"summary_share", summary_share}};
  }

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
