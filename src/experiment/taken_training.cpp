#include "experiment/taken_training.h"

#include <filesystem>
#include <iostream>

#include "config/value/yaml.h"
#include "record/log/event_log.h"
#include "record/sealed_safetensors.h"
#include "record/status.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "run/trained_runs.h"
#include "train/checkpoint.h"
#include "train/event_watch.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

std::vector<RunDirectory> others_with_training(const RunConfig& config, const RunDirectory& run) {
  return runs_with_training(results_of(run), training_id(config), run.path.filename().string());
}

// Checks the files of the run itself: the index of trained runs only tells where to look.
void require_trained(const RunConfig& config, const RunDirectory& other) {
  if (training_of(config::load_yaml(other.config())) != training_id(config)) {
    throw UserError(concat(other.path.string(), ": has another training"));
  }
  const auto progress =
      progress_of(read_sealed_safetensors(other.checkpoint()), other.checkpoint());
  if (progress.step != config.train.steps && !has_stopped(config.train, progress)) {
    throw UserError(concat(other.path.string(), ": is trained for ", progress.step, " of ",
                           config.train.steps, " steps"));
  }
}

// A checkpoint that cannot be read is not the end either; the training says what is wrong with it.
bool is_trained(const RunConfig& config, const RunDirectory& run) {
  try {
    require_trained(config, run);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// Before anything else changes: without a checkpoint a curve that has gone further than this run
// is cut when it is trained.
void remove_checkpoints(const RunDirectory& run, const Lease* lease) {
  if (lease != nullptr) lease->require_held();
  std::error_code none;
  fs::remove(previous_checkpoint(run.checkpoint()), none);
  fs::remove(run.checkpoint(), none);
}

void take_curve(const RunDirectory& run, const RunDirectory& other, const Lease* lease) {
  const auto curve = read_file(other.metrics());
  if (lease != nullptr) lease->require_held();
  write_file_atomically(run.metrics(), curve, Sync::kBytes);
}

void take(const RunDirectory& run, const RunDirectory& other, const Lease* lease) {
  take_curve(run, other, lease);
  // Last, since with a checkpoint the run counts as begun. No writer changes such a file in place.
  share_file(other.checkpoint(), run.checkpoint());
}

}  // namespace

std::optional<RunDirectory> take_training(const RunConfig& config, const RunDirectory& run,
                                          const Lease* lease) {
  std::error_code none;
  const bool has_begun = fs::exists(run.checkpoint(), none);
  const auto others = others_with_training(config, run);
  if (has_begun && (others.empty() || is_trained(config, run))) return std::nullopt;
  for (const auto& other : others) {
    if (!fs::exists(other.checkpoint(), none)) continue;
    try {
      require_trained(config, other);
    } catch (const UserError& error) {
      std::cout << "a training is passed over: " << error.what() << '\n';
      continue;
    }
    if (has_begun) remove_checkpoints(run, lease);
    take(run, other, lease);
    const auto name = other.path.filename().string();
    std::cout << "trained by run " << name << ", only asked\n";
    note_event(run, "take training", {{"run", name}});
    return other;
  }
  return std::nullopt;
}

std::optional<std::pair<RunDirectory, Json>> diverged_twin(const RunConfig& config,
                                                           const RunDirectory& run,
                                                           const Lease* lease) {
  for (const auto& other : others_with_training(config, run)) {
    try {
      auto result = read_result(other);
      if (!result || result->value("status", "") != name_of(RunState::kDiverged)) continue;
      if (training_of(config::load_yaml(other.config())) != training_id(config)) continue;
      take_curve(run, other, lease);
      (*result)["id"] = run_id(config);
      note_event(run, "take training", {{"run", other.path.filename().string()}});
      return {{other, *std::move(result)}};
    } catch (const UserError& error) {
      std::cout << "a training is passed over: " << error.what() << '\n';
    }
  }
  return std::nullopt;
}

bool has_training(const std::string& config_json, const std::string& training) {
  const Json config = Json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return false;
  try {
    return training_of(config::from_json(config)) == training;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace difflab
