#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/grid/key_docs.h"
#include "config/schema/fields.h"
#include "config/schema/input_file.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "evaluate/evaluation_config.h"
#include "model/layer/layer_config.h"
#include "model/model_config.h"
#include "task/task_config.h"
#include "train/settings/train_config.h"

namespace difflab {

enum class Device { kCpu, kCuda };

template <>
inline constexpr auto config::kNames<Device> = names("cpu", "cuda");

/// A training that comes before the run's own, so that a model can learn on short sequences first
/// and then have its context extended: longer sequences, a larger base of the rotary angles (Xiong
/// et al. 2023, arXiv 2309.16039, section 2.1), other rates.
struct StageConfig {
  TaskConfig task;
  TrainConfig train;
  double rope_theta = 10'000;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("task", task, "what this stage trains on; what it does not say is the run's");
    visit("train", train, "how this stage trains; what it does not say is the run's");
    visit("rope_theta", rope_theta, "base of the rotary angles in this stage; else the run's",
          config::at_least(1));
  }
};

/// Everything that makes a run what it is: the same values give the same result, bit for bit, on
/// the same kind of machine.
struct RunConfig {
  ModelConfig model;
  TaskConfig task;
  TrainConfig train;
  std::vector<EvaluationConfig> evaluate;
  InputFile init_from = {};
  std::vector<StageConfig> stages = {};
  std::int64_t seed = 0;
  std::int64_t threads = 1;
  Device device = Device::kCpu;
  Kernels kernels = Kernels::kFused;
  Precision precision = Precision::kFloat32;
  bool cuda_graph = false;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("model", model, "the architecture");
    visit("task", task, "what the model is trained on");
    visit("train", train, "how it is trained");
    visit("evaluate", evaluate, "what the trained model is asked, a list of kinds");
    visit("init_from", init_from,
          "safetensors file with the parameters to start from, under their official names; without "
          "a path they are drawn");
    visit(
        "stages", stages,
        "trainings before the run's own, each from where the one before ended; each is a run that "
        "others share (docs/asking.md)");
    visit("seed", seed, "names the streams of initial values, data and held-out data",
          config::at_least(0));
    visit("threads", threads, "threads of one run; another number gives other rounding",
          config::between(1, 1024));
    visit("device", device, "cpu or cuda");
    visit("kernels", kernels,
          "fused (our own kernels on the CPU, the library's scaled_dot_product_attention on CUDA: "
          "faster and without maps in memory), flash_1 or flash_2 (as fused, with a call of "
          "attention for each map of DIFF, as the official files of that name have it) or plain "
          "(library operations); other rounding");
    visit("precision", precision,
          "float32, or bfloat16 for projections and attention (autocast; parameters, norms and "
          "losses stay float32)");
    visit(
        "cuda_graph", cuda_graph,
        "record the operations of a training step once and replay them, for small models on CUDA");
  }

  void validate(config::Check& check) const;
};

// Compiled once, in run_config.cpp: a run can hold every kind there is.
extern template RunConfig config::read(const config::Value&, const std::string&, config::Problems&,
                                       config::Range);
extern template config::Value config::write(RunConfig);
extern template std::vector<config::KeyTable> config::describe_keys<RunConfig>(std::string);

/// The run that a resolved configuration describes, of its folder, a reference or a file of
/// weights.
/// @param where its keys lie, for messages. @throws UserError with all problems at once
RunConfig read_run_config(const config::Value& config, const std::string& where = "");

/// Completes `stages` of a run as people write it: what a stage does not say of task, train and
/// rope_theta is taken from the run. A task of another kind is taken as it is.
void complete_stages(config::Value& run);

/// The run that trains what this one starts from: its last stage, with the stages before that one,
/// asked nothing. Nothing without stages.
std::optional<RunConfig> earlier_run(const RunConfig& config);

/// The first batch of the run's own training: batches go on where those of its stages ended.
std::int64_t first_batch(const RunConfig& config);

}  // namespace difflab
