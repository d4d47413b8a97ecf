#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/metric_facts.h"

namespace difflab {

struct RunConfig;

/// What every evaluation says of its metrics.
std::vector<MetricFacts> metrics_of_evaluations();

/// What the evaluations of a run are called in its result, by which figures name their cells, and
/// looks and lambda, under which they find what looks for events saw.
std::vector<std::string> evaluations_of(const RunConfig& run);

/// What the metrics of a run will be called in its result; a * stands for a number.
std::vector<std::string> metrics_of(const RunConfig& run);

/// What a metric of an evaluation is called that is asked at a step (`at`): accuracy_at_200 with
/// the chance level accuracy_at_200_chance, which every reader looks for under the metric's own
/// name.
std::string metric_at_step(std::string_view metric, std::int64_t step);

/// Those of them that it has without its evaluations.
std::vector<std::string> training_metrics_of(const RunConfig& run);

/// What its held-out looks will give (metrics.jsonl), of which an event is made.
std::vector<std::string> held_out_metrics_of(const RunConfig& run);

/// All that metrics.jsonl will have: those, the training's own, λ of each layer.
std::vector<std::string> curves_of(const RunConfig& run);

}  // namespace difflab
