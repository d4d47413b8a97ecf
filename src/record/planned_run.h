#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {

/// Axis → value as the user wrote it, in sweep order, e.g. {{"model", "diff"}, {"seed", "0"}}.
using Axes = std::vector<std::pair<std::string, std::string>>;

/// One run that a study, a sweep or a report consists of, finished or not. Its configuration is
/// resolved and validated; sweeps and reports only pass it on.
struct PlannedRun {
  std::string id;
  Axes axes;
  Json config;                ///< the resolved run configuration (config::Value::to_json())
  std::string config_text;    ///< the same as YAML: what the worker reads from config.yaml
  RunDirectory directory;     ///< absolute; may not exist yet
  std::int64_t work = 1;      ///< what its progress counts, e.g. its training steps
  std::string training = "";  ///< runs with the same one share it (run/identity.h)
  double operations = 0;      ///< floating-point operations of its training; 0: not known
  std::string name = "";      ///< under which somebody looks at it; empty: its axes

  /// How long it takes in comparison with others of its sweep.
  double effort() const { return operations > 0 ? operations : static_cast<double>(work); }
  /// The name, else "model=diff seed=1", else the id.
  std::string label() const {
    if (!name.empty()) return name;
    std::vector<std::string> words;
    for (const auto& [axis, value] : axes) words.push_back(concat(axis, "=", value));
    return words.empty() ? id : join(words, " ");
  }
};

}  // namespace difflab
