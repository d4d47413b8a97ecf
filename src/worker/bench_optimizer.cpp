// Cost of an update with each optimiser: clipping and the step, without forward and backward.
#include <memory>
#include <variant>

#include "train/step/optimizer.h"
#include "worker/bench_cases.h"

namespace difflab {
namespace {

constexpr std::int64_t kWords = 256;

struct Updated {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;

  Updated(const ModelConfig& shape, const OptimizerConfig& how, const c10::Device& device)
      : model(initialised(shape, kWords, Kernels::kPlain, device)),
        config{.optimizer = how},
        optimizer(model, config) {
    for (const auto& parameter : model.parameters()) parameter.grad().normal_(0, 1e-3);
  }
  void update() {
    optimizer.clip_on_device(1);
    optimizer.step(1e-4);
  }
};

template <std::size_t Kind = 0>
void add_optimizers(const std::string& group, const ModelConfig& model, c10::Device device,
                    std::vector<BenchCase>& cases) {
  if constexpr (Kind < std::variant_size_v<OptimizerConfig>) {
    const std::variant_alternative_t<Kind, OptimizerConfig> kind;
    const auto updated = std::make_shared<Updated>(model, kind, device);
    cases.push_back({group, std::string(kind.kKind), [updated] { updated->update(); }});
    add_optimizers<Kind + 1>(group, model, device, cases);
  }
}

}  // namespace

std::vector<BenchCase> optimizer_cases(c10::Device device) {
  std::vector<BenchCase> cases;
  for (const std::int64_t width : {64, 128, 256}) {
    const ModelConfig model{.d_model = width,
                            .layers = width == 64 ? 2 : 4,
                            .attention = DifferentialAttentionConfig{.heads = width / 32}};
    add_optimizers(concat("DIFF V1, D ", model.d_model, ", L ", model.layers), model, device,
                   cases);
  }
  return cases;
}

}  // namespace difflab
