#include "train/event_watch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

// A misspelt metric would never be met, and the run be called one that did not get there.
bool is_met(const TrainEvent& event, const Json& seen) {
  const auto value = seen.find(event.metric);
  if (value == seen.end()) {
    std::vector<std::string> names;
    for (const auto& [name, number] : seen.items()) names.push_back(name);
    throw UserError(
        concat("train.events: ", event.name, " looks at ", event.metric,
               ", which held-out evaluations of this task do not have; expected one of ",
               join(names), suggestion(event.metric, names)));
  }
  return value->is_number() && event.met_by(value->get<double>());
}

}  // namespace

bool has_stopped(const TrainConfig& config, const Progress& progress) {
  if (config.seconds > 0 && progress.train_seconds >= config.seconds) return true;
  return !config.stop_at.empty() &&
         std::any_of(config.events.begin(), config.events.end(), [&](const TrainEvent& event) {
           return event.name == config.stop_at && progress.milestones.contains(event.steps_key());
         });
}

void EventWatch::after_step(Progress& progress) const {
  const bool all_happened = std::all_of(
      config_.events.begin(), config_.events.end(),
      [&](const TrainEvent& event) { return progress.milestones.contains(event.steps_key()); });
  if (all_happened || progress.step % config_.event_every != 0) return;
  const auto seen = look_(config_.event_samples);
  for (const auto& event : config_.events) look_for(event, seen, progress);
}

void EventWatch::look_for(const TrainEvent& event, const Json& seen, Progress& progress) const {
  if (progress.milestones.contains(event.steps_key())) return;
  auto& rows = progress.rows;
  if (!is_met(event, seen)) {
    rows.erase(event.name);
    return;
  }
  auto& row = rows[event.name];
  if (row.is_null()) row = {{"first", progress.step}, {"looks", 0}};
  const auto looks = row["looks"].get<std::int64_t>() + 1;
  row["looks"] = looks;
  if (looks < event.in_a_row) return;
  const auto first = row["first"];
  rows.erase(event.name);
  // A small batch can be lucky: then the row begins anew.
  if (config_.eval_samples > config_.event_samples && !is_met(event, look_(config_.eval_samples))) {
    return;
  }
  progress.milestones[event.steps_key()] = first;
  progress.milestones[event.seconds_key()] = progress.train_seconds;
}

}  // namespace difflab
