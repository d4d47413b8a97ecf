#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/log/metrics_log.h"
#include "sweep/estimate.h"
#include "sweep/standing.h"

namespace difflab::sweep {

/// Where one run stands at this moment.
struct WatchedRun {
  std::string label;
  RunState state = RunState::kNew;
  bool queued = false;               ///< Slurm has a task for it
  std::int64_t step = 0, steps = 0;  ///< 0 if it says nothing
  std::vector<double> curve;         ///< the watched metric, in the order of the steps
  std::optional<double> rate;        ///< steps per second of training, of a run that runs
  std::string problem;               ///< why it failed
};

/// A sweep at one moment.
struct WatchView {
  std::string metric;
  std::vector<WatchedRun> runs;
  double done = 0;                     ///< share of all work, failed runs' too, 0 to 1
  bool in_steps = true;                ///< work is training steps, not just runs
  std::optional<double> rate;          ///< work per second
  std::optional<double> seconds_left;  ///< nothing if nobody works
  std::string silence;                 ///< why the queue could not be asked

  int complete() const;
  /// Every run has its result, or has failed and is in nobody's hands.
  bool ended() const;
};

/// Looks at runs that other processes execute: reads their files, again and again, and writes
/// nothing. Whatever is missing, half written or gone counts as not there yet.
class Watch {
 public:
  /// @param metric of metrics.jsonl, e.g. "valid_loss"
  explicit Watch(std::string metric) : metric_(std::move(metric)) {}

  /// @param folders of the sweeps, where their submissions to Slurm lie
  /// @param now seconds of a clock that never goes back
  WatchView look(const std::vector<Run>& runs, const std::vector<std::filesystem::path>& folders,
                 double now);

 private:
  struct Memory {
    explicit Memory(const RunDirectory& run) : metrics(run.metrics()) {}
    MetricsTail metrics;
    std::vector<double> steps, seconds;  ///< of the lines that have both
    std::vector<double> curve;
    std::optional<Standing> complete;  ///< is not read again while its result is there
  };
  WatchedRun look_at(const Run& run);
  void read_metrics(Memory& memory) const;
  void ask_queue(const std::vector<std::filesystem::path>& folders, double now);
  void add_expectation(const std::vector<Run>& runs, WatchView& view, double now);

  std::string metric_;
  std::map<std::string, Memory> memory_;  // by run directory
  Queue queue_;
  double next_question_ = 0;
  std::optional<Estimate> speed_, estimate_;  // in work, in effort
};

}  // namespace difflab::sweep
