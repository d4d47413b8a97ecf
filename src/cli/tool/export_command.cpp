// export csv, export tensorboard: the curves of runs for other programs.
#include "cli/tool/export_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "config/value/yaml.h"
#include "report/export/export.h"
#include "study/study.h"
#include "study/targets.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::vector<std::string> words;
  std::string to;
};

// Runs without a line of metrics are said, not exported.
std::vector<report::ExportedRun> runs_with_curves(const std::vector<Target>& targets) {
  std::vector<report::ExportedRun> runs;
  int empty = 0;
  for (const auto& [label, run] : runs_of(targets)) {
    if (read_metrics(run.directory).empty()) {
      ++empty;
    } else {
      runs.push_back({run.id, label, run.axes, run.directory});
    }
  }
  if (runs.empty()) {
    throw UserError(concat("none of the runs of ", title_of(targets), " has metrics yet"));
  }
  if (empty > 0) std::cerr << fmt::format("{} runs have no metrics yet and are left out\n", empty);
  return runs;
}

void export_csv(const ExportOptions& options) {
  const auto text = report::metrics_csv(runs_with_curves(find_targets(options.words)));
  if (options.to.empty()) {
    std::cout << text << std::flush;
  } else {
    write_named_file(fs::absolute(options.to), text);
  }
}

fs::path folder_for(const ExportOptions& options, const std::vector<Target>& targets) {
  if (!options.to.empty()) return fs::absolute(options.to).lexically_normal();
  const auto& target = targets.front();
  const bool sweep = !target.is_results && target.folder != target.runs.front().run.directory.path;
  if (targets.size() == 1 && sweep) return target.folder / "tensorboard";
  throw UserError("these runs have no common output folder; say --to FOLDER");
}

void export_tensorboard(const ExportOptions& options) {
  const auto targets = find_targets(options.words);
  const auto runs = runs_with_curves(targets);
  const auto folder = folder_for(options, targets);
  report::export_tensorboard(runs, folder);
  std::cout << fmt::format(
      "wrote the curves of {} runs; see them with\n  tensorboard --logdir {}\n", runs.size(),
      quoted_for_shell(config::shown_path(folder)));
}

CLI::App* add_kind(CLI::App& command, const char* name, const char* about,
                   const std::shared_ptr<ExportOptions>& options, const char* to) {
  auto* kind = command.add_subcommand(name, about);
  kind->add_option("what", options->words,
                   "outputs of frozen sweeps, experiments (KEY=VALUE as for sweep), results "
                   "folders, runs")
      ->required();
  kind->add_option("--to", options->to, to);
  return kind;
}

}  // namespace

void add_curve_exports(CLI::App& command) {
  const auto options = std::make_shared<ExportOptions>();
  add_kind(command, "csv", "Write the curves of runs as one table in long form", options,
           "the file; by default standard output")
      ->callback([options] { export_csv(*options); });
  add_kind(command, "tensorboard", "Write the curves of runs for TensorBoard", options,
           "the log folder; by default tensorboard/ in the sweep's output")
      ->callback([options] { export_tensorboard(*options); });
}

}  // namespace difflab::cli
