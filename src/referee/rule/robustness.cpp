// A contrast counts if it holds at another scale of the embeddings and another weighting of the
// loss: three settings of the former alone are in use in official code, and they change the order.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "referee/rule/rules.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

/// It has a second setting if any of its keys has.
struct Condition {
  std::vector<std::string> keys;
  const char* name;
};
const Condition kConditions[] = {
    {{"model.embedding_std", "model.embedding_scale", "model.init.embedding"},
     "scale of the embeddings"},
    {{"train.loss.per"}, "weighting of the loss"}};

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

void look_at(const Reference& one, const References& all, const Condition& condition,
             Objections& objections) {
  bool is_told = one.archive.has_value();
  std::vector<std::string> found;
  for (const auto& key : condition.keys) {
    std::set<std::string> tried;
    for (const auto& other : all) {
      if (holds_contrast(one, other)) tried.merge(other.values(key));
    }
    if (tried.size() >= 2) return;
    is_told = is_told || !one.values(key).empty();
    if (!tried.empty()) found.push_back(concat(key, " is ", *tried.begin()));
  }
  const auto list = found.empty() ? condition.keys.front() : join(found, " and ");
  if (is_told) {
    objections.object(one, "the claims",
                      concat("no reference has this contrast at a second ", condition.name, " (",
                             list, " everywhere)"));
  } else {
    objections.cannot_check(
        one, "the claims",
        concat("the ", condition.name, " (", list, ") is not told, and no reference varies it"));
  }
}

}  // namespace

void check_robustness(const References& all, Objections& objections) {
  for (const auto& one : all) {
    const bool claims = std::any_of(one.statements.begin(), one.statements.end(),
                                    [](const Statement& s) { return s.judges(); });
    if (!claims || !one.is_trained()) continue;
    for (const auto& condition : kConditions) look_at(one, all, condition, objections);
  }
}

}  // namespace difflab::referee
