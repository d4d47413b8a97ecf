#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "config/value/value.h"
#include "train/optimizer/optimizer_config.h"

namespace difflab {

/// How the learning rate goes on behind the warm-up.
enum class LrSchedule {
  kCosine,    ///< half a cosine down to lr · final_lr_ratio at the last step
  kLinear,    ///< a straight line to there
  kConstant,  ///< lr, so that the horizon does not move what happens on the way
  kStable,    ///< constant, then a straight line over the last decay_share of all steps (warm-up,
              ///< stable, decay; Hu et al. 2024, arXiv 2404.06395)
};

template <>
inline constexpr auto config::kNames<LrSchedule> = names("cosine", "linear", "constant",
                                                         "warmup_stable_decay");

/// Units that weigh the same in the loss of a batch.
enum class LossPer {
  kTarget,    ///< every token asked
  kSequence,  ///< every sequence that asks something: the mean over its targets
  kPart,      ///< every part of the task (TaskPart) in the batch: the mean over its targets
};

template <>
inline constexpr auto config::kNames<LossPer> = names("target", "sequence", "part");

/// The loss that training minimises.
struct LossConfig {
  LossPer per = LossPer::kTarget;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("per", per,
          "what counts the same in the loss: every target, every sequence or every part of the "
          "task, however many targets it has");
  }
};

/// Parameters by their dimensions.
enum class ParameterShapes {
  kAny,
  kMatrices,  ///< two or more: weights of linear layers, embeddings, a λ vector per head
  kVectors,   ///< one or none: gains, biases, λ
};

template <>
inline constexpr auto config::kNames<ParameterShapes> = names("any", "matrices", "vectors");

/// Parameters that are updated in another way than the rest.
struct ParameterGroup {
  std::string match = "*";
  ParameterShapes shapes = ParameterShapes::kAny;
  std::optional<double> lr_scale = {};
  std::optional<double> lr = {};
  std::optional<double> weight_decay = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("match", match,
          "pattern of full names, as difflab params --groups lists them: * is any text, ? one "
          "letter, [ab] one of them");
    visit("shapes", shapes,
          "of those only matrices (two dimensions or more) or vectors (gains, biases, λ)");
    visit("lr_scale", lr_scale, "their learning rate as a share of train.lr", config::at_least(0));
    visit("lr", lr,
          "or their learning rate itself, whatever train.lr is; warm-up and schedule act on it as "
          "on the others",
          config::at_least(0));
    visit("weight_decay", weight_decay, "instead of train.weight_decay", config::at_least(0));
  }
  void validate(config::Check& check) const;

  bool matches(const std::string& parameter, std::size_t dimensions) const;
};

/// Something that training is watched for, e.g. that the model finds needles: a held-out metric, or
/// the mean training loss since the last line of metrics.jsonl, on one side of a bound, several
/// looks in a row.
struct TrainEvent {
  static constexpr const char* kTrainLoss = "train_loss";

  std::string name = {};
  std::string metric = "valid_accuracy";
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::int64_t in_a_row = 2;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "letters, digits and _; the run's metric is steps_to_NAME");
    visit("metric", metric, "of metrics.jsonl, on the validation split; or train_loss");
    visit("at_least", at_least, "what the metric has to reach");
    visit("at_most", at_most, "or what it has to fall to");
    visit("in_a_row", in_a_row, "looks in a row that find it so", config::at_least(1));
  }
  void validate(config::Check& check) const;

  bool met_by(double value) const { return at_least ? value >= *at_least : value <= *at_most; }
  bool is_of_training() const { return metric == kTrainLoss; }
  std::string steps_key() const { return "steps_to_" + name; }
  std::string seconds_key() const { return "time_to_" + name + "_seconds"; }
};

/// The steps of a training whose checkpoints are kept.
class KeptSteps {
 public:
  KeptSteps() = default;  ///< none
  explicit KeptSteps(std::vector<std::int64_t> steps) : listed_(std::move(steps)) {}

  bool keeps(std::int64_t step) const;
  /// "100, 200, 300", those up to `steps`; "none" if there are none.
  std::string text(std::int64_t steps) const;

  static std::optional<KeptSteps> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "none, powers, 'every N' or a list of steps"; }

 private:
  std::vector<std::int64_t> listed_;
  std::int64_t every_ = 0;  ///< 0: not at regular intervals
  bool powers_ = false;     ///< 1, 2, 4, 8 …
};

/// How one run is optimised: linear warm-up, a schedule behind it, clipping of the global gradient
/// norm, and an optimiser. Weight decay acts on every parameter unless `groups` say otherwise.
struct TrainConfig {
  std::int64_t steps = 1'600;
  double seconds = 0;
  std::int64_t batch_size = 32;
  double lr = 3e-3;
  double final_lr_ratio = 0.1;
  std::int64_t warmup_steps = 100;
  LrSchedule schedule = LrSchedule::kCosine;
  double decay_share = 0.2;
  OptimizerConfig optimizer = {};
  bool keep_optimizer = false;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double adam_eps = 1e-8;
  double weight_decay = 0.1;
  std::vector<ParameterGroup> groups = {};
  double grad_clip = 1.0;
  bool recompute = false;  ///< does not change the result
  LossConfig loss = {};
  std::int64_t eval_every = 100;
  std::int64_t eval_samples = 256;
  std::vector<TrainEvent> events = {};
  std::int64_t event_every = 25;
  std::int64_t event_samples = 64;
  std::string stop_at = {};           ///< name of an event
  double checkpoint_seconds = 30;     ///< does not change the result
  std::int64_t checkpoint_steps = 0;  ///< nor does this
  KeptSteps keep_checkpoints = {};    ///< nor this

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("steps", steps, "optimiser steps; 0 leaves the model as it starts, to be asked",
          config::at_least(0));
    visit("seconds", seconds,
          "seconds of training, evaluations apart, after which it ends before its last step; 0: no "
          "limit. The result then depends on the machine",
          config::at_least(0));
    visit("batch_size", batch_size, "sequences per step", config::at_least(1));
    visit("lr", lr, "learning rate at the end of the warm-up", config::at_least(0));
    visit("final_lr_ratio", final_lr_ratio,
          "learning rate of the last step as a share of lr; does not count with constant",
          config::between(0, 1));
    visit("warmup_steps", warmup_steps, "steps of linear warm-up", config::at_least(0));
    visit("schedule", schedule, "how the learning rate continues after the warm-up");
    visit(
        "decay_share", decay_share,
        "share of all steps that the decay takes at the end; counts only with warmup_stable_decay",
        config::between(0, 1));
    visit("optimizer", optimizer, "how gradients become updates");
    visit("keep_optimizer", keep_optimizer,
          "with stages: the optimiser goes on with the state of the stage before instead of zeros");
    visit("beta1", beta1, "AdamW's decay of the first moment; does not count with sgd",
          config::between(0, 1));
    visit("beta2", beta2, "AdamW's decay of the second moment; does not count with sgd",
          config::between(0, 1));
    visit("adam_eps", adam_eps, "AdamW's epsilon outside the root", config::at_least(0));
    visit("weight_decay", weight_decay,
          "decoupled weight decay; with sgd a part of the gradient, as in torch.optim",
          config::at_least(0));
    visit("groups", groups,
          "parameters with a rate or decay of their own; of two that match the later one counts");
    visit("grad_clip", grad_clip, "bound on the global gradient norm; 0 turns clipping off",
          config::at_least(0));
    visit(
        "recompute", recompute,
        "the blocks but the last compute their values once more on the way back instead of keeping "
        "them: less memory, about a quarter more time; does not change the result");
    visit("loss", loss, "what training minimises");
    visit("eval_every", eval_every, "steps between held-out evaluations", config::at_least(1));
    visit("eval_samples", eval_samples, "held-out sequences of each evaluation, per task part",
          config::at_least(1));
    visit("events", events, "what training is watched for: the steps to it are metrics of the run");
    visit("event_every", event_every, "steps between looks for events; counts only with events",
          config::at_least(1));
    visit("event_samples", event_samples,
          "held-out sequences of a look, per task part; what it finds is confirmed on eval_samples",
          config::at_least(1));
    visit("stop_at", stop_at, "event at which training ends before its last step; empty: none");
    visit("checkpoint_seconds", checkpoint_seconds,
          "seconds between checkpoints; does not change the result", config::at_least(0));
    visit("checkpoint_steps", checkpoint_steps,
          "steps after which there is a checkpoint at the latest, 0 for none but by time; does not "
          "change the result",
          config::at_least(0));
    visit("keep_checkpoints", keep_checkpoints,
          "steps whose checkpoints are kept, so that the model can be asked there; does not change "
          "the result");
  }
  void validate(config::Check& check) const;
};

/// How one parameter is updated.
struct UpdateSettings {
  double lr_scale = 1;
  double weight_decay = 0;
};

/// Settings by the groups that match, the later ones over the earlier; `lr` and `weight_decay` are
/// those of all parameters.
UpdateSettings update_settings(const std::string& parameter, std::size_t dimensions,
                               const std::vector<ParameterGroup>& groups, double lr,
                               double weight_decay);

/// The learning rate of step `step` (from 0): linear from 0 over the warm-up, then as the schedule
/// has it, from lr down to lr · final_lr_ratio at the last step unless it is constant.
double learning_rate(const TrainConfig& config, std::int64_t step);

}  // namespace difflab
