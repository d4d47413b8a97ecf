// Whole training steps: forward, loss of every token, backward, clipping, AdamW. The models are
// those that docs/performance.md compares with PyTorch, and a Transformer with each control. Then
// updates alone, with each optimiser, and decoding.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evaluate/speed/read_context.h"
#include "model/cost.h"
#include "train/step/step.h"
#include "worker/bench_cases.h"

namespace difflab {
namespace {

constexpr std::int64_t kVocab = 256;
constexpr std::int64_t kDecodedTokens = 16;

// Controls, each timed beside the Transformer without it.
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
  bool recorded = false, recompute = false;
};

struct Trained {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;
  std::unique_ptr<Step> step;
  Batch batch;

  Trained(const ModelConfig& config_of_model, std::int64_t sequences, std::int64_t length,
          const Way& way, const c10::Device& device)
      : model(initialised(config_of_model, kVocab, way.kernels, device)),
        optimizer(model, config),
        step(way.recorded ? recorded_step(model, optimizer, config)
                          : plain_step(model, optimizer, config)) {
    model.set_precision(way.precision);
    model.recompute_blocks(way.recompute);
    const auto tokens = at::randint(kVocab, {sequences, length + 1}, at::kLong);
    batch = {tokens.narrow(1, 0, length), tokens.narrow(1, 1, length)};
  }
};

// A forward pass over a sequence, as the kernels do it: they multiply the difference of V2's maps
// with the values, once, where the published form multiplies both.
double operations_of(const ModelConfig& model, std::int64_t length) {
  const auto counted = count_flops(model, kVocab, length, Masking::kCausal);
  const bool counts_both = std::holds_alternative<DifferentialV2Config>(model.attention);
  return static_cast<double>(counted.total() - (counts_both ? counted.values / 2 : 0));
}

// On the CPU float32 alone, done one by one.
std::vector<Way> ways_on(const c10::Device& device) {
  std::vector<Way> ways{{"plain", Kernels::kPlain}, {"fused", Kernels::kFused}};
  if (device.is_cpu()) return ways;
  ways.push_back({"fused, bfloat16", Kernels::kFused, Precision::kBfloat16});
#ifdef DIFFLAB_CUDA_HEADERS
  ways.push_back({"plain, recorded", Kernels::kPlain, Precision::kFloat32, true});
  ways.push_back({"fused, recorded", Kernels::kFused, Precision::kFloat32, true});
  ways.push_back({"fused, bfloat16, recorded", Kernels::kFused, Precision::kBfloat16, true});
#endif
  return ways;
}

/// Widths and sizes of a case's models, from a group's name.
struct Shape {
  std::int64_t d_model = 0, layers = 0, length = 0, batch = 0;
  std::int64_t head_dim = 16;

  // "D 64, L 2, T 64, batch 32", and ", d 32" where heads are wider.
  static std::optional<Shape> parse(const std::string& name) {
    static const std::regex pattern(
        R"(D ([1-9]\d{0,5}), L ([1-9]\d{0,2}), T ([1-9]\d{0,5}), batch ([1-9]\d{0,5})(?:, d ([1-9]\d{0,3}))?)");
    std::smatch found;
    if (!std::regex_match(name, found, pattern)) return std::nullopt;
    const auto number = [&](std::size_t i) { return std::stoll(found[i].str()); };
    Shape shape{number(1), number(2), number(3), number(4)};
    if (found[5].matched) shape.head_dim = number(5);
    return shape;
  }
};

using NamedModel = std::pair<std::string, AttentionConfig>;

SoftmaxAttentionConfig transformer_of(const Shape& shape) {
  return {.heads = shape.d_model / shape.head_dim};
}

// Models that bench/compare compares with PyTorch.
std::vector<NamedModel> models_of(const Shape& shape) {
  const auto transformer = transformer_of(shape);
  return {{"Transformer", transformer},
          {"DIFF V1", DifferentialAttentionConfig{.heads = transformer.heads / 2}},
          {"DIFF V2", DifferentialV2Config{.heads = transformer.heads}}};
}

std::vector<NamedModel> controls_of(const Shape& shape) {
  std::vector<NamedModel> models;
  for (const auto& [name, controls] : kControls) {
    auto transformer = transformer_of(shape);
    transformer.controls = controls;
    models.emplace_back(name, transformer);
  }
  return models;
}

BenchCase case_of(const std::string& group, const Shape& shape, const NamedModel& named,
                  const Way& way, const c10::Device& device) {
  const ModelConfig model{
      .d_model = shape.d_model, .layers = shape.layers, .attention = named.second};
  const auto trained = std::make_shared<std::unique_ptr<Trained>>();  // from the first step on
  const auto step = [=] {
    if (!*trained) {
      *trained = std::make_unique<Trained>(model, shape.batch, shape.length, way, device);
    }
    (*trained)->step->run((*trained)->batch, /*lr=*/1e-3);
  };
  const auto batch = static_cast<double>(shape.batch);
  return {group, concat(named.first, " ", way.name), step,
          3.0 * operations_of(model, shape.length) * batch,
          static_cast<double>(shape.length) * batch};
}

/// Cost of an update: clipping and the step, without forward and backward.
struct Updated {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;

  Updated(const ModelConfig& shape, const OptimizerConfig& how, const c10::Device& device)
      : model(initialised(shape, kVocab, Kernels::kPlain, device)),
        config{.optimizer = how},
        optimizer(model, config) {
    for (const auto& parameter : model.parameters()) parameter.grad().normal_(0, 1e-3);
  }
  void update() {
    optimizer.clip_on_device(1);
    optimizer.step(1e-4);
  }
};

}  // namespace

std::vector<BenchCase> train_cases(c10::Device device) {
  std::vector<BenchCase> cases;
  for (const std::string group :
       {"D 64, L 2, T 64, batch 32", "D 128, L 4, T 256, batch 16", "D 256, L 4, T 512, batch 8"}) {
    const auto shape = Shape::parse(group).value();
    const auto add = [&](const std::vector<NamedModel>& models, const std::vector<Way>& ways) {
      for (const auto& named : models) {
        for (const auto& way : ways) cases.push_back(case_of(group, shape, named, way, device));
      }
    };
    add(models_of(shape), ways_on(device));
    if (shape.d_model == 128) add(controls_of(shape), {{"fused", Kernels::kFused}});
  }
  return cases;
}

std::optional<BenchCase> train_case(const std::string& group, const std::string& name,
                                    c10::Device device) {
  const auto shape = Shape::parse(group);
  if (!shape || shape->d_model < 2 * shape->head_dim) return std::nullopt;  // no pair of maps
  auto ways = ways_on(device);
  ways.push_back({.name = "fused, recomputed", .kernels = Kernels::kFused, .recompute = true});
  for (const auto& named : models_of(*shape)) {
    for (const auto& way : ways) {
      auto found = case_of(group, *shape, named, way, device);
      if (found.name == name) return found;
    }
  }
  return std::nullopt;
}

std::vector<BenchCase> optimizer_cases(c10::Device device) {
  std::vector<BenchCase> cases;
  for (const std::int64_t width : {64, 128, 256}) {
    const ModelConfig model{.d_model = width,
                            .layers = width == 64 ? 2 : 4,
                            .attention = DifferentialAttentionConfig{.heads = width / 32}};
    config::for_each_kind<OptimizerConfig>([&](const auto& kind) {
      const auto updated = std::make_shared<Updated>(model, kind, device);
      cases.push_back({concat("DIFF V1, D ", model.d_model, ", L ", model.layers),
                       std::string(kind.kKind), [updated] { updated->update(); }});
    });
  }
  return cases;
}

// Decoding through the cache: what docs/performance.md compares, and experiment decoding sweeps.
// Width 128, four layers, heads of width 16. DIFF V2 with as many parameters as the others gives up
// feed-forward channels for its second queries; as published it has them on top.
std::vector<BenchCase> decode_cases(c10::Device device) {
  struct Variant {
    const char* name;
    ModelConfig config;
  };
  const ModelConfig base{.d_model = 128, .layers = 4};
  const auto with = [&](AttentionConfig attention, std::int64_t ffn_hidden = 0) {
    auto config = base;
    config.attention = std::move(attention);
    config.ffn_hidden = ffn_hidden;
    return config;
  };
  const std::vector<Variant> variants{
      {"Transformer", with(SoftmaxAttentionConfig{.heads = 8})},
      {"DIFF V1", with(DifferentialAttentionConfig{.heads = 4})},
      {"DIFF V2, parameters matched", with(DifferentialV2Config{.heads = 8}, 307)},
      {"DIFF V2, as published", with(DifferentialV2Config{.heads = 8})}};
  std::vector<BenchCase> cases;
  for (const std::int64_t T : {64, 256, 1024, 4096}) {
    for (const std::int64_t B : {1, 8}) {
      for (const auto& [name, config] : variants) {
        const auto model =
            std::make_shared<LanguageModel>(initialised(config, kVocab, Kernels::kFused, device));
        model->eval();
        const auto tokens = at::randint(kVocab, {B, T}, at::kLong).to(device);
        const auto read = std::make_shared<ReadContext>(*model, tokens);
        cases.push_back({fmt::format("context {}, batch {}, {} tokens", T, B, kDecodedTokens), name,
                         [model, read] { read->decode(kDecodedTokens); }, 0,
                         static_cast<double>(B * kDecodedTokens)});
      }
    }
  }
  return cases;
}

}  // namespace difflab
