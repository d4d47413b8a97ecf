#pragma once

namespace difflab {

/// Does once what every run would do for the first time: one training step of a tiny model, so that
/// a process that forks runs hands on a library that has looked up its operators, code paths and
/// symbols. Writes no files, draws no random numbers that anybody else sees, starts no thread (a
/// fork would lose it) and asks nothing of a CUDA driver.
void warm_up();

}  // namespace difflab
