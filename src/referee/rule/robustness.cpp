// A contrast counts if it holds at another scale of the embeddings and another weighting of the
// loss: three settings of the former alone are in use in official code, and they change the order.
#include <algorithm>
#include <set>

#include "referee/rule/rules.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

struct Condition {
  const char* key;
  const char* name;
};
constexpr Condition kConditions[] = {{"model.embedding_std", "scale of the embeddings"},
                                     {"train.loss.per", "weighting of the loss"}};

// Whether the reference says something of the same contrast on the same task.
bool holds_contrast(const Reference& one, const Reference& other) {
  if (one.values("task.kind") != other.values("task.kind")) return false;
  const auto arms = other.arms();
  const auto has = [&](const std::string& arm) {
    return std::find(arms.begin(), arms.end(), arm) != arms.end();
  };
  const auto own = one.arms();
  return std::all_of(own.begin(), own.end(), has);
}

}  // namespace

void check_robustness(const References& all, Objections& objections) {
  for (const auto& one : all) {
    const bool claims = std::any_of(one.statements.begin(), one.statements.end(),
                                    [](const Statement& s) { return s.judges(); });
    if (!claims || !one.is_trained()) continue;
    for (const auto& [key, name] : kConditions) {
      std::set<std::string> tried;
      for (const auto& other : all) {
        if (!holds_contrast(one, other)) continue;
        tried.merge(other.values(key));
      }
      if (tried.size() >= 2) continue;
      if (one.values(key).empty() && !one.archive) {
        objections.cannot_check(one, "the claims",
                                concat("the ", name, " (", key,
                                       ") is not told, and no reference varies "
                                       "it"));
      } else {
        objections.object(
            one, "the claims",
            concat("no reference has this contrast at a second ", name, " (", key,
                   tried.empty() ? ")" : concat(" is ", *tried.begin(), " everywhere)")));
      }
    }
  }
}

}  // namespace difflab::referee
