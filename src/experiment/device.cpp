#include "experiment/device.h"

#include <ATen/Context.h>
#include <torch/cuda.h>

#include <cstdlib>

#ifdef DIFFLAB_CUDA_HEADERS
#include <cuda_runtime_api.h>

// ATen/cuda/CUDAContextLight.h declares it, but needs headers that the CUDA build's wheels lack.
namespace at::cuda {
cudaDeviceProp* getCurrentDeviceProperties();
}
#endif

#include "util/error.h"

namespace difflab {

c10::Device open_device(Device device) {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(/*on=*/device == Device::kCuda, /*warn_only=*/false);
  if (device == Device::kCpu) return c10::kCPU;
#ifndef DIFFLAB_TORCH_HAS_CUDA
  throw UserError(
      "device is cuda, but the LibTorch that difflab was built with is for the CPU alone; use "
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

}  // namespace difflab
