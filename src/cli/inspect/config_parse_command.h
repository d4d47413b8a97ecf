#pragma once

#include <CLI/CLI.hpp>

namespace difflab::cli {

/// `difflab config parse`, a command of `difflab config`.
void add_config_parse_command(CLI::App& config_command);

}  // namespace difflab::cli
