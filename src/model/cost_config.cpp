#include <algorithm>
#include <functional>
#include <numeric>

#include "model/cost.h"
#include "util/error.h"

namespace difflab {
namespace {

std::int64_t size_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Operations of a projection on one token.
std::int64_t matrix_flops(const ParameterShape& parameter) {
  const bool projection = parameter.name.ends_with("_proj.weight");
  return projection ? 2 * parameter.shape[0] * parameter.shape[1] : 0;
}

class Shapes {
 public:
  explicit Shapes(const ModelConfig& config) : config_(config) {}

  void add(const std::string& name, std::vector<std::int64_t> shape) {
    all.push_back({name, std::move(shape)});
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {config_.d_model});
    if (config_.block == BlockKind::kNano) add(name + ".bias", {config_.d_model});
  }
  void add_linear(const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in});
    if (config_.biases()) add(name + ".bias", {out});
  }
  void add_feed_forward(const std::string& name) {
    const auto D = config_.d_model, hidden = config_.ffn_width();
    if (config_.block == BlockKind::kNano) {
      add_linear(name + ".fc", D, hidden);
      add_linear(name + ".proj", hidden, D);
    } else {
      add_linear(name + ".gate", D, hidden);
      add_linear(name + ".up", D, hidden);
      add_linear(name + ".down", hidden, D);
    }
  }

  std::vector<ParameterShape> all;

 private:
  const ModelConfig& config_;
};

std::int64_t& part_of(ParameterCounts& counts, const std::string& name) {
  if (name.starts_with("tok_embeddings.")) return counts.embedding;
  if (name.starts_with("positions.")) return counts.positions;
  if (name.starts_with("output.")) return counts.head;
  if (name.find(".attn.") != name.npos) return counts.attention;
  if (name.find(".ffn.") != name.npos) return counts.feed_forward;
  return counts.norms;
}

}  // namespace

AttentionCost attention_cost(const ModelConfig& config, std::int64_t layer) {
  return std::visit([&](const auto& kind) { return kind.cost(config.attention_shape(layer)); },
                    config.attention);
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& config, std::int64_t vocab_size) {
  Shapes shapes(config);
  shapes.add("tok_embeddings.weight", {vocab_size, config.d_model});
  if (config.positions == Positions::kLearned) {
    shapes.add("positions.weight", {config.max_positions, config.d_model});
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = concat("layers.", layer);
    shapes.add_norm(name + ".attn_norm");
    for (auto& parameter : attention_cost(config, layer).parameters) {
      shapes.add(concat(name, ".attn.", parameter.name), std::move(parameter.shape));
    }
    shapes.add_norm(name + ".ffn_norm");
    shapes.add_feed_forward(name + ".ffn");
  }
  shapes.add_norm("norm");
  if (!config.tied_head) shapes.add_linear("output", config.d_model, vocab_size);
  return std::move(shapes.all);
}

ParameterCounts count_parameters(const ModelConfig& config, std::int64_t vocab_size) {
  ParameterCounts counts;
  for (const auto& parameter : parameter_shapes(config, vocab_size)) {
    part_of(counts, parameter.name) += size_of(parameter.shape);
  }
  return counts;
}

ForwardFlops count_flops(const ModelConfig& config, std::int64_t vocab_size, std::int64_t tokens,
                         Masking masking) {
  const auto D = config.d_model, hidden = config.ffn_width();
  const auto pairs = masking == Masking::kFull ? tokens * tokens : tokens * (tokens + 1) / 2;
  const double layers = static_cast<double>(config.layers);
  const double widest =
      static_cast<double>(std::max(hidden, attention_cost(config, 0).score_channels));
  if (layers * (4.0 * static_cast<double>(pairs) * widest +
                16.0 * static_cast<double>(tokens) * static_cast<double>(D) * widest) >
      1e18) {
    throw UserError("the model is too large, or the sequence too long, to count its operations");
  }
  ForwardFlops flops;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const auto attention = attention_cost(config, layer);
    for (const auto& parameter : attention.parameters) {
      flops.projections += tokens * matrix_flops(parameter);
    }
    flops.scores += 2 * pairs * attention.score_channels;
    flops.values += 2 * pairs * attention.value_channels;
    const bool gated = config.block == BlockKind::kLlama;
    flops.feed_forward += tokens * (gated ? 6 * D * hidden + hidden : 4 * D * hidden);
  }
  flops.head = 2 * tokens * D * vocab_size;
  return flops;
}

std::int64_t cache_bytes(const ModelConfig& config, std::int64_t tokens,
                         std::int64_t bytes_per_number) {
  std::int64_t channels = 0;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    channels += attention_cost(config, layer).cache_channels;
  }
  return channels * tokens * bytes_per_number;
}

}  // namespace difflab
