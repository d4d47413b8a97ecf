#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sweep/launcher/launcher.h"

namespace difflab::sweep {

/// Somewhere that a `difflab-worker serve` process executes runs.
struct ServerPlace {
  std::string host;  ///< at the other end of a connection; empty: this machine
  int capacity = 1;  ///< runs at the same time
  /// The command line of the process; `run` is the folder of the first run that it gets.
  std::function<std::vector<std::string>(const std::filesystem::path& run)> command;
};

/// A launcher with one server per place, started when it gets its first run, and again after it was
/// lost. A host that is lost gets nothing for a while.
std::unique_ptr<Launcher> launch_in(std::vector<ServerPlace> places);

}  // namespace difflab::sweep
