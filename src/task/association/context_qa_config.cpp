#include <algorithm>
#include <cmath>

#include "task/association/context_qa.h"
#include "task/needle/recall.h"
#include "util/text.h"

namespace difflab {

std::int64_t ContextQaConfig::salient() const {
  const double share = (1 - distractors) * static_cast<double>(facts);
  return std::max<std::int64_t>(1, std::llround(share));
}

std::int64_t ContextQaConfig::sequence_length() const {
  if (summary_share == 0) return question_length();
  if (summary_share == 1) return summary_length();
  return std::max(question_length(), summary_length());
}

void ContextQaConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, sequence_length(), check);
  check_at_most({"questions", questions}, {"facts", facts}, check);
  check_at_least({"values", values}, {"facts", facts}, "because values are distinct", check);
  // Facts that share neither entity nor attribute with a question, and near misses.
  const auto other_entities = entities - questions, other_attributes = attributes - questions;
  const bool has_others = other_entities > 0 && other_attributes > 0;
  if (!has_others || other_entities * other_attributes < facts ||
      questions * (other_entities + other_attributes) < facts) {
    check.problem("entities",
                  concat("is ", entities, " with ", attributes, " attributes, too few for ", facts,
                         " facts beside those of ", questions,
                         " questions; expected more entities or attributes"));
  }
}

}  // namespace difflab
