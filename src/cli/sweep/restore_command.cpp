// restore: the runs of committed references become finished runs of the results folder, so that a
// sweep that plans them trains only what else it asks for.

#include "cli/commands.h"
#include "cli/runs/named_references.h"
#include "cli/sweep/run_study.h"
#include "config/value/yaml.h"
#include "record/lease.h"
#include "record/status.h"
#include "referee/referee.h"
#include "report/archive/rebuild.h"
#include "report/archive/reproduction.h"
#include "report/data/frame.h"
#include "util/files.h"

namespace difflab::cli {
namespace {

struct RestoreOptions {
  std::vector<std::string> words;
  std::optional<std::string> to;
};

struct Restored {
  int written = 0, updated = 0, there = 0, shared = 0;
  std::vector<std::string> left_out;  ///< why, a line each
};

// Where the runs of one reference go, and what its reports read off them.
struct Restoration {
  std::string name;
  Study& study;
  Restored& restored;
};

std::string lines_of(const std::vector<Json>& curve) {
  std::string lines;
  for (const Json& line : curve) lines += line.dump() + "\n";
  return lines;
}

// The result that the run had: what a report reads off curves and cells is read off them again.
Json result_of(const report::FrameRun& run, const report::Study& study) {
  Json result = {{"schema", kResultSchema}, {"id", run.plan.id}, {"status", name_of(run.state)}};
  result.update(run.result);
  for (const auto& key : report::metrics_of_report(study)) {
    result["metrics"].erase(key);
    if (result.contains("censored")) result["censored"].erase(key);
  }
  if (run.diverged_at) result["diverged_at_step"] = *run.diverged_at;
  return result;
}

Json provenance_of(const report::FrameRun& run, const std::string& name) {
  auto provenance = run.provenance.is_object() ? run.provenance : Json::object();
  provenance["restored_from"] = name + "/reference";
  return provenance;
}

// Writes the part of a run's folder that the reference keeps; last the result, which completes it.
void write_run(const report::FrameRun& run, const sweep::Run& known, const Json& result,
               const std::string& name) {
  const auto& folder = known.directory;
  write_config(folder, known.config_text);
  write_file_atomically(folder.provenance(), provenance_of(run, name).dump(1) + "\n");
  write_file_atomically(folder.metrics(), lines_of(run.curve));
  write_file_atomically(folder.result(), result.dump(1) + "\n");
}

// A run that nobody has, nor works on while it is written.
bool write_new(const report::FrameRun& run, const sweep::Run& known, const Json& result,
               const std::string& name) {
  const auto& folder = known.directory;
  if (state_of(folder) != RunState::kNew) return false;
  write_config(folder, known.config_text);
  const auto lease = Lease::acquire_if_free(folder);
  if (!lease || fs::exists(folder.result()) || fs::exists(folder.checkpoint())) return false;
  write_run(run, known, result, name);
  return true;
}

// The reference that a run was restored from, "headline/reference"; empty if it was not.
std::string restored_from(const RunDirectory& folder) {
  return is_restored(folder) ? read_provenance(folder)->value("restored_from", "") : "";
}

// One that this reference restored before it was made anew.
bool bring_up_to_date(const report::FrameRun& run, const sweep::Run& known, const Json& result,
                      const std::string& name) {
  const auto& folder = known.directory;
  if (restored_from(folder) != name + "/reference") return false;
  const bool is_same = read_result(folder) == result &&
                       read_provenance(folder) == provenance_of(run, name) &&
                       read_metrics(folder) == run.curve;
  const auto lease = is_same ? nullptr : Lease::acquire_if_free(folder);
  if (!lease) return false;
  write_run(run, known, result, name);
  return true;
}

// A run that another reference has restored.
bool is_of_another(const RunDirectory& folder, const std::string& name) {
  const auto from = restored_from(folder);
  return !from.empty() && from != name + "/reference";
}

// Writes the view of this reference beside a run that another one restored: each keeps the rows
// that its own report looks at. False if they are there.
bool write_view(const report::FrameRun& run, const RunDirectory& folder, const Json& result,
                const std::string& name) {
  const auto file = folder.restored(name);
  const Json view = {
      {"result", result}, {"curve", run.curve}, {"provenance", provenance_of(run, name)}};
  const auto text = view.dump() + "\n";
  if (fs::exists(file) && read_file(file) == text) return false;
  make_directories(file.parent_path());
  write_file_atomically(file, text);
  return true;
}

// The runs of one report folder.
void restore_folder(const fs::path& folder, const Restoration& into) {
  const auto archive = report::read_archive(folder, folder);
  for (const auto& run : archive.frame.runs()) {
    if (!run.has_result()) continue;
    try {
      add_known_run(into.study, run.plan);
    } catch (const UserError& error) {
      into.restored.left_out.emplace_back(error.what());
      continue;
    }
    const auto& known = into.study.points.back();
    const auto result = result_of(run, archive.study);
    if (write_new(run, known, result, into.name)) {
      ++into.restored.written;
    } else if (bring_up_to_date(run, known, result, into.name)) {
      ++into.restored.updated;
    } else if (is_of_another(known.directory, into.name) &&
               write_view(run, known.directory, result, into.name)) {
      ++into.restored.shared;
    } else {
      ++into.restored.there;  // or begun, which a sweep continues
    }
  }
}

Restored restore(const std::string& name, const fs::path& folder, const fs::path& results) {
  Restored restored;
  auto study = study_without_runs(results, name, name);
  const Restoration into{name, study, restored};
  // The findings of a tuning are read off its own runs.
  for (const auto* inner : {"tuning", "tuning/shorter"}) {
    if (fs::exists(folder / inner / "runs.json")) restore_folder(folder / inner, into);
  }
  restore_folder(folder, into);
  return restored;
}

// References of a project, else those that come with difflab.
NamedReferences references_of(std::vector<std::string> words) {
  const bool says_where = std::any_of(
      words.begin(), words.end(), [](const auto& word) { return word.starts_with("results="); });
  if (!says_where && referee::reference_names(find_project() / "results").empty())
    words.push_back(concat("results=", (find_checkout() / "results").string()));
  return named_references(words);
}

fs::path place_of_runs(const RestoreOptions& options) {
  const auto place = options.to ? fs::path(*options.to) : named_results(options.words);
  if (place.empty()) throw UserError("--to has no folder after it");
  return fs::absolute(place).lexically_normal();
}

void restore_all(const RestoreOptions& options) {
  const auto asked = references_of(options.words);
  const auto place = place_of_runs(options);
  require_writable(place);
  const bool named = std::any_of(options.words.begin(), options.words.end(),
                                 [](const auto& word) { return word.find('=') == word.npos; });
  std::size_t failures = 0;
  for (const auto& name : asked.names) {
    try {
      const auto restored = restore(name, asked.folder(name), place);
      std::cout << fmt::format("{}: {} runs restored, {} existed", name, restored.written,
                               restored.there);
      if (restored.updated > 0)
        std::cout << fmt::format(", {} brought up to date", restored.updated);
      if (restored.shared > 0)
        std::cout << fmt::format(", {} shared by another reference", restored.shared);
      std::cout << '\n';
      if (restored.left_out.empty()) continue;
      std::cout << fmt::format("  {} left out, e.g. {}\n", restored.left_out.size(),
                               restored.left_out.front());
    } catch (const UserError& error) {
      std::cerr << fmt::format("{}{} cannot be restored: {}\n", named ? "error: " : "", name,
                               error.what());
      ++failures;
    }
  }
  if (failures < asked.names.size())
    std::cout << fmt::format(
        "{} has them, without models; a sweep that plans them trains only the rest\n",
        config::shown_path(place / "runs"));
  if (failures > 0 && (named || failures == asked.names.size()))
    throw UserError(fmt::format("{} of {} references not restored", failures, asked.names.size()));
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
