#pragma once

// Includes that nearly every command needs, and the commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/project.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/text.h"

namespace difflab::cli {

namespace fs = std::filesystem;
using namespace study;  // which loads what commands are about

/// Adds a subcommand, or a few that belong together. To add one: write it in NAME_command.cpp,
/// declare it here, name it in main.cpp.
using AddCommand = void(CLI::App& app);

AddCommand add_sweep_command, add_evaluate_command, add_needle_command, add_work_command,
    add_jobs_commands, add_logs_command, add_watch_command, add_runs_commands, add_report_command,
    add_referee_command, add_reproduce_command, add_restore_command, add_config_command,
    add_compare_command, add_list_command, add_cost_commands, add_model_commands, add_show_command,
    add_bench_command, add_data_command, add_completion_commands;

/// Ends a callback that gives the program an exit code.
inline void exit_with(int code) {
  if (code != kDone) throw CLI::RuntimeError(code);
}

/// An experiment, or none, and overrides.
struct StudyArguments {
  std::string name;
  std::vector<std::string> overrides;

  /// Reads words, the first of which may be an experiment's name.
  static StudyArguments of(std::vector<std::string> words);
};

/// The names that `list` takes.
std::vector<std::string> listable();

/// Rows of cells as lines: columns as wide as their widest cell, two blanks between them, none at
/// the end. The first `left` columns are aligned to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    std::size_t left = std::string::npos);

}  // namespace difflab::cli
