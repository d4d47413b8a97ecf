// Whole training steps: forward, loss of every token, backward, clipping, AdamW. The models are
// those that docs/performance.md compares with PyTorch.
#include <ATen/ATen.h>

#include <memory>

#include "cli/worker_bench_cases.h"
#include "model/cost.h"
#include "model/initialise.h"
#include "model/language_model.h"
#include "model/score.h"
#include "train/optimizer.h"

namespace difflab {
namespace {

constexpr std::int64_t kVocab = 256;

struct Step {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;
  at::Tensor tokens;  // [B, T + 1]

  Step(const ModelConfig& config_of_model, std::int64_t batch, std::int64_t length, Kernels kernels)
      : model(initialised(config_of_model, kernels)),
        optimizer(model, config),
        tokens(at::randint(kVocab, {batch, length + 1}, at::kLong)) {}

  static LanguageModel initialised(const ModelConfig& config, Kernels kernels) {
    LanguageModel model(config, kVocab, kernels);
    initialise(model, config, 0);
    return model;
  }
  void run() {
    const auto length = tokens.size(1) - 1;
    optimizer.zero_grad();
    mean_loss(model, tokens.narrow(1, 0, length), tokens.narrow(1, 1, length)).backward();
    optimizer.clip(1);
    optimizer.step(1e-3);
  }
};

}  // namespace

std::vector<BenchCase> train_cases() {
  struct Shape {
    const char* name;
    std::int64_t d_model, length, batch, heads;
  };
  std::vector<BenchCase> cases;
  for (const auto& shape : {Shape{"D 64, L 2, T 64, batch 32", 64, 64, 32, 2},
                            Shape{"D 128, L 4, T 256, batch 16", 128, 256, 16, 4},
                            Shape{"D 256, L 4, T 512, batch 8", 256, 512, 8, 8}}) {
    const std::int64_t layers = shape.d_model == 64 ? 2 : 4;
    const auto add = [&](const char* name, AttentionConfig attention, Kernels kernels) {
      const ModelConfig model{.d_model = shape.d_model, .layers = layers, .attention = attention};
      const auto step = std::make_shared<Step>(model, shape.batch, shape.length, kernels);
      const auto flops = count_flops(model, kVocab, shape.length, Masking::kCausal).total();
      cases.push_back({shape.name, name, [step] { step->run(); },
                       3.0 * static_cast<double>(flops * shape.batch),
                       static_cast<double>(shape.batch * shape.length)});
    };
    const SoftmaxAttentionConfig transformer{.heads = 2 * shape.heads};
    const DifferentialAttentionConfig v1{.heads = shape.heads};
    const DifferentialV2Config v2{.heads = 2 * shape.heads};
    add("Transformer plain", transformer, Kernels::kPlain);
    add("Transformer fused", transformer, Kernels::kFused);
    add("DIFF V1 plain", v1, Kernels::kPlain);
    add("DIFF V1 fused", v1, Kernels::kFused);
    add("DIFF V2 plain", v2, Kernels::kPlain);
    add("DIFF V2 fused", v2, Kernels::kFused);
  }
  return cases;
}

}  // namespace difflab
