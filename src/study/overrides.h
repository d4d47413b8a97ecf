#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace difflab::cli {

/// Whether a word of a command line is KEY=VALUE or ~KEY, and no name.
bool is_override(std::string_view word);

/// Without those that say where and how fast a study runs: its tables are the same.
std::vector<std::string> that_change_something(const std::vector<std::string>& overrides);

}  // namespace difflab::cli
