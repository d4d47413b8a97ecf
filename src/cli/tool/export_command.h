#pragma once

#include <CLI/CLI.hpp>

namespace difflab::cli {

/// The kinds of `export` that write curves: csv and tensorboard.
void add_curve_exports(CLI::App& export_command);

}  // namespace difflab::cli
