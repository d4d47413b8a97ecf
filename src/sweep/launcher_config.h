#pragma once

#include <variant>

#include "sweep/launcher/local.h"

namespace difflab::sweep {

/// Where runs are executed: `launcher: {kind: local, workers: auto}`. The list is the registry.
using LauncherConfig = std::variant<LocalLauncher>;

}  // namespace difflab::sweep
