#include "run/metrics.h"

#include <variant>

#include "evaluate/evaluation_config.h"
#include "run/run_config.h"
#include "util/text.h"

namespace difflab {
namespace {

// A * at the beginning stands for each part of the task that is asked.
void add_metrics_of(const EvaluationConfig& evaluation, const TaskConfig& trained,
                    std::vector<std::string>& names) {
  const auto prefix = metric_prefix(evaluation);
  const auto& asked = asked_task(evaluation, trained);
  const auto parts = part_names(asked);
  const auto& steps = common_of(evaluation).at;
  const auto add_name = [&](const std::string& name) {
    if (steps.empty()) names.push_back(name);
    for (const auto step : steps) names.push_back(metric_at_step(name, step));
  };
  const auto add = [&](const MetricFacts& facts) {
    if (!facts.name.starts_with("*_")) return add_name(concat(prefix, facts.name));
    for (const auto& part : parts) add_name(concat(prefix, part, facts.name.substr(1)));
  };
  std::visit(
      [&](const auto& kind) {
        for (const MetricFacts& facts : kind.kMetrics) {
          if (kind.gives(facts.name, asked)) add(facts);
        }
      },
      evaluation);
}

// Statistics of attention (Attention::statistics), layer by layer.
constexpr const char* kOfLayers[] = {"lambda.*", "lambda_head*.*", "exclusion.*"};

}  // namespace

std::vector<MetricFacts> metrics_of_evaluations() {
  std::vector<MetricFacts> all;
  config::for_each_kind<EvaluationConfig>(
      [&](const auto& kind) { all.insert(all.end(), kind.kMetrics.begin(), kind.kMetrics.end()); });
  return all;
}

std::vector<std::string> training_metrics_of(const RunConfig& run) {
  std::vector<std::string> names = {
      "parameters",           "steps",           "train_loss",
      "valid_loss",           "valid_accuracy",  "valid_accuracy_chance",
      "steps_to_90_accuracy", "train_seconds",   "time_to_90_accuracy_seconds",
      "tokens_per_second",    "gradient_spikes",
  };
  for (const auto& event : run.train.events) {
    names.push_back(event.steps_key());
    names.push_back(event.seconds_key());
  }
  names.insert(names.end(), std::begin(kOfLayers), std::end(kOfLayers));
  names.insert(names.end(), {"lambda_first", "lambda_last"});
  return names;
}

std::string metric_at_step(std::string_view metric, std::int64_t step) {
  constexpr std::string_view kChance = "_chance";
  const bool is_chance = metric.ends_with(kChance);
  if (is_chance) metric.remove_suffix(kChance.size());
  return concat(metric, "_at_", step, is_chance ? kChance : "");
}

std::vector<std::string> evaluations_of(const RunConfig& run) {
  std::vector<std::string> names;
  for (const auto& one : run.evaluate) names.push_back(result_name(one, run.task));
  if (!run.train.events.empty()) {
    names.insert(names.end(), {"looks", "lambda"});  // see train/event_watch.h
  }
  return names;
}

std::vector<std::string> metrics_of(const RunConfig& run) {
  auto names = training_metrics_of(run);
  for (const auto& evaluation : run.evaluate) add_metrics_of(evaluation, run.task, names);
  return names;
}

std::vector<std::string> held_out_metrics_of(const RunConfig& run) {
  std::vector<std::string> names = {"valid_accuracy", "valid_loss"};
  for (const auto& part : part_names(run.task)) {
    names.push_back(concat("valid_", part, "_accuracy"));
    names.push_back(concat("valid_", part, "_loss"));
  }
  return names;
}

std::vector<std::string> curves_of(const RunConfig& run) {
  auto names = held_out_metrics_of(run);
  names.insert(names.end(), {"step", "train_loss", "grad_norm", "lr", "train_seconds"});
  names.insert(names.end(), std::begin(kOfLayers), std::end(kOfLayers));
  return names;
}

}  // namespace difflab
