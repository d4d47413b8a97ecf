#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/attention/base/key_value_cache.h"
#include "model/layer/layer_config.h"
#include "model/layer/linear.h"
#include "model/layer/rotary.h"
#include "model/model_config.h"

namespace difflab {

class Attention;
class Block;
class Norm;

/// One layer with its inputs and its output for a batch.
struct LayerView {
  std::int64_t layer;
  Attention& attention;
  const at::Tensor& stream;           ///< [B, T, D], the residual stream before the layer
  const at::Tensor& attention_input;  ///< [B, T, D], what the attention reads
  const Rotary& rotary;
  const at::Tensor& output;  ///< [B, T, D], the residual stream behind the layer
};

/// State that decoding keeps between tokens: a cache for each layer.
struct DecodingState {
  std::vector<KeyValueCache> layers;
  std::int64_t tokens() const { return layers.empty() ? 0 : layers.front().tokens(); }
  /// Forgets all but the first `tokens`.
  void keep(std::int64_t tokens) {
    for (auto& layer : layers) layer.keep(tokens);
  }
};

/// Tokens in, logits out. Parameter names: tok_embeddings, positions (if learned),
/// layers.N.{attn_norm, attn, ffn_norm, ffn}, norm, output (if not tied) – those of the reference
/// cases.
class LanguageModel : public torch::nn::Module {
 public:
  /// The model on the CPU in float32; its matrices hold no particular values before `initialise`.
  LanguageModel(const ModelConfig& config, std::int64_t vocab_size,
                Kernels kernels = Kernels::kPlain);

  /// tokens [B, T] -> logits [B, T, V].
  at::Tensor forward(const at::Tensor& tokens);

  /// tokens [B, T] -> the normalised state before the output head, [B, T, D]. With a decoding
  /// state, the tokens come after those it has seen, and are added to it.
  /// @throws UserError if there are more tokens than learned positions.
  at::Tensor hidden(const at::Tensor& tokens, DecodingState* decoding = nullptr);

  /// The same at flat places [n] of B · T alone, in ascending order: [n, D]. The last layer does no
  /// more than they need.
  at::Tensor hidden_at(const at::Tensor& tokens, const at::Tensor& places);

  /// Passes tokens [B, T] through the layers and shows what each does, for analysis. What a visit
  /// writes into a layer's output, the next layer reads. Returns the normalised state before the
  /// output head, [B, T, D].
  at::Tensor observe(const at::Tensor& tokens, const std::function<void(const LayerView&)>& visit);

  /// states [..., D] -> logits [..., V].
  at::Tensor head(const at::Tensor& states);

  /// Replaces the rotary table, which else is computed from rope_theta (reference cases).
  void set_rotary(Rotary rotary) { rotary_ = std::move(rotary); }

  /// Makes the rotary table of `tokens` positions at once. Up to there it keeps its place in
  /// memory, which recorded steps (cuda_graph) rely on when a longer batch follows a shorter one.
  void reserve_positions(std::int64_t tokens);

  /// Calls visit("layers.N.attn.", attention) for every layer.
  void for_each_attention(
      const std::function<void(const std::string& prefix, Attention& attention)>& visit);

  const ModelConfig& config() const { return config_; }
  Kernels kernels() const { return kernels_; }

  /// In what numbers the functions above multiply, from now on; float32 at first.
  void set_precision(Precision precision) { precision_ = precision; }
  Precision precision() const { return precision_; }
  /// Sets whether all blocks but the last recompute their intermediate values in the backward pass
  /// instead of keeping them (block.h); at first they keep them.
  void recompute_blocks(bool recompute) { recompute_ = recompute; }
  std::int64_t parameter_count() const;

  /// Named numbers of all layers, e.g. {"lambda.0", 0.31}.
  std::vector<std::pair<std::string, double>> statistics() const;

 private:
  at::Tensor embed(const at::Tensor& tokens, std::int64_t begin);
  at::Tensor pass(const at::Tensor& tokens, DecodingState* decoding, const at::Tensor& places);
  Rotary rotary_for(std::int64_t begin, std::int64_t tokens, const at::Tensor& like);

  ModelConfig config_;
  Kernels kernels_;
  Precision precision_ = Precision::kFloat32;
  bool recompute_ = false;
  torch::nn::Embedding tok_embeddings_, positions_{nullptr};
  std::vector<std::shared_ptr<Block>> layers_;
  std::shared_ptr<Norm> norm_;
  Linear output_{nullptr};
  Rotary rotary_;
};

/// A hook (WithLogitHook and so on) in every attention of a model.
template <class Hook, class Function>
std::vector<std::unique_ptr<Hook>> hooks_in(LanguageModel& model, const Function& hook) {
  std::vector<std::unique_ptr<Hook>> hooks;
  model.for_each_attention([&](const std::string&, Attention& attention) {
    hooks.push_back(std::make_unique<Hook>(attention, hook));
  });
  return hooks;
}

/// Draws every parameter from a stream that is keyed by the seed and the parameter's own name, so
/// that models of one seed share what they have in common. Matrices, embeddings and the output head
/// follow config.init (init_config.h), whose defaults are the rules of the official files
/// (PyTorch's for Linear) and of the trainer they name (embeddings); gains are 1, biases 0. What is
/// named neither .weight nor .bias is its attention's own (Attention::initialise).
void initialise(LanguageModel& model, const ModelConfig& config, std::uint64_t seed);

/// While one exists, the model does not drop anything. Whoever scores on several threads has one
/// around all of them, so that none sets the mode of another.
class EvaluationMode {
 public:
  explicit EvaluationMode(LanguageModel& model) : model_(model), training_(model.is_training()) {
    if (training_) model_.eval();
  }
  ~EvaluationMode() {
    if (training_) model_.train();
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  LanguageModel& model_;
  bool training_;
};

}  // namespace difflab
