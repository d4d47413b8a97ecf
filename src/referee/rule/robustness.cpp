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

/// The question of a reference: the variants of its first claim (all opponents where that names the
/// best), and the tasks that they were compared on.
struct Contrast {
  std::string axis;
  std::vector<std::string> variants;
  std::set<std::string> tasks;
  bool asks_one_thing = false;  ///< no task has parts with other numbers of targets to weigh
};

// Parts have an accuracy with a chance each (evaluation heldout); what another evaluation picks out
// of a sequence has none.
std::size_t parts_of(const report::FrameRun& run) {
  const Json& metrics = object_at(run.result, "metrics");
  static constexpr std::string_view kLoss = "_loss";
  std::size_t parts = 0;
  for (const auto& [name, value] : metrics.items()) {
    if (!name.ends_with(kLoss) || name == "valid_loss") continue;
    const auto part = name.substr(0, name.size() - kLoss.size());
    parts += metrics.contains(part + "_accuracy_chance") ? 1 : 0;
  }
  return parts;
}

Contrast contrast_of(const Reference& one) {
  const auto& study = one.archive->study;
  const auto& claim = study.report.claims.front();
  Contrast contrast{one.compared_axis(),
                    report::others_of(claim, study.baseline, study.report.opponents),
                    {},
                    false};
  contrast.variants.insert(contrast.variants.begin(), claim.variant);
  std::size_t most = 0;
  const auto task = claim.where.find("task");
  for (const auto& run : one.archive->frame.runs()) {
    const auto kind = run.setting("task.kind");
    if (kind.empty() || (task && run.axis("task") != *task)) continue;
    contrast.tasks.insert(kind);
    most = std::max(most, parts_of(run));  // none of a run that diverged, or has no result
  }
  contrast.asks_one_thing = most == 1;
  return contrast;
}

// Values of a setting that a reference tried with every variant of the contrast, on its tasks.
std::set<std::string> tried_with(const Reference& other, const Contrast& contrast,
                                 const std::string& key) {
  if (!other.archive || other.compared_axis() != contrast.axis) return {};
  const auto tasks = other.values("task.kind");
  if (!std::includes(tasks.begin(), tasks.end(), contrast.tasks.begin(), contrast.tasks.end())) {
    return {};
  }
  std::set<std::string> all = other.values(key);
  for (const auto& variant : contrast.variants) {
    std::set<std::string> own, both;
    for (const auto& run : other.archive->frame.runs()) {
      const Json* value = run.config(key);
      const bool is_meant = report::is_same_value(run.axis(contrast.axis), variant) &&
                            contrast.tasks.count(run.setting("task.kind")) > 0;
      if (is_meant && value != nullptr) own.insert(report::text_of(*value));
    }
    std::set_intersection(all.begin(), all.end(), own.begin(), own.end(),
                          std::inserter(both, both.end()));
    all = std::move(both);
  }
  return all;
}

void look_at(const Reference& one, const Contrast& contrast, const References& all,
             const Condition& condition, Objections& objections) {
  std::vector<std::string> found;
  for (const auto& key : condition.keys) {
    std::set<std::string> tried;
    for (const auto& other : all) tried.merge(tried_with(other, contrast, key));
    if (tried.size() >= 2) return;
    if (!tried.empty()) found.push_back(concat(key, " is ", *tried.begin()));
  }
  const auto list = found.empty() ? condition.keys.front() : join(found, " and ");
  objections.object(one, "the claims",
                    concat("no reference compares ", join(contrast.variants, " and "),
                           " at a second ", condition.name, " (", list, " everywhere)"));
}

}  // namespace

void check_robustness(const References& all, Objections& objections) {
  for (const auto& one : all) {
    if (!one.archive || one.archive->study.report.claims.empty() || !one.is_trained()) continue;
    const bool judges =
        std::ranges::any_of(one.statements, [](const Statement& s) { return s.judges(); });
    if (!judges) continue;
    const auto contrast = contrast_of(one);
    look_at(one, contrast, all, kScale, objections);
    if (!contrast.asks_one_thing) look_at(one, contrast, all, kWeighting, objections);
  }
}

}  // namespace difflab::referee
