#pragma once

#include <c10/core/Device.h>

#include <string>

#include "run/run_config.h"

namespace difflab {

/// The device of a run, made ready for results that can be repeated: on CUDA, the library's
/// deterministic algorithms.
/// @throws UserError if there is none.
c10::Device open_device(Device device);

/// Name of the device, such as "NVIDIA H100"; "" for the CPU, which provenance names anyway, and
/// where difflab was built without CUDA's headers.
std::string name_of_device(c10::Device device);

}  // namespace difflab
