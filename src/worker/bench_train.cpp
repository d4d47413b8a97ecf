// Whole training steps: forward, loss of every token, backward, clipping, AdamW. The models are
// those that docs/performance.md compares with PyTorch, and a Transformer with each control.
#include <ATen/ATen.h>

#include <memory>

#include "model/cost.h"
#include "model/initialise.h"
#include "model/language_model.h"
#include "train/step/recorded_step.h"
#include "worker/bench_cases.h"

namespace difflab {
namespace {

constexpr std::int64_t kVocab = 256;

// What each costs beside the Transformer without it.
const std::pair<const char*, AttentionControls> kControls[] = {
    {"Transformer, gate per head", {.gate = HeadGate::kHead}},
    {"Transformer, gate per channel", {.gate = HeadGate::kElement}},
    {"Transformer, softmax off by one", {.sink = AttentionSink::kOffByOne}},
    {"Transformer, learned sink", {.sink = AttentionSink::kLearned}},
    {"Transformer, QK-norm", {.qk_norm = QkNorm::kRms}},
};

/// How a step is computed.
struct Way {
  const char* name;
  Kernels kernels;
  Precision precision = Precision::kFloat32;
  bool recorded = false;
};

struct Trained {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;
  std::unique_ptr<Step> step;
  Batch batch;

  Trained(const ModelConfig& config_of_model, std::int64_t sequences, std::int64_t length,
          const Way& way, const c10::Device& device)
      : model(initialised(config_of_model, way, device)),
        optimizer(model, config),
        step(way.recorded ? recorded_step(model, optimizer, config)
                          : plain_step(model, optimizer, config)) {
    const auto tokens = at::randint(kVocab, {sequences, length + 1}, at::kLong);
    batch = {tokens.narrow(1, 0, length), tokens.narrow(1, 1, length)};
  }

  static LanguageModel initialised(const ModelConfig& config, const Way& way,
                                   const c10::Device& device) {
    LanguageModel model(config, kVocab, way.kernels);
    initialise(model, config, 0);
    model.set_precision(way.precision);
    model.to(device);
    return model;
  }
};

// On the CPU float32 alone, done one by one.
std::vector<Way> ways_on(const c10::Device& device) {
  std::vector<Way> ways{{"plain", Kernels::kPlain}, {"fused", Kernels::kFused}};
  if (device.is_cpu()) return ways;
  ways.push_back({"fused, bfloat16", Kernels::kFused, Precision::kBfloat16});
#ifdef DIFFLAB_CUDA_HEADERS
  ways.push_back({"fused, recorded", Kernels::kFused, Precision::kFloat32, true});
  ways.push_back({"fused, bfloat16, recorded", Kernels::kFused, Precision::kBfloat16, true});
#endif
  return ways;
}

}  // namespace

std::vector<BenchCase> train_cases(c10::Device device) {
  struct Shape {
    const char* name;
    std::int64_t d_model, length, batch, heads;
  };
  std::vector<BenchCase> cases;
  for (const auto& shape : {Shape{"D 64, L 2, T 64, batch 32", 64, 64, 32, 2},
                            Shape{"D 128, L 4, T 256, batch 16", 128, 256, 16, 4},
                            Shape{"D 256, L 4, T 512, batch 8", 256, 512, 8, 8}}) {
    const std::int64_t layers = shape.d_model == 64 ? 2 : 4;
    const auto add_ways = [&](const char* name, AttentionConfig attention,
                              const std::vector<Way>& ways) {
      const ModelConfig model{.d_model = shape.d_model, .layers = layers, .attention = attention};
      const auto flops = count_flops(model, kVocab, shape.length, Masking::kCausal).total();
      for (const auto& way : ways) {
        const auto trained =
            std::make_shared<Trained>(model, shape.batch, shape.length, way, device);
        cases.push_back({shape.name, concat(name, " ", way.name),
                         [trained] { trained->step->run(trained->batch, /*lr=*/1e-3); },
                         3.0 * static_cast<double>(flops * shape.batch),
                         static_cast<double>(shape.batch * shape.length)});
      }
    };
    const auto add = [&](const char* name, AttentionConfig attention) {
      add_ways(name, attention, ways_on(device));
    };
    const SoftmaxAttentionConfig transformer{.heads = 2 * shape.heads};
    const DifferentialAttentionConfig v1{.heads = shape.heads};
    const DifferentialV2Config v2{.heads = 2 * shape.heads};
    add("Transformer", transformer);
    add("DIFF V1", v1);
    add("DIFF V2", v2);
    if (shape.d_model != 128) continue;
    for (const auto& [name, controls] : kControls) {
      auto controlled = transformer;
      controlled.controls = controls;
      add_ways(name, controlled, {{"fused", Kernels::kFused}});
    }
  }
  return cases;
}

}  // namespace difflab
