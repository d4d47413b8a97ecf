#include "study/project.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>

#include "config/value/yaml.h"
#include "study/study.h"
#include "util/error.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBuildFile = "BUILD.json";  // also read by record/provenance.cpp
constexpr const char* kProject = "DIFFLAB_PROJECT";

bool is_checkout(const fs::path& folder) {
  return fs::is_regular_file(folder / "configs" / "config.yaml") &&
         fs::is_directory(folder / "experiments");
}

bool is_project(const fs::path& folder) {
  return fs::is_directory(folder / "configs") || fs::is_directory(folder / "experiments");
}

// Where pip puts difflab: configurations, experiments and references beside the programs' folder.
fs::path installed() {
  const auto folder = executable_path().parent_path().parent_path();
  return fs::exists(folder / kBuildFile) && is_checkout(folder) ? folder : fs::path();
}

// The project of an installed difflab: the nearest folder from the working directory upwards, else
// that directory, in which experiments may come to lie.
fs::path nearest_project() {
  const auto here = fs::current_path();
  for (auto folder = here; folder != folder.parent_path(); folder = folder.parent_path()) {
    if (is_project(folder)) return folder;
  }
  return here;
}

fs::path upwards_from(fs::path folder) {
  while (!is_checkout(folder)) {
    if (folder == folder.parent_path()) return {};
    folder = folder.parent_path();
  }
  return folder;
}

// A folder that is a link to one around it has no end.
constexpr int kDeepest = 8;

std::vector<std::string> experiments_in(const config::Library& files,
                                        std::vector<fs::path>* passed_over = nullptr,
                                        const std::string& below = "", int depth = 0) {
  const auto group = concat("experiment", below.empty() ? "" : "/", below);
  const auto within = [&](const std::string& name) {
    return below.empty() ? name : concat(below, "/", name);
  };
  std::vector<std::string> names;
  for (const auto& name : files.options(group, passed_over)) names.push_back(within(name));
  for (const auto& folder : depth < kDeepest ? files.groups(group) : std::vector<std::string>()) {
    const auto more = experiments_in(files, passed_over, within(folder), depth + 1);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

}  // namespace

fs::path find_checkout() {
  if (const auto root = environment("DIFFLAB_ROOT"); !root.empty()) {
    if (is_checkout(root)) return fs::absolute(root);
    throw UserError(concat("DIFFLAB_ROOT is ", root,
                           "; expected a folder with configs/ and experiments/ in it"));
  }
  if (auto folder = installed(); !folder.empty()) return folder;
  // A project may look like a checkout to whoever stands in it.
  const bool has_project = !environment(kProject).empty();
  const auto here = fs::current_path(), program = executable_path().parent_path();
  for (const auto& start : has_project ? std::array{program, here} : std::array{here, program}) {
    if (auto found = upwards_from(start); !found.empty()) return found;
  }
  throw UserError(concat("no configs/ and experiments/ in ", fs::current_path().string(),
                         " or above it; go to a difflab checkout or set DIFFLAB_ROOT"));
}

fs::path find_project() {
  const auto given = environment(kProject);
  if (given.empty()) return installed().empty() ? find_checkout() : nearest_project();
  const fs::path folder = (fs::current_path() / given).lexically_normal();
  if (is_project(folder) || (fs::is_directory(folder) && !installed().empty()))
    return folder.has_filename() ? folder : folder.parent_path();
  throw UserError(concat("the project folder is ", given,
                         fs::is_directory(folder) ? "" : ", which does not exist",
                         "; expected a folder with experiments/ or configs/ in it"));
}

config::SearchPath search_path() {
  const fs::path project = find_project(), checkout = find_checkout();
  auto path = config::SearchPath::of_project(project);
  if (project == checkout) return path;
  const auto rest = config::SearchPath::of_project(checkout);
  path.directories.insert(path.directories.end(), rest.directories.begin(), rest.directories.end());
  path.groups.insert(path.groups.end(), rest.groups.begin(), rest.groups.end());
  return path;
}

std::vector<std::string> all_experiments() {
  return experiments_in(config::Library(search_path()));
}

std::vector<std::string> own_experiments() {
  const auto project = find_project();
  std::vector<fs::path> passed_over;
  auto names =
      experiments_in(config::Library(config::SearchPath::of_project(project)), &passed_over);
  for (const auto& path : passed_over) {
    std::cerr << concat(config::shown_path(path), " is skipped: it is not a file\n");
  }
  if (names.empty())
    throw UserError(
        concat(project.string(), " has no experiments; expected experiments/NAME.yaml"));
  return names;
}

std::string project_option() {
  const auto project = find_project();
  if (project == find_checkout()) return "";
  return concat(" --project ", quoted_for_shell(project.string()));
}

void take_project(std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--project";
  std::optional<std::string> folder;
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    const std::string_view word = words[i];
    const bool apart = word == kOption;
    if (!apart && !word.starts_with(concat(kOption, "="))) {
      ++i;
      continue;
    }
    if (folder) throw UserError("--project is given twice");
    const bool has_folder = !apart || i + 1 < words.size();
    folder = !has_folder ? "" : apart ? words[i + 1] : words[i].substr(kOption.size() + 1);
    if (folder->empty()) throw UserError("--project has no folder after it");
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(first, first + (apart ? 2 : 1));
  }
  if (folder) ::setenv(kProject, fs::absolute(*folder).c_str(), /*overwrite=*/1);
}

fs::path find_worker() {
  const auto given = environment("DIFFLAB_WORKER");
  const bool is_given = !given.empty();
  const fs::path worker =
      is_given ? fs::absolute(given) : executable_path().parent_path() / "difflab-worker";
  if (::access(worker.c_str(), X_OK) == 0 && fs::is_regular_file(worker)) return worker;
  throw UserError(concat("there is no worker program ", worker.string(),
                         is_given ? " (from DIFFLAB_WORKER)" : "",
                         "; ./difflab builds it, as does cmake --build --preset release"));
}

void become_worker(const std::vector<std::string>& arguments) {
  const std::string worker = find_worker().string();
  std::vector<char*> argv{const_cast<char*>(worker.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::cout << std::flush;
  ::execv(worker.c_str(), argv.data());
  throw UserError(concat("cannot start ", worker, ": ", std::strerror(errno)));
}

std::vector<std::string> python() {
  if (const auto installing = installing_python(); !installing.empty()) return {installing};
  const auto own = find_checkout() / ".venv" / "bin" / "python";
  if (::access(own.c_str(), X_OK) == 0) return {own.string()};
  return {"/usr/bin/env", "python3"};
}

RunDirectory find_run(const std::string& run, const fs::path& results) {
  if (fs::exists(RunDirectory{run}.config())) return {fs::canonical(run)};
  std::vector<std::string> found;
  for (const auto& path : paths_in(results / "runs")) {
    const auto id = path.filename().string();
    if (id.starts_with(run) && fs::exists(RunDirectory{path}.config())) found.push_back(id);
  }
  if (found.size() == 1) return {results / "runs" / found.front()};
  if (found.empty()) {
    throw UserError(concat("there is no run ", run, " in ", (results / "runs").string(),
                           "; runs.json of an experiment's output lists their ids"));
  }
  throw UserError(concat(found.size(), " runs begin with '", run, "': ", join(found)));
}

void require_writable(const fs::path& folder) {
  make_directories(folder);
  remove_abandoned_temporaries(folder);
  // A file without a name: nothing is left of it however this process ends.
  const int probe = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe >= 0) {
    ::close(probe);
    return;
  }
  const bool unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;  // e.g. NFS
  if (unknown && ::access(folder.c_str(), W_OK) == 0) return;
  fail_at("write in", folder);
}

}  // namespace difflab::study
