#include "study/project.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "util/error.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

bool is_project(const fs::path& folder) {
  return fs::is_directory(folder / "configs") && fs::is_directory(folder / "experiments");
}

fs::path upwards_from(fs::path folder) {
  while (!is_project(folder)) {
    if (folder == folder.parent_path()) return {};
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

fs::path find_project() {
  if (const char* root = std::getenv("DIFFLAB_ROOT"); root != nullptr && *root != '\0') {
    if (is_project(root)) return fs::absolute(root);
    throw UserError(concat("DIFFLAB_ROOT is ", root,
                           "; expected a folder with configs/ and experiments/ in it"));
  }
  for (const auto& start : {fs::current_path(), executable_path().parent_path()}) {
    if (auto found = upwards_from(start); !found.empty()) return found;
  }
  throw UserError(concat("no configs/ and experiments/ in ", fs::current_path().string(),
                         " or above it; go to a difflab checkout or set DIFFLAB_ROOT"));
}

fs::path find_worker() {
  const char* given = std::getenv("DIFFLAB_WORKER");
  const bool is_given = given != nullptr && *given != '\0';
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

RunDirectory find_run(const std::string& run, const fs::path& results) {
  if (fs::exists(RunDirectory{run}.config())) return {fs::canonical(run)};
  std::vector<std::string> found;
  std::error_code none;  // no folder: no run
  for (const auto& entry : fs::directory_iterator(results / "runs", none)) {
    const auto id = entry.path().filename().string();
    if (id.starts_with(run) && fs::exists(RunDirectory{entry.path()}.config())) found.push_back(id);
  }
  if (found.size() == 1) return {results / "runs" / found.front()};
  if (found.empty()) {
    throw UserError(concat("there is no run ", run, " in ", (results / "runs").string(),
                           "; runs.json of an experiment's output lists their ids"));
  }
  std::sort(found.begin(), found.end());
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
  throw UserError(concat("cannot write in ", folder.string(), ": ", std::strerror(errno)));
}

}  // namespace difflab::cli
