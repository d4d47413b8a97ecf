// Decoding through the cache: what docs/performance.md compares, and experiment decoding sweeps.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <memory>

#include "evaluate/speed/read_context.h"
#include "worker/bench_cases.h"

namespace difflab {
namespace {

constexpr std::int64_t kDecodedTokens = 16;
constexpr std::int64_t kDecodedVocab = 256;

}  // namespace

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
        const auto model = std::make_shared<LanguageModel>(
            initialised(config, kDecodedVocab, Kernels::kFused, device));
        model->eval();
        const auto tokens = at::randint(kDecodedVocab, {B, T}, at::kLong).to(device);
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
