#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "record/safetensors.h"
#include "util/json.h"

namespace difflab {

class Optimizer;

/// Counts the steps whose gradient norm stands out: more than 5 × the median of the steps before
/// it, of the last 100, once 20 are known.
struct SpikeCounter {
  static constexpr double kFactor = 5;
  static constexpr std::size_t kWindow = 100, kFewest = 20;

  std::int64_t count = 0;
  std::deque<double> recent;  ///< norms of the last steps, oldest first

  void add(double grad_norm);
};

/// Where a run stands between two steps, beside the tensors.
struct Progress {
  std::int64_t step = 0;             ///< steps done
  std::int64_t optimizer_steps = 0;  ///< those, and what the optimiser did in a stage before
  std::uint64_t metrics_length = 0;  ///< bytes of metrics.jsonl that belong to them
  double train_seconds = 0;
  double loss_sum = 0;  ///< of the steps since the last metrics line
  std::int64_t loss_count = 0;
  SpikeCounter spikes = {};
  Json milestones = Json::object();  ///< first steps that reached something, see train_loop.h
  Json rows = Json::object();        ///< looks in a row that have found an event so far
  Json looks = Json::object();       ///< what looks for events saw, see event_watch.h
};

/// Whose checkpoint it is.
struct RunIdentity {
  std::string id;
  std::string config;  ///< the resolved configuration as JSON, kept for whoever reads the file
  /// True if a run with this configuration has the same training, so that its checkpoint will do.
  std::function<bool(const std::string& config)> same_training = [](const auto&) { return false; };
};

/// Writes parameters under their names, the optimiser's state under names that begin with its own
/// (optimizer.muon.momentum.NAME), and progress, run id, configuration and a checksum in the
/// metadata; atomically (safetensors, record/safetensors.h). What stood at `path` is kept as
/// previous_checkpoint(path).
void save_checkpoint(const std::filesystem::path& path, const RunIdentity& run,
                     const Optimizer& optimizer, const Progress& progress);

/// Where save_checkpoint keeps the checkpoint before, in case the newest is damaged.
std::filesystem::path previous_checkpoint(const std::filesystem::path& path);

/// Puts the optimiser and its model back where the checkpoint was taken. Empty if there is no file.
/// @throws UserError if the file is damaged or of another training.
std::optional<Progress> load_checkpoint(const std::filesystem::path& path, const RunIdentity& run,
                                        Optimizer& optimizer);

/// Gives the optimiser and its model what the checkpoint of another training holds: parameters,
/// state and the number of its steps. @throws UserError if it does not fit.
void take_state(const Safetensors& checkpoint, const std::filesystem::path& path,
                Optimizer& optimizer);

/// Where the training stood whose checkpoint this is. @throws UserError if it does not say.
Progress progress_of(const Safetensors& checkpoint, const std::filesystem::path& path);

}  // namespace difflab
