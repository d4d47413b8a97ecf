#pragma once

#include <string>
#include <vector>

namespace difflab {

/// bench attention|train|decode THREADS cpu|cuda [--json]: how fast our kernels and steps are
/// beside the library's, in one run, cases interleaved. Returns the exit code. @throws UserError
int bench_command(const std::vector<std::string>& arguments);

}  // namespace difflab
