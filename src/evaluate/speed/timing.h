#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "util/timing.h"

namespace difflab {

/// The library's product of two 1024 x 1024 matrices, in operations per second: what the machine
/// gives at that moment, on the device of `like`.
class SgemmPeak {
 public:
  explicit SgemmPeak(const at::Tensor& like);
  double measure();

 private:
  at::Tensor a_, b_, c_;
};

/// The largest resident memory of this process during a call, above what it had before, in MiB.
/// Empty where the system does not tell.
std::optional<double> peak_mib_of(const std::function<void()>& run);

}  // namespace difflab
