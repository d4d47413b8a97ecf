#include "train/event_watch.h"

#include <algorithm>

namespace difflab {

bool has_stopped(const TrainConfig& config, const Progress& progress) {
  if (config.seconds > 0 && progress.train_seconds >= config.seconds) return true;
  return !config.stop_at.empty() &&
         std::any_of(config.events.begin(), config.events.end(), [&](const TrainEvent& event) {
           return event.name == config.stop_at && progress.milestones.contains(event.steps_key());
         });
}

void EventWatch::after_step(Progress& progress) const {
  if (progress.step % config_.event_every != 0) return;
  std::vector<TrainEvent> awaited;
  for (const auto& event : config_.events) {
    if (!progress.milestones.contains(event.steps_key())) awaited.push_back(event);
  }
  if (awaited.empty()) return;
  const auto met = look_(awaited, config_.event_samples);
  for (std::size_t i = 0; i < awaited.size(); ++i) note(awaited[i], met.at(i), progress);
}

void EventWatch::note(const TrainEvent& event, bool is_met, Progress& progress) const {
  auto& rows = progress.rows;
  if (!is_met) {
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
  if (config_.eval_samples > config_.event_samples && !look_({event}, config_.eval_samples).at(0)) {
    return;
  }
  progress.milestones[event.steps_key()] = first;
  progress.milestones[event.seconds_key()] = progress.train_seconds;
}

}  // namespace difflab
