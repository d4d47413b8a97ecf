// restore: the runs of committed references become finished runs of the results folder, so that a
// sweep that plans them trains only what else it asks for.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/runs/named_references.h"
#include "cli/sweep/known_runs.h"
#include "config/value/yaml.h"
#include "record/status.h"
#include "report/archive/rebuild.h"
#include "report/data/frame.h"
#include "study/project.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct RestoreOptions {
  std::vector<std::string> words;
  std::string to;
};

struct Restored {
  int written = 0, there = 0;
  std::vector<std::string> left_out;  ///< why, a line each
};

std::string lines_of(const std::vector<Json>& curve) {
  std::string lines;
  for (const Json& line : curve) lines += line.dump() + "\n";
  return lines;
}

// What of a run's folder the reference keeps; the result last, with which it is complete.
void write_run(const report::FrameRun& run, const sweep::Run& known, const std::string& from) {
  const auto& folder = known.directory;
  write_config(folder, known.config_text);
  auto provenance = run.provenance.is_object() ? run.provenance : Json::object();
  provenance["restored_from"] = from;
  write_file_atomically(folder.provenance(), provenance.dump(1) + "\n");
  write_file_atomically(folder.metrics(), lines_of(run.curve));
  Json result = {{"schema", kResultSchema}, {"id", known.id}, {"status", name_of(run.state)}};
  result.update(run.result);
  if (run.diverged_at) result["diverged_at_step"] = *run.diverged_at;
  write_file_atomically(folder.result(), result.dump(1) + "\n");
}

// The runs of one report folder, into the study's results.
void restore_folder(const fs::path& folder, const std::string& from, Study& study,
                    Restored& restored) {
  const auto archive = report::read_archive(folder, folder);
  for (const auto& run : archive.frame.runs()) {
    if (!run.has_result()) continue;
    try {
      add_known_run(study, run.plan);
    } catch (const UserError& error) {
      restored.left_out.emplace_back(error.what());
      continue;
    }
    const auto& known = study.points.back();
    if (state_of(known.directory) != RunState::kNew || fs::exists(known.directory.checkpoint())) {
      ++restored.there;  // or begun, which a sweep continues
      continue;
    }
    write_run(run, known, from);
    ++restored.written;
  }
}

Restored restore(const std::string& name, const fs::path& folder, const fs::path& results) {
  Restored restored;
  auto study = study_without_runs(results, name, name);
  const auto from = concat(name, "/reference");
  // What a tuning found is read off its own runs.
  for (const auto* inner : {"tuning", "tuning/shorter"}) {
    if (fs::exists(folder / inner / "runs.json"))
      restore_folder(folder / inner, from, study, restored);
  }
  restore_folder(folder, from, study, restored);
  return restored;
}

void restore_all(const RestoreOptions& options) {
  const auto asked = named_references(options.words);
  const auto results = options.to.empty() ? asked.results : fs::path(options.to);
  const auto place = fs::absolute(results).lexically_normal();
  require_writable(place);
  int failures = 0;
  for (const auto& name : asked.names) {
    try {
      const auto restored = restore(name, asked.folder(name), place);
      std::cout << fmt::format("{}: {} runs restored, {} were there\n", name, restored.written,
                               restored.there);
      if (restored.left_out.empty()) continue;
      std::cout << fmt::format("  {} left out, e.g. {}\n", restored.left_out.size(),
                               restored.left_out.front());
    } catch (const UserError& error) {
      std::cerr << fmt::format("error: {} cannot be restored: {}\n", name, error.what());
      ++failures;
    }
  }
  std::cout << fmt::format(
      "{} has them without their models; a sweep that plans them trains only what else it asks "
      "for\n",
      config::shown_path(place / "runs"));
  if (failures > 0)
    throw UserError(
        fmt::format("{} of {} references are not restored", failures, asked.names.size()));
}

}  // namespace

void add_restore_command(CLI::App& app) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* command = app.add_subcommand(
      "restore",
      "Take runs of committed references as finished: a sweep then trains only what is new");
  command->add_option("what", options->words,
                      "names below results/ that have a reference; none: all; results=DIR says "
                      "where they are");
  command->add_option("--to", options->to, "a results folder for the runs; none: the same");
  command->callback([options] { restore_all(*options); });
}

}  // namespace difflab::cli
