#include "train/train_loop.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "model/language_model.h"
#include "model/score.h"
#include "record/log/metrics_log.h"
#include "record/status.h"
#include "task/base/task.h"
#include "train/step/optimizer.h"
#include "train/step/step.h"
#include "util/error.h"
#include "util/files.h"
#include "util/random.h"
#include "util/timing.h"

namespace difflab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSolved = 0.9;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A damaged checkpoint costs time, not the run: it goes on from the one before, or starts again,
// and says so.
std::optional<Progress> resume(const TrainContext& context, Optimizer& optimizer) {
  const auto newest = context.directory.checkpoint();
  for (const auto& path : {newest, previous_checkpoint(newest)}) {
    try {
      const auto progress = load_checkpoint(path, context.run, optimizer);
      if (!progress) continue;
      if (path != newest) std::filesystem::rename(path, newest);
      std::cout << "resuming at step " << progress->step << '\n';
      note_event(context.directory, "resume", {{"step", progress->step}});
      return progress;
    } catch (const UserError& error) {
      std::cout << "skipping a checkpoint: " << error.what() << '\n';
      note_event(context.directory, "checkpoint passed over", {{"message", error.what()}});
    }
  }
  return std::nullopt;
}

void note_milestones(Progress& progress, const Json& line) {
  const auto accuracy = line.find("valid_accuracy");
  if (accuracy == line.end() || accuracy->get<double>() < kSolved) return;
  if (progress.milestones.contains("steps_to_90_accuracy")) return;
  progress.milestones["steps_to_90_accuracy"] = progress.step;
  progress.milestones["time_to_90_accuracy_seconds"] = progress.train_seconds;
}

class Loop {
 public:
  explicit Loop(const TrainContext& context)
      : context_(context),
        config_(context.config),
        optimizer_(context.model, config_),
        progress_(start()),
        metrics_(context.directory.metrics(), progress_.metrics_length),
        step_(context.record_steps ? recorded_step(context.model, optimizer_, config_)
                                   : plain_step(context.model, optimizer_, config_)),
        events_(config_, context.look_for) {
    context.model.recompute_blocks(config_.recompute);
  }
  ~Loop() { context_.model.recompute_blocks(false); }  // evaluations may look into blocks
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  TrainOutcome run() {
    if (cannot_begin_) return end(*cannot_begin_);
    if (metrics_.length() == 0 && !report(/*grad_norm=*/0)) return end(TrainEnd::kDiverged);
    const bool is_first = progress_.step == 0 && config_.keep_checkpoints.keeps(0);
    if (is_first) save();
    // A process that was killed may have saved one and not kept it.
    std::error_code none;
    if (is_first || !std::filesystem::exists(context_.directory.kept(progress_.step), none)) keep();
    auto saved = Clock::now();
    auto saved_step = progress_.step;
    while (progress_.step < config_.steps && !has_stopped(config_, progress_)) {
      if (context_.stop_requested()) {
        save();
        return end(TrainEnd::kInterrupted);
      }
      const auto start = Clock::now();
      const double grad_norm = step();
      const auto took = seconds_since(start);
      progress_.train_seconds += took;
      spent_.training += took;
      if (!std::isfinite(grad_norm)) return end(TrainEnd::kDiverged);
      {
        const Timed looking(spent_.events);
        events_.after_step(progress_);
      }
      if (progress_.step % config_.eval_every == 0 || progress_.step == config_.steps ||
          has_stopped(config_, progress_)) {
        if (!report(grad_norm)) return end(TrainEnd::kDiverged);
      }
      if (seconds_since(saved) >= config_.checkpoint_seconds ||
          progress_.step - saved_step == config_.checkpoint_steps ||
          config_.keep_checkpoints.keeps(progress_.step)) {
        save();
        keep();
        saved = Clock::now();
        saved_step = progress_.step;
      }
    }
    if (saved_step != progress_.step || !std::filesystem::exists(context_.directory.checkpoint())) {
      save();
    }
    std::error_code ignored;  // the last generation is the trained model; one is enough
    std::filesystem::remove(previous_checkpoint(context_.directory.checkpoint()), ignored);
    return end(TrainEnd::kFinished);
  }

 private:
  Progress start() {
    auto progress = resume(context_, optimizer_);
    if (!progress) {
      cannot_begin_ = context_.begin(optimizer_);
      if (!cannot_begin_) std::cout << "starting from step 0\n";
      progress = {.optimizer_steps = optimizer_.resumed_at()};
    }
    // The metrics are cut to what the checkpoint knows: not those of a process that took over in
    // the meantime, for which an earlier stage leaves hours.
    context_.before_writing();
    return *progress;
  }

  // One optimiser step; the gradient norm before clipping, NaN if loss or gradient is not finite.
  double step() {
    seed_dropout();
    const auto batch = context_.task.batch(
        context_.seed, Split::kTrain, context_.first_batch + progress_.step, config_.batch_size);
    const auto [loss, norm] = step_->run(batch, learning_rate(config_, progress_.step));
    ++progress_.step;
    ++progress_.optimizer_steps;
    if (!std::isfinite(loss) || !std::isfinite(norm)) return std::nan("");
    progress_.loss_sum += loss;
    ++progress_.loss_count;
    progress_.spikes.add(norm);
    return norm;
  }

  // The library's own generator is asked for by dropout alone. Naming its stream by the step makes
  // a resumed run drop what an undisturbed one does.
  void seed_dropout() {
    if (context_.model.config().dropout == 0) return;
    const auto step = static_cast<std::uint64_t>(context_.first_batch + progress_.step);
    at::manual_seed(Random{context_.seed, stream_key("dropout"), step}.next());
  }

  // One line of metrics.jsonl; false, and none, if the last update has left a model without a loss.
  bool report(double grad_norm) {
    const Timed validating(spent_.validation);
    const auto validation = context_.validate(context_.model, config_.eval_samples);
    if (!std::isfinite(validation.value("valid_loss", 0.0))) return false;
    Json line = {{"step", progress_.step}};
    if (progress_.loss_count > 0) {
      line["train_loss"] = progress_.loss_sum / static_cast<double>(progress_.loss_count);
      line["grad_norm"] = grad_norm;
      line["lr"] = learning_rate(config_, progress_.step - 1);
    }
    line.update(validation);
    for (const auto& [name, value] : context_.model.statistics()) line[name] = value;
    line["train_seconds"] = progress_.train_seconds;
    progress_.loss_sum = 0;
    progress_.loss_count = 0;
    note_milestones(progress_, line);
    context_.before_writing();
    metrics_.append(line);
    write_status(context_.directory, RunState::kRunning,
                 {.step = progress_.step, .steps = config_.steps, .stages = context_.first_batch});
    return true;
  }

  void save() {
    const Timed saving(spent_.checkpoints);
    context_.before_writing();
    metrics_.sync();
    progress_.metrics_length = metrics_.length();
    save_checkpoint(context_.directory.checkpoint(), context_.run, optimizer_, progress_);
    note_event(context_.directory, "checkpoint", {{"step", progress_.step}});
  }

  // The checkpoint of this step gets a second name, so it costs no more than its place.
  void keep() {
    if (!config_.keep_checkpoints.keeps(progress_.step)) return;
    const auto kept = context_.directory.kept(progress_.step);
    context_.before_writing();
    make_directories(kept.parent_path());
    std::error_code ignored;  // one of an earlier attempt at this step, which may be damaged
    std::filesystem::remove(kept, ignored);
    share_file(context_.directory.checkpoint(), kept);
  }

  TrainOutcome end(TrainEnd how) {
    // No checkpoint follows, whose saving would put the lines on the disk before the result's.
    if (how == TrainEnd::kDiverged) metrics_.sync();
    return {how, progress_, spent_};
  }

  const TrainContext& context_;
  const TrainConfig& config_;
  std::optional<TrainEnd> cannot_begin_ = {};
  Optimizer optimizer_;
  Progress progress_;
  TimeSpent spent_;
  MetricsLog metrics_;
  std::unique_ptr<Step> step_;
  EventWatch events_;
};

}  // namespace

TrainOutcome train(const TrainContext& context) { return Loop(context).run(); }

}  // namespace difflab
