#pragma once

#include <cstdint>
#include <string>

#include "config/schema/fields.h"
#include "report/data/metric.h"
#include "util/error.h"

namespace difflab::report {

struct FrameRun;

/// When a run counts as one that has learned its task: its curve was at least there, so many times
/// in a row. A seed learns retrieval or does not; a mean over both kinds describes neither.
struct LearnedConfig {
  std::string metric;  ///< of metrics.jsonl; empty: no such question
  double at_least = 0.9;
  std::int64_t in_a_row = 2;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("metric", metric,
          "of metrics.jsonl, e.g. valid_accuracy; empty: runs are not told apart by it");
    visit("at_least", at_least, "what it has to reach");
    visit("in_a_row", in_a_row, "held-out evaluations in a row that reach it", config::at_least(1));
  }
  bool given() const { return !metric.empty(); }
};

/// Metrics of every run of an experiment that says when a run has learned.
constexpr const char* kLearned = "learned";              ///< 1 or 0
constexpr const char* kStepsToLearn = "steps_to_learn";  ///< of the first evaluation in that row

/// Adds them to the run's result, from its curve; steps that never came are censored at its last. A
/// run that stopped when an event had come (train.stop_at) need not go on in the row that it is in.
void add_learned(const LearnedConfig& config, FrameRun& run);

/// Adds the bound train.steps for events that a diverged run did not reach: its other steps would
/// not have changed that. No bound where time ends a training, as its steps are then unknown.
void add_bounds_of_diverged(FrameRun& run);

/// Error for a run that was restored without its curve, where it matters which runs have learned.
/// @param run as it is called  @param folder to be deleted
UserError nobody_knows_who_learned(const LearnedConfig& config, const std::string& run,
                                   const std::string& folder);

/// True if the metric measures what a run has learned, and this run has not learned.
bool is_unlearned(const FrameRun& run, const Metric& metric);

}  // namespace difflab::report
