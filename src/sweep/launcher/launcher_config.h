#pragma once

#include <variant>

#include "sweep/launcher/local.h"
#include "sweep/launcher/slurm.h"

namespace difflab::sweep {

/// Where runs are executed: `launcher: {kind: local, workers: auto}`. The list is the registry.
using LauncherConfig = std::variant<LocalLauncher, SlurmLauncher>;

}  // namespace difflab::sweep
