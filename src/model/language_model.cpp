#include "model/language_model.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

#include "model/block.h"
#include "model/layer.h"
#include "model/layer/autocast.h"
#include "util/error.h"

namespace difflab {

LanguageModel::LanguageModel(const ModelConfig& config, std::int64_t vocab_size, Kernels kernels)
    : config_(config),
      kernels_(kernels),
      tok_embeddings_(
          register_module("tok_embeddings", torch::nn::Embedding(vocab_size, config.d_model))) {
  if (config.positions == Positions::kLearned) {
    positions_ =
        register_module("positions", torch::nn::Embedding(config.max_positions, config.d_model));
  }
  auto layers = register_module("layers", torch::nn::ModuleList());
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(std::make_shared<Block>(config, layer, kernels));
    layers->push_back(layers_.back());
  }
  norm_ = register_module("norm", build_norm(config, kernels));
  if (!config.tied_head) {
    output_ =
        register_module("output", Linear(config.d_model, vocab_size, config.has_biases(), kernels));
  }
}

at::Tensor LanguageModel::hidden(const at::Tensor& tokens, DecodingState* decoding) {
  return pass(tokens, decoding, /*places=*/{});
}

at::Tensor LanguageModel::hidden_at(const at::Tensor& tokens, const at::Tensor& places) {
  const bool everywhere = places.numel() == tokens.numel();
  return everywhere ? hidden(tokens).flatten(0, 1) : pass(tokens, /*decoding=*/nullptr, places);
}

at::Tensor LanguageModel::pass(const at::Tensor& tokens, DecodingState* decoding,
                               const at::Tensor& places) {
  const Autocast autocast(precision_, tokens.device());
  if (decoding != nullptr) decoding->layers.resize(layers_.size());
  const auto begin = decoding == nullptr ? 0 : decoding->tokens();
  Residual stream{embed(tokens, begin)};  // [B, T, D]
  const auto rotary = rotary_for(begin, tokens.size(1), stream.x);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const bool last = layer + 1 == layers_.size();
    // The last one's values are asked for first, while nothing else is there yet.
    if (recompute_ && at::GradMode::is_enabled() && decoding == nullptr && !last) {
      stream = recomputed(*layers_[layer], stream, rotary, precision_);
      continue;
    }
    stream = layers_[layer]->forward(stream, rotary, decoding ? &decoding->layers[layer] : nullptr,
                                     last ? places : at::Tensor());
  }
  return norm_->read(stream);
}

at::Tensor LanguageModel::observe(const at::Tensor& tokens,
                                  const std::function<void(const LayerView&)>& visit) {
  const Autocast autocast(precision_, tokens.device());
  auto x = embed(tokens, 0);  // [B, T, D]
  const auto rotary = rotary_for(0, tokens.size(1), x);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    auto& block = *layers_[layer];
    const auto input = block.attention_input(x);
    const auto before = x;
    x = block.forward({x}, rotary).sum();
    visit({static_cast<std::int64_t>(layer), block.attention(), before, input, rotary, x});
  }
  return norm_->forward(x);
}

at::Tensor LanguageModel::head(const at::Tensor& states) {
  const Autocast autocast(precision_, states.device());
  return config_.tied_head ? states.matmul(tok_embeddings_->weight.t()) : output_(states);
}

at::Tensor LanguageModel::forward(const at::Tensor& tokens) { return head(hidden(tokens)); }

void LanguageModel::for_each_attention(
    const std::function<void(const std::string&, Attention&)>& visit) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    visit(concat("layers.", layer, ".attn."), layers_[layer]->attention());
  }
}

std::int64_t LanguageModel::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return count;
}

std::vector<std::pair<std::string, double>> LanguageModel::statistics() const {
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    for (const auto& [name, value] : layers_[layer]->attention().statistics()) {
      all.emplace_back(concat(name, ".", layer), value);
    }
  }
  return all;
}

at::Tensor LanguageModel::embed(const at::Tensor& tokens, std::int64_t begin) {
  auto x = tok_embeddings_(tokens);
  const double scale = config_.embedding_scale.of(config_.d_model);
  if (scale != 1) x = x * scale;
  if (config_.positions == Positions::kLearned) {
    const auto count = tokens.size(1);
    if (begin + count > config_.max_positions) {
      throw UserError(concat("a sequence of ", begin + count, " tokens is longer than the model's ",
                             config_.max_positions, " learned positions (model.max_positions)"));
    }
    x = x + positions_->weight.narrow(0, begin, count);
  }
  const bool drop = config_.dropout > 0 && is_training();
  return drop ? at::dropout(x, config_.dropout, /*train=*/true) : x;
}

void LanguageModel::reserve_positions(std::int64_t tokens) {
  rotary_for(0, tokens, tok_embeddings_->weight);
}

Rotary LanguageModel::rotary_for(std::int64_t begin, std::int64_t tokens, const at::Tensor& like) {
  if (config_.positions != Positions::kRotary) return Rotary::none();
  const auto& table = rotary_.rotation;
  const auto type = c10::toComplexType(like.scalar_type());
  if (!table.defined() || table.size(0) < begin + tokens || table.scalar_type() != type ||
      table.device() != like.device()) {
    const auto head_dim = layers_.front()->attention().rotary_dim();
    // Decoding asks for one more position each time.
    const auto size = begin == 0 ? tokens : 2 * (begin + tokens);
    rotary_ = Rotary::table(size, head_dim, config_.rope_theta, like.detach(), config_.rope_layout);
  }
  return rotary_.slice(begin, tokens);
}

}  // namespace difflab
