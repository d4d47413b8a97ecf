#pragma once

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "experiment/run_experiment.h"
#include "record/log/event_log.h"
#include "run/identity.h"
#include "run/input_files.h"
#include "support/catch.h"

namespace difflab::testing {

/// Asks a run to stop when it has looked `times` times before.
inline std::function<bool()> stop_after(int times) {
  return [times, asked = std::make_shared<int>(0)] { return (*asked)++ == times; };
}

/// A run of a few steps, asked nothing.
inline RunConfig smallest_run() {
  RunConfig config;
  config.model.d_model = 16;
  config.model.attention = DifferentialAttentionConfig{.heads = 1};
  config.task = NeedleRecallConfig{.needle = {.length = 24}};
  config.train = {
      .steps = 8, .batch_size = 4, .warmup_steps = 2, .eval_every = 3, .eval_samples = 16};
  return config;
}

/// The same JSON without its times.
inline Json without_times(Json json) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) {
      if (it.key().ends_with("_seconds") || it.key().ends_with("_per_second")) {
        it = json.erase(it);
      } else {
        it.value() = without_times(it.value());
        ++it;
      }
    }
  } else if (json.is_array()) {
    for (auto& item : json) item = without_times(item);
  }
  return json;
}

/// What a run has found, times aside.
struct Outcome {
  Json result, metrics;
};

inline Outcome outcome_of(const RunDirectory& run) {
  Json metrics = Json::array();
  for (const auto& line : read_metrics(run)) metrics.push_back(without_times(line));
  return {without_times(*read_result(run)), metrics};
}

/// A results folder with runs as a sweep leaves them.
class Results {
 public:
  std::filesystem::path path() const { return folder_.path() / "results"; }
  RunDirectory folder_of(const RunConfig& config) const {
    return {path() / "runs" / run_id(config)};
  }
  /// As a sweep that is about to start it.
  RunDirectory planned(const RunConfig& config) const {
    const auto run = folder_of(config);
    make_directories(run.path);
    write_file_atomically(run.config(), config::to_yaml(config::write(config)));
    return run;
  }
  RunDirectory run(const RunConfig& config) const {
    const auto run = planned(config);
    CATCH_REQUIRE(run_experiment(config, run, [] { return false; }) == RunEnd::kComplete);
    return run;
  }

 private:
  TemporaryFolder folder_;
};

/// What is wrong with the files that a run names; it gets the hashes of those that are there.
inline std::string problem_of_files(RunConfig& run) {
  config::Problems problems;
  const auto nowhere = config::Value::map();
  config::PlacedCheck check(nowhere, "", problems);
  resolve_input_files(
      run, [](const auto&, const auto& path) { return fs::path(path); }, check);
  return problems.text();
}

/// Whether a run has trained itself: its checkpoints tell.
inline bool has_trained(const RunDirectory& run) {
  for (const auto& event : read_events(run).records) {
    if (event.at("event") == "checkpoint") return true;
  }
  return false;
}

}  // namespace difflab::testing
