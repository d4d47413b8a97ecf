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

// Refuses what 64 bits might not hold.
void require_countable(const ModelConfig& config, std::int64_t tokens) {
  const auto D = static_cast<double>(config.d_model), T = static_cast<double>(tokens);
  const auto widest =
      static_cast<double>(std::max(config.ffn_width(), attention_cost(config, 0).score_channels));
  if (static_cast<double>(config.layers) * (4 * T * T * widest + 16 * T * D * widest) > 1e18) {
    throw UserError("the model is too large, or the sequence too long, to count its operations");
  }
}

// Sums of the parts, in the order of Product::Part.
constexpr std::int64_t ForwardFlops::*kPartsOfFlops[] = {
    &ForwardFlops::projections, &ForwardFlops::scores, &ForwardFlops::values,
    &ForwardFlops::feed_forward, &ForwardFlops::head};

class Shapes {
 public:
  explicit Shapes(const ModelConfig& config) : config_(config) {}

  void add(const std::string& name, std::vector<std::int64_t> shape) {
    all.push_back({name, std::move(shape)});
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {config_.d_model});
    if (config_.has_biases()) add(name + ".bias", {config_.d_model});
  }
  void add_linear(const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in});
    if (config_.has_biases()) add(name + ".bias", {out});
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

std::int64_t Product::operations(Masking masking) const {
  if (k == 0) return times * m * n;
  const auto T = m;  // of QK^T, T × d times d × T, and of AV, T × T times T × width
  const bool reads_pairs = part == Part::kScores || part == Part::kValues;
  if (masking == Masking::kFull || !reads_pairs) return 2 * times * m * k * n;
  return times * T * (T + 1) * (part == Part::kScores ? k : n);
}

std::vector<Product> layer_products(const ModelConfig& config, std::int64_t layer,
                                    std::int64_t tokens) {
  require_countable(config, tokens);
  using Part = Product::Part;
  const auto T = tokens, D = config.d_model, hidden = config.ffn_width();
  const auto attention = attention_cost(config, layer);
  std::vector<Product> products, last;  // the output projection comes behind the maps
  for (const auto& [name, shape] : attention.parameters) {
    if (!name.ends_with("_proj.weight")) continue;
    const bool is_last = name == "out_proj.weight" || name == "o_proj.weight";
    (is_last ? last : products)
        .push_back({name.substr(0, name.rfind('.')), Part::kProjection, T, shape[1], shape[0]});
  }
  const auto maps = std::max<std::int64_t>(attention.maps, 1);
  const auto mixed = attention.value_products > 0 ? attention.value_products : maps;
  products.push_back({"QK^T", Part::kScores, T, attention.score_channels / maps, T, maps});
  products.push_back({"AV", Part::kValues, T, T, attention.value_channels / mixed, mixed});
  products.insert(products.end(), last.begin(), last.end());
  const auto add = [&](const char* name, std::int64_t k, std::int64_t n) {
    products.push_back({name, Part::kFeedForward, T, k, n});
  };
  if (config.block == BlockKind::kNano) {
    add("ffn.fc", D, hidden);
    add("ffn.proj", hidden, D);
  } else {
    add("ffn.gate", D, hidden);
    add("ffn.up", D, hidden);
    add("gate * up", 0, hidden);
    add("ffn.down", hidden, D);
  }
  return products;
}

Product head_product(const ModelConfig& config, std::int64_t vocab_size, std::int64_t tokens) {
  return {"output", Product::Part::kHead, tokens, config.d_model, vocab_size};
}

ForwardFlops count_flops(const ModelConfig& config, std::int64_t vocab_size, std::int64_t tokens,
                         Masking masking) {
  require_countable(config, tokens);
  ForwardFlops flops;
  const auto add = [&](const Product& product) {
    flops.*kPartsOfFlops[static_cast<std::size_t>(product.part)] += product.operations(masking);
  };
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (const auto& product : layer_products(config, layer, tokens)) add(product);
  }
  add(head_product(config, vocab_size, tokens));
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
