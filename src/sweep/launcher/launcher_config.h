#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sweep/launcher/batch.h"
#include "sweep/launcher/local.h"
#include "sweep/launcher/pbs.h"
#include "sweep/launcher/slurm.h"
#include "sweep/launcher/ssh.h"

namespace difflab::sweep {

/// Where runs are executed: `launcher: {kind: local, workers: auto}`. The list is the registry. A
/// kind says memory_of_run() and has one of two functions: build(), if this process executes the
/// runs, or batch(), if it leaves them to a batch system.
using LauncherConfig = std::variant<LocalLauncher, SlurmLauncher, PbsLauncher, SshLauncher>;

/// The batch system of a launcher; null if it executes runs here.
std::unique_ptr<BatchSystem> batch_system(const LauncherConfig& config);

/// One of every kind, as it is by default.
std::vector<std::unique_ptr<BatchSystem>> batch_systems();

/// The kinds that leave runs to a batch system, as in a sentence: "slurm or pbs".
std::string batch_kinds();

/// Launcher that executes runs here, with its rules. @throws UserError if it is a batch system.
struct LaunchHere {
  std::unique_ptr<Launcher> launcher;
  Policy policy;
};
LaunchHere launch_here(const LauncherConfig& config, const std::filesystem::path& worker,
                       int threads_per_run, std::size_t runs);

/// Bytes that a run may take.
double memory_of_run(const LauncherConfig& config);

}  // namespace difflab::sweep
