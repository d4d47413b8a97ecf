#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace difflab::study {}

namespace difflab::cli {

using namespace study;  // which loads what commands are about

// One function per subcommand, each in NAME_command.cpp. To add one: write it, declare it here,
// call it in main.cpp. A callback stores the program's exit code if it is not 0.
void add_sweep_command(CLI::App& app, int& exit_code);
void add_evaluate_command(CLI::App& app, int& exit_code);
void add_needle_command(CLI::App& app, int& exit_code);
void add_work_command(CLI::App& app, int& exit_code);
void add_jobs_commands(CLI::App& app, int& exit_code);
void add_logs_command(CLI::App& app, int& exit_code);
void add_watch_command(CLI::App& app, int& exit_code);
void add_runs_commands(CLI::App& app);
void add_report_command(CLI::App& app);
void add_referee_command(CLI::App& app, int& exit_code);
void add_reproduce_command(CLI::App& app, int& exit_code);
void add_restore_command(CLI::App& app);
void add_config_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_cost_commands(CLI::App& app);
void add_model_commands(CLI::App& app);
void add_show_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_data_command(CLI::App& app);
void add_completion_commands(CLI::App& app);

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
