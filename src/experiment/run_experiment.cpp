#include "experiment/run_experiment.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <string>

#include "config/writer.h"
#include "evaluate/heldout.h"
#include "experiment/device.h"
#include "experiment/identity.h"
#include "kernel/library_attention.h"
#include "model/initialise.h"
#include "model/language_model.h"
#include "record/event_log.h"
#include "record/provenance.h"
#include "record/status.h"
#include "task/task.h"
#include "train/tensor_file.h"
#include "train/train_loop.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

// The figures of a finished training, taken from its last metrics line so that a resumed run
// reports what an undisturbed one does.
Json training_metrics(const RunConfig& config, const Task& task, const RunDirectory& directory,
                      const Progress& progress) {
  const auto tokens = static_cast<double>(progress.step * config.train.batch_size) *
                      static_cast<double>(task.sequence_length());
  Json metrics = {{"steps", progress.step},
                  {"steps_to_90_accuracy", nullptr},
                  {"time_to_90_accuracy_seconds", nullptr}};
  metrics.update(progress.milestones);
  const auto lines = read_metrics(directory);
  for (const char* key : {"train_loss", "valid_loss", "valid_accuracy"}) {
    if (!lines.empty() && lines.back().contains(key)) metrics[key] = lines.back()[key];
  }
  metrics["gradient_spikes"] = progress.spikes.count;
  metrics["valid_accuracy_chance"] = task.chance_accuracy();
  metrics["train_seconds"] = progress.train_seconds;
  metrics["tokens_per_second"] = tokens / progress.train_seconds;
  return metrics;
}

Json censored(const Json& metrics, const Progress& progress) {
  Json bounds = Json::object();
  if (metrics["steps_to_90_accuracy"].is_null()) {
    bounds["steps_to_90_accuracy"] = progress.step;
    bounds["time_to_90_accuracy_seconds"] = progress.train_seconds;
  }
  return bounds;
}

Json finished_result(const RunConfig& config, const RunDirectory& directory,
                     const EvaluationContext& context, const Progress& progress) {
  Json metrics = {{"parameters", context.model.parameter_count()}};
  metrics.update(training_metrics(config, context.task, directory, progress));
  for (const auto& [name, value] : context.model.statistics()) metrics[name] = value;
  Json evaluations = Json::object();
  for (const auto& evaluation : config.evaluate) {
    std::visit(
        [&](const auto& kind) {
          const auto found = kind.run(context);
          const std::string prefix = given_name(kind).empty() ? "" : concat(given_name(kind), "_");
          for (const auto& [key, value] : found.metrics.items()) metrics[prefix + key] = value;
          evaluations[result_name(evaluation)] = found.details;
        },
        evaluation);
  }
  return {{"schema", kResultSchema},
          {"id", run_id(config)},
          {"status", name_of(RunState::kFinished)},
          {"metrics", metrics},
          {"censored", censored(metrics, progress)},
          {"evaluations", evaluations}};
}

Json diverged_result(const RunConfig& config, const LanguageModel& model,
                     const Progress& progress) {
  return {{"schema", kResultSchema},
          {"id", run_id(config)},
          {"status", name_of(RunState::kDiverged)},
          {"diverged_at_step", progress.step},
          {"metrics",
           {{"parameters", model.parameter_count()}, {"train_seconds", progress.train_seconds}}},
          {"censored", Json::object()},
          {"evaluations", Json::object()}};
}

}  // namespace

RunEnd run_experiment(const RunConfig& config, const RunDirectory& directory,
                      const std::function<bool()>& stop_requested, Lease* lease) {
  const auto device = open_device(config.device);
  const auto seed = static_cast<std::uint64_t>(config.seed);
  at::set_num_threads(static_cast<int>(config.threads));
  Provenance provenance(directory, config.threads, config.seed, device.str(), TORCH_VERSION);
  if (const auto name = name_of_device(device); !name.empty()) provenance.note("device_name", name);

  kernel::take_library_attention_used();  // what an earlier run of this process used

  const auto task = build_task(config.task);
  LanguageModel model(config.model, task->vocab_size(), config.kernels);
  initialise(model, config.model, seed);
  if (config.init_from.given()) {
    const auto& path = config.init_from.path;
    load_parameters(model, Safetensors::parse(config.init_from.read(), path), path);
  }
  model.set_precision(config.precision);
  model.to(device);
  const EvaluationContext context{model, config.task, *task, seed};

  const auto outcome =
      train({model,
             *task,
             config.train,
             seed,
             config.cuda_graph,
             {run_id(config), config::canonical_json(config::write(config))},
             directory,
             [&](LanguageModel&) { return validation_metrics(context, config.train.eval_samples); },
             stop_requested,
             [lease] {
               if (lease != nullptr) lease->require_held();
             }});
  const auto& progress = outcome.progress;
  if (outcome.end == TrainEnd::kInterrupted) {
    write_status(directory, RunState::kInterrupted, progress.step, config.train.steps);
    return RunEnd::kInterrupted;
  }
  model.eval();
  const bool diverged = outcome.end == TrainEnd::kDiverged;
  const auto result = diverged ? diverged_result(config, model, progress)
                               : finished_result(config, directory, context, progress);
  if (lease != nullptr) lease->require_held();
  if (!device.is_cpu()) provenance.note("library_attention", kernel::take_library_attention_used());
  provenance.finish();
  const auto text = result.dump(1) + "\n";
  if (lease != nullptr) {
    lease->publish_result(text);
  } else {
    write_file_atomically(directory.result(), text);
  }
  const auto state = diverged ? RunState::kDiverged : RunState::kFinished;
  write_status(directory, state, progress.step, config.train.steps);
  note_event(directory, "finish", {{"state", name_of(state)}, {"step", progress.step}});
  return RunEnd::kComplete;
}

}  // namespace difflab
