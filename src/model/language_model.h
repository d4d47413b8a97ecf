#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/model_config.h"
#include "model/rotary.h"

namespace difflab {

class LlamaBlock;
class RmsNorm;

/// Tokens in, logits out. Parameter names: tok_embeddings, layers.N.{attn_norm, attn, ffn_norm,
/// ffn.{gate,up,down}}, norm, output – those of the reference cases.
class LanguageModel : public torch::nn::Module {
 public:
  /// The model on the CPU in float32, uninitialised but for norms; see `initialise`.
  LanguageModel(const ModelConfig& config, std::int64_t vocab_size);

  /// tokens [B, T] -> logits [B, T, V].
  at::Tensor forward(const at::Tensor& tokens);

  /// tokens [B, T] -> the normalised state before the output head, [B, T, D].
  at::Tensor hidden(const at::Tensor& tokens);

  /// states [..., D] -> logits [..., V].
  at::Tensor head(const at::Tensor& states);

  /// Replaces the rotary table, which else is computed from rope_theta (reference cases).
  void set_rotary(Rotary rotary) { rotary_ = std::move(rotary); }

  std::int64_t parameter_count() const;

  /// Named numbers of all layers, e.g. {"lambda.0", 0.31}.
  std::vector<std::pair<std::string, double>> statistics() const;

 private:
  const Rotary& rotary_for(std::int64_t tokens, const at::Tensor& like);

  ModelConfig config_;
  torch::nn::Embedding tok_embeddings_;
  std::vector<std::shared_ptr<LlamaBlock>> layers_;
  std::shared_ptr<RmsNorm> norm_;
  torch::nn::Linear output_;
  Rotary rotary_;
};

}  // namespace difflab
