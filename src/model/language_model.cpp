#include "model/language_model.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

#include "model/linear.h"
#include "model/llama_block.h"

namespace difflab {

LanguageModel::LanguageModel(const ModelConfig& config, std::int64_t vocab_size)
    : config_(config),
      tok_embeddings_(
          register_module("tok_embeddings", torch::nn::Embedding(vocab_size, config.d_model))),
      output_(linear(config.d_model, vocab_size)) {
  auto layers = register_module("layers", torch::nn::ModuleList());
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(std::make_shared<LlamaBlock>(config, layer));
    layers->push_back(layers_.back());
  }
  norm_ = register_module("norm", std::make_shared<RmsNorm>(config.d_model, config.norm_eps));
  register_module("output", output_);
}

at::Tensor LanguageModel::hidden(const at::Tensor& tokens) {
  auto x = tok_embeddings_(tokens);  // [B, T, D]
  const Rotary& rotary = rotary_for(tokens.size(1), x);
  for (const auto& layer : layers_) x = layer->forward(x, rotary);
  return norm_->forward(x);
}

at::Tensor LanguageModel::head(const at::Tensor& states) { return output_(states); }

at::Tensor LanguageModel::forward(const at::Tensor& tokens) { return head(hidden(tokens)); }

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

const Rotary& LanguageModel::rotary_for(std::int64_t tokens, const at::Tensor& like) {
  const auto& table = rotary_.rotation;
  const auto type = c10::toComplexType(like.scalar_type());
  if (!table.defined() || table.size(0) != tokens || table.scalar_type() != type ||
      table.device() != like.device()) {
    const auto head_dim = layers_.front()->attention().rotary_dim();
    rotary_ = Rotary::table(tokens, head_dim, config_.rope_theta, like.detach());
  }
  return rotary_;
}

}  // namespace difflab
