#pragma once

#include <cstdint>
#include <optional>

#include "config/schema/fields.h"
#include "config/value/value.h"
#include "task/task_config.h"
#include "train/settings/train_config.h"

namespace difflab {

struct RunConfig;

/// A training that comes before the run's own, so that a model can learn on short sequences first
/// and then have its context extended: longer sequences, a larger base of the rotary angles (Xiong
/// et al. 2023, arXiv 2309.16039, section 2.1), other rates.
struct StageConfig {
  TaskConfig task;
  TrainConfig train;
  double rope_theta = 10'000;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("task", task, "what this stage trains on; what it does not say is the run's");
    visit("train", train, "how this stage trains; what it does not say is the run's");
    visit("rope_theta", rope_theta, "base of the rotary angles in this stage; else the run's",
          config::at_least(1));
  }
};

/// Completes `stages` of a run as people write it: what a stage does not say of task, train and
/// rope_theta is taken from the run. A task of another kind is taken as it is.
void complete_stages(config::Value& run);

/// The run that trains what this one starts from: its last stage, with the stages before that one,
/// asked nothing. Nothing without stages.
std::optional<RunConfig> earlier_run(const RunConfig& config);

/// The first batch of the run's own training: batches go on where those of its stages ended.
std::int64_t first_batch(const RunConfig& config);

}  // namespace difflab
