#include "experiment/run_experiment.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "config/schema/writer.h"
#include "evaluate/language/heldout.h"
#include "experiment/ask.h"
#include "experiment/device.h"
#include "experiment/saved_run.h"
#include "experiment/taken_training.h"
#include "kernel/attention_head.h"
#include "kernel/operation/library_attention.h"
#include "model/language_model.h"
#include "record/log/event_log.h"
#include "record/provenance.h"
#include "record/status.h"
#include "run/identity.h"
#include "run/trained_runs.h"
#include "task/base/task.h"
#include "train/tensor_file.h"
#include "train/train_loop.h"
#include "util/error.h"
#include "util/files.h"
#include "util/timing.h"

namespace difflab {
namespace {

// The figures of a finished training, taken from its last metrics line so that a resumed run
// reports what an undisturbed one does.
Json training_metrics(const RunConfig& config, const Task& task, const RunDirectory& directory,
                      const Progress& progress) {
  const auto tokens =
      static_cast<double>(progress.step * config.train.batch_size) * task.mean_length();
  Json metrics = {{"steps", progress.step},
                  {"steps_to_90_accuracy", nullptr},
                  {"time_to_90_accuracy_seconds", nullptr}};
  for (const auto& event : config.train.events) {
    metrics[event.steps_key()] = nullptr;
    metrics[event.seconds_key()] = nullptr;
  }
  metrics.update(progress.milestones);
  const auto lines = read_metrics(directory);
  for (const char* key : {"train_loss", "valid_loss", "valid_accuracy"}) {
    if (!lines.empty() && lines.back().contains(key)) metrics[key] = lines.back()[key];
  }
  metrics["gradient_spikes"] = progress.spikes.count;
  metrics["valid_accuracy_chance"] = task.chance_accuracy();
  metrics["train_seconds"] = progress.train_seconds;
  metrics["tokens_per_second"] =
      progress.step > 0 ? Json(tokens / progress.train_seconds) : Json(nullptr);
  return metrics;
}

// Events that had not come when training ended, with its last step or its seconds as bounds.
Json censored(const Json& metrics, const Progress& progress) {
  Json bounds = Json::object();
  for (const auto& [key, value] : metrics.items()) {
    if (!value.is_null()) continue;
    if (key.starts_with("steps_to_")) bounds[key] = progress.step;
    if (key.starts_with("time_to_")) bounds[key] = progress.train_seconds;
  }
  return bounds;
}

Json with_looks(Json result, const Progress& progress) {
  if (!progress.looks.empty()) result["looks"] = progress.looks;
  return result;
}

Json finished_result(const RunConfig& config, const RunDirectory& directory,
                     const EvaluationContext& context, const Progress& progress,
                     const std::vector<Answer>& answers) {
  Json metrics = {{"parameters", context.model.parameter_count()}};
  metrics.update(training_metrics(config, context.task, directory, progress));
  for (const auto& [name, value] : context.model.statistics()) metrics[name] = value;
  if (metrics.contains("lambda.0")) {  // copied first: an object that grows moves its members
    const Json ends[] = {metrics["lambda.0"], metrics[concat("lambda.", config.model.layers - 1)]};
    metrics["lambda_first"] = ends[0];  // of layers, whatever the depth
    metrics["lambda_last"] = ends[1];
  }
  Json evaluations = Json::object();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto prefix = metric_prefix(config.evaluate[i]);
    for (const auto& [key, value] : answers[i].metrics.items()) metrics[prefix + key] = value;
    evaluations[result_name(config.evaluate[i], config.task)] = answers[i].details;
  }
  return with_looks({{"schema", kResultSchema},
                     {"id", run_id(config)},
                     {"status", name_of(RunState::kFinished)},
                     {"metrics", metrics},
                     {"censored", censored(metrics, progress)},
                     {"evaluations", evaluations}},
                    progress);
}

Json diverged_result(const RunConfig& config, const LanguageModel& model,
                     const Progress& progress) {
  Json metrics = {{"parameters", model.parameter_count()},
                  {"train_seconds", progress.train_seconds}};
  for (const auto& [key, value] : progress.milestones.items()) {
    if (key.starts_with("steps_to_")) metrics[key] = value;  // what it reached before
  }
  return with_looks({{"schema", kResultSchema},
                     {"id", run_id(config)},
                     {"status", name_of(RunState::kDiverged)},
                     {"diverged_at_step", progress.step},
                     {"metrics", metrics},
                     {"censored", Json::object()},
                     {"evaluations", Json::object()}},
                    progress);
}

/// Facts that a run's numbers depend on and its configuration does not say. Processors of one name
/// may have other instructions, which round differently.
Json facts_of(const c10::Device& device) {
  Json facts{{"libtorch", TORCH_VERSION},
             {"device", device.str()},
             {"instruction_set", kernel::instruction_set()}};
  if (const auto name = name_of_device(device); !name.empty()) facts["device_name"] = name;
  return facts;
}

/// A run at work: what it is, where its files lie, and who may write them.
class Work {
 public:
  Work(const RunConfig& config, const RunDirectory& directory,
       const std::function<bool()>& stop_requested, Lease* lease, int cores)
      : config_(config),
        directory_(directory),
        stop_requested_(stop_requested),
        lease_(lease),
        device_(open_device(config.device)),
        lanes_(device_.is_cpu() ? std::max(1, cores / static_cast<int>(config.threads)) : 1),
        provenance_(directory, config.threads, config.seed, facts_of(device_)) {
    kernel::take_library_attention_used();  // what an earlier run of this process used
  }

  RunEnd run() {
    try {
      const auto end = do_all();
      note_time(directory_, spent_);
      if (end == RunEnd::kInterrupted) note_stop();
      return end;
    } catch (...) {
      if (lease_ == nullptr || lease_->held()) note_time(directory_, spent_);
      note_stop();
      throw;
    }
  }

 private:
  // A full disk must not end a run for the sake of its news.
  void note_stop() {
    if (lease_ != nullptr && !lease_->held()) return;
    try {
      provenance_.stop();
    } catch (const UserError&) {
    }
  }

  RunEnd do_all() {
    if (const auto twin = diverged_twin(config_, directory_, lease_)) {
      const auto& [other, result] = *twin;
      note_source(other);
      return publish(result, RunState::kDiverged,
                     result.value("diverged_at_step", std::int64_t{0}));
    }
    const auto other = take_training(config_, directory_, lease_);
    if (other) {
      note_source(*other);
    } else if (std::filesystem::exists(directory_.checkpoint())) {
      for (const char* key : kSource) provenance_.keep(key);  // an earlier session took it
      provenance_.keep(kFingerprints);
    }
    if (!std::filesystem::exists(directory_.checkpoint())) {
      forget_training(directory_, training_id(config_));
    }
    if (const auto change = provenance_.change(); !change.empty()) {
      std::cout << "continuing what other code or another machine began: " << change << '\n';
      note_event(directory_, "other origin", {{"message", change}});
    }
    const auto task = build_task(config_.task);
    auto model = untrained_model(*task);
    const EvaluationContext context{*model, config_.task, *task, seed(), lanes_};
    const auto outcome = train(context_of_training(context));
    const auto& progress = outcome.progress;
    spent_ += outcome.spent;
    if (outcome.spent.training > 0) {  // what was taken was damaged
      for (const char* key : kSource) provenance_.drop(key);
    }
    if (outcome.end == TrainEnd::kInterrupted) {
      write_status(directory_, RunState::kInterrupted, position(progress.step), "",
                   unfinished_stage(config_, directory_));
      return RunEnd::kInterrupted;
    }
    model->eval();
    const bool diverged = outcome.end == TrainEnd::kDiverged;
    if (!diverged) note_training(directory_, training_id(config_));
    const auto result =
        diverged ? diverged_result(config_, *model, progress)
                 : finished_result(config_, directory_, context, progress, answers(context));
    return publish(result, diverged ? RunState::kDiverged : RunState::kFinished, progress.step);
  }

  static constexpr const char* kSource[] = {"trained_in", "training"};

  // Notes the run that the training was taken from.
  void note_source(const RunDirectory& other) {
    provenance_.note("trained_in", other.path.filename().string());
    provenance_.note_origin("training", other);
    const auto facts = read_provenance(other).value_or(Json::object());
    if (facts.contains(kFingerprints)) provenance_.note(kFingerprints, facts[kFingerprints]);
  }

  // The start of the training, to tell other data or weights from other arithmetic.
  void note_start(const EvaluationContext& context) {
    const auto batch =
        context.task.batch(seed(), Split::kTrain, first_batch(config_), config_.train.batch_size);
    provenance_.note(kFingerprints, {{"first_batch", fingerprint(batch)},
                                     {"initial_weights", fingerprint(context.model)}});
  }

  std::uint64_t seed() const { return static_cast<std::uint64_t>(config_.seed); }

  std::vector<Answer> answers(const EvaluationContext& context) {
    const Timed asking(spent_.evaluation);
    return ask(config_, directory_, context, provenance_, lease_);
  }

  std::shared_ptr<LanguageModel> untrained_model(const Task& task) const {
    auto model = std::make_shared<LanguageModel>(config_.model, task.vocab_size(), config_.kernels);
    initialise(*model, config_.model, seed());
    if (config_.init_from.given()) {
      const auto& path = config_.init_from.path;
      load_initial_weights(*model, Safetensors::parse(config_.init_from.read(), path), path);
    }
    model->set_precision(config_.precision);
    model->to(device_);
    model->reserve_positions(task.sequence_length());
    return model;
  }

  TrainContext context_of_training(const EvaluationContext& context) {
    return {context.model,
            context.task,
            config_.train,
            seed(),
            config_.cuda_graph,
            {run_id(config_), config::canonical_json(config::write(config_)),
             [training = training_id(config_)](const std::string& config) {
               return has_training(config, training);
             }},
            directory_,
            [&context](LanguageModel&, std::int64_t samples) {
              return validation_metrics(context, samples);
            },
            [&context](const std::vector<std::string>& metrics, std::int64_t samples) {
              auto seen = held_out(context, metrics, samples);
              for (const auto& [name, value] : context.model.statistics()) {
                seen[name] = std::round(value * 1e4) / 1e4;
              }
              return seen;
            },
            stop_requested_,
            [this] { require_held(); },
            first_batch(config_),
            [this, &context](Optimizer& optimizer) {
              const auto end = begin_from_stage(config_, directory_, context.model, optimizer,
                                                stop_requested_, spent_);
              const auto stage = stage_of(config_, directory_);
              if (stage && end != TrainEnd::kInterrupted) provenance_.note_origin("stage", *stage);
              if (!end) note_start(context);
              return end;
            }};
  }

  RunEnd publish(const Json& result, RunState state, std::int64_t step) {
    require_held();
    if (!device_.is_cpu()) {
      provenance_.note("library_attention", kernel::take_library_attention_used());
    }
    provenance_.finish();
    const auto text = dump_readable(result, 1) + "\n";
    if (lease_ != nullptr) {
      lease_->publish_result(text);
    } else {
      write_file_atomically(directory_.result(), text);
    }
    if (state == RunState::kDiverged) note_training(directory_, training_id(config_));
    write_status(directory_, state, position(step));
    note_event(directory_, "finish", {{"state", name_of(state)}, {"step", step}});
    return RunEnd::kComplete;
  }

  RunPosition position(std::int64_t step) const {
    return {.step = step, .steps = config_.train.steps, .stages = first_batch(config_)};
  }

  void require_held() const {
    if (lease_ != nullptr) lease_->require_held();
  }

  const RunConfig& config_;
  const RunDirectory& directory_;
  const std::function<bool()>& stop_requested_;
  Lease* lease_;
  at::Device device_;
  int lanes_;
  Provenance provenance_;
  TimeSpent spent_;
};

}  // namespace

RunEnd run_experiment(const RunConfig& config, const RunDirectory& directory,
                      const std::function<bool()>& stop_requested, Lease* lease, int cores) {
  at::set_num_threads(static_cast<int>(config.threads));
  return Work(config, directory, stop_requested, lease, cores).run();
}

}  // namespace difflab
