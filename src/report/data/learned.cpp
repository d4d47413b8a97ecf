#include "report/data/learned.h"

#include "report/data/frame.h"
#include "util/text.h"

namespace difflab::report {

namespace {

// How long it was to train; empty where time decides that.
std::optional<double> planned_steps(const FrameRun& run) {
  const bool ends_by_time = number_at(run.plan.config, "train.seconds").value_or(0) > 0;
  return ends_by_time ? std::nullopt : number_at(run.plan.config, "train.steps");
}

// True if the run ended at the event that ends it (train.stop_at).
bool has_stopped(const FrameRun& run) {
  const auto event = run.setting("train.stop_at");
  return !event.empty() && run.metric("steps_to_" + event);
}

}  // namespace

void add_learned(const LearnedConfig& config, FrameRun& run) {
  std::int64_t in_a_row = 0;
  double first = 0, last = 0;
  bool was_asked = false;
  for (const Json& line : run.curve) {
    const auto value = line.find(config.metric);
    if (value == line.end() || !value->is_number()) continue;
    was_asked = true;
    last = number_at(line, "step").value_or(0);
    if (!(value->get<double>() >= config.at_least)) {
      in_a_row = 0;
      continue;
    }
    if (in_a_row++ == 0) first = last;
    if (in_a_row == config.in_a_row) break;
  }
  // Nothing is known of a run that lacks the metric or has lost its curve, unless it diverged.
  if (!was_asked && run.state != RunState::kDiverged) return;
  if (run.state == RunState::kDiverged) last = planned_steps(run).value_or(last);
  const bool learned = in_a_row == config.in_a_row || (in_a_row > 0 && has_stopped(run));
  auto& metrics = run.result["metrics"];
  metrics[kLearned] = learned ? 1 : 0;
  metrics[kStepsToLearn] = learned ? Json(first) : Json();
  if (!learned) run.result["censored"][kStepsToLearn] = last;
}

void add_bounds_of_diverged(FrameRun& run) {
  const Json* events = run.config("train.events");
  const auto steps = planned_steps(run);
  if (run.state != RunState::kDiverged || !steps) return;
  const auto bound = [&](const std::string& key) {
    if (!run.metric(key)) run.result["censored"][key] = *steps;
  };
  bound("steps_to_90_accuracy");
  if (events == nullptr || !events->is_array()) return;
  for (const Json& event : *events) bound(concat("steps_to_", event.value("name", "")));
}

UserError nobody_knows_who_learned(const LearnedConfig& config, const std::string& run,
                                   const std::string& folder) {
  return UserError(concat("learned.metric: ", run, " was restored without the lines of ",
                          config.metric, ", so that nobody knows whether it learned; delete ",
                          folder, " to have it trained"));
}

bool is_unlearned(const FrameRun& run, const Metric& metric) {
  return metric.is_of_learned() && run.metric(kLearned) == 0.0;
}

}  // namespace difflab::report
