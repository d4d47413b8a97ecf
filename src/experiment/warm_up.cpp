#include "experiment/warm_up.h"

#include <ATen/Parallel.h>

#include "model/initialise.h"
#include "model/language_model.h"
#include "model/score.h"
#include "record/provenance.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "task/base/task.h"
#include "train/step/optimizer.h"

namespace difflab {
namespace {

// With CUDA the backward pass counts devices, and starts a thread for each. A process that has
// asked the driver anything forks children that can ask it nothing.
#ifdef DIFFLAB_TORCH_HAS_CUDA
constexpr bool kWithCuda = true;
#else
constexpr bool kWithCuda = false;
#endif

}  // namespace

void warm_up() {
  at::set_num_threads(1);
  processor();
  RunConfig config;
  config.model.d_model = 8;
  config.model.layers = 1;
  run_id(config);
  const auto task = build_task(config.task);
  LanguageModel model(config.model, task->vocab_size(), config.kernels);
  initialise(model, config.model, /*seed=*/0);
  Optimizer optimizer(model, config.train);
  const auto batch = task->batch(/*seed=*/0, Split::kTrain, 0, 1);
  const auto loss = mean_loss(model, batch.inputs, batch.targets);
  if (kWithCuda) return;
  loss.backward();
  optimizer.clip(1);
  optimizer.step(0);
}

}  // namespace difflab
