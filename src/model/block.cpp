#include "model/llama_block.h"

#include <ATen/ATen.h>

#include "model/linear.h"

namespace difflab {

RmsNorm::RmsNorm(std::int64_t width, double eps)
    : width_(width), eps_(eps), weight_(register_parameter("weight", at::ones(width))) {}

at::Tensor RmsNorm::forward(const at::Tensor& x) const {
  return at::rms_norm(x, {width_}, weight_, eps_);
}

SwiGlu::SwiGlu(std::int64_t d_model, std::int64_t hidden)
    : gate_(register_module("gate", linear(d_model, hidden))),
      up_(register_module("up", linear(d_model, hidden))),
      down_(register_module("down", linear(hidden, d_model))) {}

at::Tensor SwiGlu::forward(const at::Tensor& x) { return down_(at::silu(gate_(x)) * up_(x)); }

LlamaBlock::LlamaBlock(const ModelConfig& config, std::int64_t layer)
    : attn_norm_(
          register_module("attn_norm", std::make_shared<RmsNorm>(config.d_model, config.norm_eps))),
      attn_(register_module("attn", std::visit(
                                        [&](const auto& kind) {
                                          return kind.build({config.d_model, layer});
                                        },
                                        config.attention))),
      ffn_norm_(
          register_module("ffn_norm", std::make_shared<RmsNorm>(config.d_model, config.norm_eps))),
      ffn_(register_module("ffn", std::make_shared<SwiGlu>(config.d_model, config.ffn_width()))) {}

at::Tensor LlamaBlock::forward(const at::Tensor& x, const Rotary& rotary) {
  const auto mixed = x + attn_->forward(attn_norm_->forward(x), rotary);
  return mixed + ffn_->forward(ffn_norm_->forward(mixed));
}

}  // namespace difflab
