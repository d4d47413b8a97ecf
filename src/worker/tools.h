#pragma once

#include <string>
#include <vector>

namespace difflab {

// Commands of `difflab` that need LibTorch: the driver checks their arguments and becomes the
// worker. Each returns the exit code. @throws UserError

/// verify FOLDER [--json]: reference cases against our modules; 1 if any is beyond its tolerance.
int verify_command(const std::vector<std::string>& arguments);

/// export RUN_FOLDER FILE
int export_command(const std::vector<std::string>& arguments);

/// generate RUN_FOLDER SAMPLING_JSON PROMPT
int generate_command(const std::vector<std::string>& arguments);

/// bench attention|train|decode THREADS cpu|cuda [--json]: how fast our kernels and steps are
/// beside the library's, in one run, cases interleaved. Returns the exit code. @throws UserError
int bench_command(const std::vector<std::string>& arguments);

/// show TASK_JSON SEED SPLIT SAMPLES [--json], SPLIT a number of task/base/task.h's Split
int show_command(const std::vector<std::string>& arguments);

}  // namespace difflab
