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

/// Does once what every run would do for the first time: one training step of a tiny model, so that
/// a process that forks runs hands on a library that has looked up its operators, code paths and
/// symbols. Writes no files, draws no random numbers that anybody else sees, starts no thread (a
/// fork would lose it) and asks nothing of a CUDA driver.
void warm_up();

}  // namespace difflab
