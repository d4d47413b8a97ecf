#include "experiment/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/cuda.h>

#include <cstdlib>

#ifdef DIFFLAB_CUDA_HEADERS
#include <cuda_runtime_api.h>

// ATen/cuda/CUDAContextLight.h declares it, but needs headers that the CUDA build's wheels lack.
namespace at::cuda {
cudaDeviceProp* getCurrentDeviceProperties();
}
#endif

#include "model/language_model.h"
#include "model/score.h"
#include "record/provenance.h"
#include "run/identity.h"
#include "task/base/task.h"
#include "train/step/optimizer.h"
#include "util/error.h"

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

c10::Device open_device(Device device) {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(/*on=*/device == Device::kCuda, /*warn_only=*/false);
  if (device == Device::kCpu) return c10::kCPU;
#ifndef DIFFLAB_TORCH_HAS_CUDA
  throw UserError(
      "device is cuda, but difflab was built with a CPU-only LibTorch; use "
      "device=cpu, or install one with CUDA (docs/gpu.md)");
#endif
  // Read by cuBLAS when it is first used; without it, it may add in another order each time.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  if (!torch::cuda::is_available()) {
    throw UserError(
        "device is cuda, but LibTorch finds no CUDA device; nvidia-smi tells what the driver sees. "
        "Use device=cpu");
  }
  context.setDeterministicFillUninitializedMemory(false);  // nobody reads what nobody wrote
  return c10::kCUDA;
}

std::string name_of_device(c10::Device device) {
#ifdef DIFFLAB_CUDA_HEADERS
  if (device.is_cuda()) return at::cuda::getCurrentDeviceProperties()->name;
#endif
  static_cast<void>(device);
  return "";
}

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
