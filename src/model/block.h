#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "model/attention/base/attention.h"
#include "model/layer.h"
#include "model/layer/layer_config.h"
#include "model/model_config.h"

namespace difflab {

/// One pre-norm block: x ← x + c · attention(norm(x)), x ← x + feed_forward(norm(x)), where c is
/// attention_scale. The architectures llama and nano differ in the norm and the feed-forward layer
/// (layer.h) and in biases.
class Block : public torch::nn::Module {
 public:
  Block(const ModelConfig& config, std::int64_t layer, Kernels kernels);

  /// The stream [B, T, D] behind the block; rotary and cache as in Attention::forward. With flat
  /// `places` [n] of B · T, only there: [n, D]. What follows the maps is then computed for nothing
  /// else.
  Residual forward(Residual stream, const Rotary& rotary, KeyValueCache* cache = nullptr,
                   const at::Tensor& places = {});

  /// The attention's input for the stream x [B, T, D], for analysis: [B, T, D].
  at::Tensor attention_input(const at::Tensor& x) { return attn_norm_->forward(x); }

  Attention& attention() { return *attn_; }
  const Attention& attention() const { return *attn_; }

 private:
  at::Tensor dropout(const at::Tensor& x) const;

  double dropout_, attention_scale_;
  std::shared_ptr<Norm> attn_norm_;
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<Norm> ffn_norm_;
  std::shared_ptr<Layer> ffn_;
};

/// Block::forward at all places, of which only the stream in front is kept for the way back: there
/// the block is computed once more (Chen et al. 2016, arXiv:1604.06174). Gradients have the bits
/// they have otherwise, and dropout drops the same. `block` must outlive the graph.
Residual recomputed(Block& block, const Residual& stream, const Rotary& rotary,
                    Precision precision);

}  // namespace difflab
