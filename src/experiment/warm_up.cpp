#include "experiment/warm_up.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "model/language_model.h"
#include "model/score.h"
#include "record/provenance.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "task/base/task.h"
#include "train/step/optimizer.h"

namespace difflab {
namespace {

// The backward pass starts a thread for each device that is not the CPU, and a process that has
// such threads forks children without a backward pass.
bool backward_starts_threads() {
#ifdef DIFFLAB_TORCH_HAS_CUDA
  return true;  // Whoever has asked the driver anything forks children that can ask it nothing.
#else
  // As LibTorch's autograd engine counts them; Debian's build for the CPU has one, too.
  for (const auto& registered : c10::impl::device_guard_impl_registry) {
    const auto* devices = registered.load();
    if (devices == nullptr) continue;
    const auto type = devices->type();
    if (type == c10::kCPU || type == c10::kMeta || type == c10::kLazy) continue;
    if (devices->deviceCount() > 0) return true;
  }
  return false;
#endif
}

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
  if (backward_starts_threads()) return;
  loss.backward();
  optimizer.clip(1);
  optimizer.step(0.0);
}

}  // namespace difflab
