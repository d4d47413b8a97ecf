#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/run_directory.h"
#include "record/status.h"
#include "util/json.h"

namespace difflab::sweep {

/// Axis → value as the user wrote it, in sweep order, e.g. {{"model", "diff"}, {"seed", "0"}}.
using Axes = std::vector<std::pair<std::string, std::string>>;

/// One point of a sweep. Its configuration is resolved and validated; the sweep only passes it on.
struct Run {
  std::string id;
  Axes axes;
  Json config;                ///< the resolved run configuration, for the report
  std::string config_text;    ///< the same as YAML: what the worker reads from config.yaml
  RunDirectory directory;     ///< absolute; may not exist yet
  std::int64_t work = 1;      ///< what its progress counts, e.g. its training steps
  std::string training = "";  ///< runs with the same one share it (run/identity.h)
  double operations = 0;      ///< floating-point operations of its training; 0: not known

  /// How long it takes in comparison with others of its sweep.
  double effort() const { return operations > 0 ? operations : static_cast<double>(work); }
  /// "model=diff seed=1", or the id for a sweep without axes.
  std::string label() const;
};

/// The states of many runs in one go. @throws UserError that names every damaged result.
std::vector<RunState> states_of(const std::vector<Run>& runs);

/// The first point of every id, in order: points that resolve to the same configuration share a
/// run directory and run once.
std::vector<Run> distinct(const std::vector<Run>& points);

}  // namespace difflab::sweep
