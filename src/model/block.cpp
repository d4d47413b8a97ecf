#include "model/block.h"

#include <ATen/ATen.h>

namespace difflab {
namespace {

std::shared_ptr<Attention> build_attention(const ModelConfig& config, std::int64_t layer,
                                           Kernels kernels) {
  auto shape = config.attention_shape(layer);
  shape.kernels = kernels;
  return std::visit([&](const auto& kind) { return kind.build(shape); }, config.attention);
}

}  // namespace

Block::Block(const ModelConfig& config, std::int64_t layer, Kernels kernels)
    : dropout_(config.dropout),
      attention_scale_(config.attention_scale),
      attn_norm_(register_module("attn_norm", build_norm(config, kernels))),
      attn_(register_module("attn", build_attention(config, layer, kernels))),
      ffn_norm_(register_module("ffn_norm", build_norm(config, kernels))),
      ffn_(register_module("ffn", build_feed_forward(config, kernels))) {}

Residual Block::forward(Residual stream, const Rotary& rotary, KeyValueCache* cache,
                        const at::Tensor& places) {
  const auto attended = attn_norm_->read(stream);
  stream.delta = dropout(attn_->forward(attended, rotary, cache, places));
  if (attention_scale_ != 1) stream.delta = stream.delta * attention_scale_;
  stream.x = at_places(stream.x, places);
  const auto fed = ffn_norm_->read(stream);
  stream.delta = dropout(ffn_->forward(fed));
  return stream;
}

at::Tensor Block::dropout(const at::Tensor& x) const {
  return dropout_ > 0 && is_training() ? at::dropout(x, dropout_, /*train=*/true) : x;
}

}  // namespace difflab
