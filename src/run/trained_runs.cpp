#include "run/trained_runs.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "config/value/yaml.h"
#include "record/status.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& results, const std::string& training) {
  return results / "trainings" / training;
}

// A trained model, or the news that there is none. A run that was restored has neither.
bool can_be_taken(const RunDirectory& run) {
  std::error_code none;  // its folder may have been deleted since
  try {
    return fs::exists(run.checkpoint(), none) ||
           (state_of(run) == RunState::kDiverged && !is_restored(run));
  } catch (const UserError&) {  // a damaged result is no model, and nobody else's business
    return false;
  }
}

}  // namespace

fs::path results_of(const RunDirectory& run) {
  const auto runs = run.path.parent_path();
  return runs.filename() == "runs" ? runs.parent_path() : fs::path();
}

void note_training(const RunDirectory& run, const std::string& training) {
  const auto results = results_of(run);
  if (results.empty()) return;
  const auto folder = folder_of(results, training);
  std::error_code ignored;
  // Nothing is written where a link leads.
  if (fs::is_symlink(folder.parent_path(), ignored) || fs::is_symlink(folder, ignored)) return;
  fs::create_directories(folder, ignored);
  const auto file = folder / run.path.filename();
  const int made =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (made >= 0) ::close(made);
}

void forget_training(const RunDirectory& run, const std::string& training) {
  const auto results = results_of(run);
  std::error_code ignored;
  if (!results.empty()) fs::remove(folder_of(results, training) / run.path.filename(), ignored);
}

std::vector<RunDirectory> runs_with_training(const fs::path& results, const std::string& training,
                                             const std::string& without) {
  std::vector<RunDirectory> runs;
  if (results.empty()) return runs;
  for (const auto& note : paths_in(folder_of(results, training))) {
    const RunDirectory run{results / "runs" / note.filename()};
    if (note.filename() != without && can_be_taken(run)) runs.push_back(run);
  }
  return runs;
}

std::string training_of(config::Value config) {
  config.erase("evaluate");
  return training_id(read_run_config(config));
}

void note_older_trainings(const fs::path& results) {
  std::set<fs::path> noted;
  for (const auto& training : paths_in(results / "trainings")) {
    for (const auto& note : paths_in(training)) noted.insert(note.filename());
  }
  for (const auto& path : paths_in(results / "runs")) {
    const RunDirectory run{path};
    std::error_code none;
    if (noted.count(path.filename()) != 0 || !fs::exists(run.result(), none) || !can_be_taken(run))
      continue;
    try {
      note_training(run, training_of(config::load_yaml(run.config())));
    } catch (const UserError&) {  // of a version that this one cannot read
    }
  }
}

}  // namespace difflab
