#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/run_rows.h"

namespace difflab::cli {

/// Runs as a person reads them, a line each, its first the headings: the beginning of the id, the
/// experiment (of several the first, and how many more), what varies in that but the seed, seed,
/// state, age and how well the model did. Lines are at most `width` columns wide as far as
/// shortening the experiment and what varies can do it.
std::vector<std::vector<std::string>> runs_view(const std::vector<RunRow>& rows,
                                                const std::filesystem::path& results,
                                                std::size_t width);

}  // namespace difflab::cli
