// A contrast counts if it holds at another scale of the embeddings and another weighting of the
// loss: three settings of the former alone are in use in official code, and they change the order.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
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
const Condition kScale = {{"model.embedding_std", "model.embedding_scale", "model.init.embedding"},
                          "scale of the embeddings"};
const Condition kWeighting = {{"train.loss.per"}, "weighting of the loss"};

/// What a reference is about: the two variants of its first claim, and the tasks that they were
/// compared on.
struct Contrast {
  std::string axis;
  std::vector<std::string> variants;
  std::set<std::string> tasks;
  bool asks_one_thing = false;  ///< no task has parts with other numbers of targets to weigh
};

// Parts have a loss and an accuracy each (evaluation heldout).
std::size_t parts_of(const report::FrameRun& run) {
  const auto metrics = run.result.find("metrics");
  if (metrics == run.result.end()) return 0;
  static constexpr std::string_view kLoss = "_loss";
  std::size_t parts = 0;
  for (const auto& [name, value] : metrics->items()) {
    if (!name.ends_with(kLoss) || name == "valid_loss") continue;
    parts += metrics->contains(name.substr(0, name.size() - kLoss.size()) + "_accuracy") ? 1 : 0;
  }
  return parts;
}

// Without an archive a report does not tell a claim's variants, so that all of them count.
Contrast contrast_of(const Reference& one) {
  if (!one.archive || one.archive->study.report.claims.empty()) {
    return {one.compared_axis(), one.arms(), one.values("task.kind")};
  }
  const auto& study = one.archive->study;
  const auto& claim = study.report.claims.front();
  Contrast contrast{one.compared_axis(),
                    {claim.variant, claim.against.empty() ? study.baseline : claim.against},
                    {},
                    false};
  std::size_t most = 0;
  const auto task = claim.where.find("task");
  for (const auto& run : one.archive->frame.runs()) {
    const Json* kind = run.config("task.kind");
    if (kind == nullptr || (task && run.axis("task") != *task)) continue;
    contrast.tasks.insert(kind->get<std::string>());
    const auto parts = parts_of(run);  // none of a run that diverged, or has no result
    most = std::max(most, parts);
  }
  contrast.asks_one_thing = most == 1;
  return contrast;
}

// What a reference tried of a setting with each variant of the contrast, on its tasks. Without an
// archive: with any variant, if it has them all.
std::set<std::string> tried_with(const Reference& other, const Contrast& contrast,
                                 const std::string& key) {
  if (other.compared_axis() != contrast.axis) return {};
  const auto arms = other.arms();
  const auto tasks = other.values("task.kind");
  const bool has_all =
      std::all_of(contrast.variants.begin(), contrast.variants.end(),
                  [&](const auto& variant) {
                    return std::any_of(arms.begin(), arms.end(), [&](const auto& arm) {
                      return report::is_same_value(arm, variant);
                    });
                  }) &&
      std::includes(tasks.begin(), tasks.end(), contrast.tasks.begin(), contrast.tasks.end());
  if (!has_all) return {};
  std::set<std::string> all = other.values(key);
  if (!other.archive) return all;
  for (const auto& variant : contrast.variants) {
    std::set<std::string> own;
    for (const auto& run : other.archive->frame.runs()) {
      const Json* value = run.config(key);
      const Json* kind = run.config("task.kind");
      const bool is_meant = report::is_same_value(run.axis(contrast.axis), variant) &&
                            kind != nullptr && contrast.tasks.count(kind->get<std::string>()) > 0;
      if (is_meant && value != nullptr) own.insert(text_of(*value));
    }
    std::set<std::string> both;
    std::set_intersection(all.begin(), all.end(), own.begin(), own.end(),
                          std::inserter(both, both.end()));
    all = std::move(both);
  }
  return all;
}

void look_at(const Reference& one, const Contrast& contrast, const References& all,
             const Condition& condition, Objections& objections) {
  bool is_told = one.archive.has_value();
  std::vector<std::string> found;
  for (const auto& key : condition.keys) {
    std::set<std::string> tried;
    for (const auto& other : all) tried.merge(tried_with(other, contrast, key));
    if (tried.size() >= 2) return;
    is_told = is_told || !one.values(key).empty();
    if (!tried.empty()) found.push_back(concat(key, " is ", *tried.begin()));
  }
  const auto list = found.empty() ? condition.keys.front() : join(found, " and ");
  const auto variants = join(contrast.variants, " and ");
  if (is_told) {
    objections.object(one, "the claims",
                      concat("no reference compares ", variants, " at a second ", condition.name,
                             " (", list, " everywhere)"));
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
    const auto contrast = contrast_of(one);
    look_at(one, contrast, all, kScale, objections);
    if (!contrast.asks_one_thing) look_at(one, contrast, all, kWeighting, objections);
  }
}

}  // namespace difflab::referee
