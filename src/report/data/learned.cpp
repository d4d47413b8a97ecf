#include "report/data/learned.h"

#include "report/data/frame.h"

namespace difflab::report {

void add_learned(const LearnedConfig& config, FrameRun& run) {
  std::int64_t in_a_row = 0;
  double first = 0, last = 0;
  for (const Json& line : run.curve) {
    const auto value = line.find(config.metric);
    if (value == line.end() || !value->is_number()) continue;
    last = line.value("step", 0.0);
    if (!(value->get<double>() >= config.at_least)) {
      in_a_row = 0;
      continue;
    }
    if (in_a_row++ == 0) first = last;
    if (in_a_row == config.in_a_row) break;
  }
  const bool learned = in_a_row == config.in_a_row;
  auto& metrics = run.result["metrics"];
  metrics[kLearned] = learned ? 1 : 0;
  metrics[kStepsToLearn] = learned ? Json(first) : Json();
  if (!learned) run.result["censored"][kStepsToLearn] = last;
}

bool is_unlearned(const FrameRun& run, const Metric& metric) {
  return metric.is_of_learned() && run.metric(kLearned) == 0.0;
}

}  // namespace difflab::report
