#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "config/fields.h"
#include "sweep/launcher.h"
#include "sweep/launcher/worker_count.h"

namespace difflab::sweep {

/// Runs on this machine, as children of one `difflab-worker serve` process. That process loads
/// LibTorch once and forks a child per run, so that a run starts in milliseconds and a crash takes
/// only its own run. If it is killed itself, the next run starts another.
struct LocalLauncher {
  static constexpr std::string_view kKind = "local";
  static constexpr std::string_view kAbout = "worker processes on this machine";

  WorkerCount workers;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("workers", workers, "runs at the same time; auto: cores / threads per run");
  }

  /// `worker`: the difflab-worker program.
  std::unique_ptr<Launcher> build(const std::filesystem::path& worker, int threads_per_run) const;
};

}  // namespace difflab::sweep
