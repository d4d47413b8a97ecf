#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/metric_facts.h"

namespace difflab {

struct RunConfig;

/// Facts about the metrics of all kinds of evaluations.
std::vector<MetricFacts> metrics_of_evaluations();

/// Names of a run's evaluations in its result, by which figures find their cells; with events also
/// looks and lambda, which hold the observations of the looks for events.
std::vector<std::string> evaluations_of(const RunConfig& run);

/// Names that the metrics of a run will have in its result; a * stands for a number.
std::vector<std::string> metrics_of(const RunConfig& run);

/// Name of a metric of an evaluation that is asked at a step (`at`): accuracy_at_200 with the
/// chance level accuracy_at_200_chance, which every reader looks for under the metric's own name.
std::string metric_at_step(std::string_view metric, std::int64_t step);

/// Names of the metrics that a run has without its evaluations.
std::vector<std::string> training_metrics_of(const RunConfig& run);

/// Metrics that its held-out looks will give (metrics.jsonl), of which an event is made.
std::vector<std::string> held_out_metrics_of(const RunConfig& run);

/// All that metrics.jsonl will have: those, the training's own, λ of each layer.
std::vector<std::string> curves_of(const RunConfig& run);

}  // namespace difflab
