#include "train/event_watch.h"

#include <algorithm>
#include <cmath>

namespace difflab {
namespace {

void keep(const Json& seen, std::int64_t every, Progress& progress) {
  constexpr double kKept = 1e6;  // six decimals tell any two shares of held-out targets apart
  auto& looks = progress.looks;
  looks["every"] = every;
  const auto before = static_cast<std::size_t>(progress.step / every - 1);
  for (const auto& [name, value] : seen.items()) {
    auto& column = looks[name];
    while (column.size() < before) column.push_back(nullptr);  // a checkpoint without looks
    column.push_back(std::round(value.get<double>() * kKept) / kKept);
  }
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
  if (config_.events.empty() || progress.step % config_.event_every != 0) return;
  std::vector<std::string> held_out;
  for (const auto& event : config_.events) {
    if (!event.is_of_training()) held_out.push_back(event.metric);
  }
  auto seen = look_(held_out, config_.event_samples);
  if (held_out.size() < config_.events.size()) {
    seen[TrainEvent::kTrainLoss] = progress.loss_sum / static_cast<double>(progress.loss_count);
  }
  keep(seen, config_.event_every, progress);
  for (const auto& event : config_.events) {
    if (!progress.milestones.contains(event.steps_key())) note(event, seen, progress);
  }
}

void EventWatch::note(const TrainEvent& event, const Json& seen, Progress& progress) const {
  auto& rows = progress.rows;
  const auto is_met = [&](const Json& values) {
    return event.met_by(values.at(event.metric).get<double>());
  };
  if (!is_met(seen)) {
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
  if (!event.is_of_training() && config_.eval_samples > config_.event_samples &&
      !is_met(look_({event.metric}, config_.eval_samples))) {
    return;
  }
  progress.milestones[event.steps_key()] = first;
  progress.milestones[event.seconds_key()] = progress.train_seconds;
}

}  // namespace difflab
