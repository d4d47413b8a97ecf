#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <memory>

#include "model/attention.h"
#include "model/model_config.h"

namespace difflab {

/// RMSNorm with a learned gain [D], as a module so that the gain is called NAME.weight.
class RmsNorm : public torch::nn::Module {
 public:
  RmsNorm(std::int64_t width, double eps);
  at::Tensor forward(const at::Tensor& x) const;  ///< [..., D] -> [..., D]

 private:
  std::int64_t width_;
  double eps_;
  at::Tensor weight_;
};

/// down(SiLU(gate(x)) · up(x)) (Shazeer 2020, arXiv:2002.05202).
class SwiGlu : public torch::nn::Module {
 public:
  SwiGlu(std::int64_t d_model, std::int64_t hidden);
  at::Tensor forward(const at::Tensor& x);  ///< [..., D] -> [..., D]

 private:
  torch::nn::Linear gate_, up_, down_;
};

/// One pre-norm block of the llama architecture.
class LlamaBlock : public torch::nn::Module {
 public:
  LlamaBlock(const ModelConfig& config, std::int64_t layer);
  at::Tensor forward(const at::Tensor& x, const Rotary& rotary);  ///< [B, T, D] -> [B, T, D]

  Attention& attention() { return *attn_; }
  const Attention& attention() const { return *attn_; }

 private:
  std::shared_ptr<RmsNorm> attn_norm_;
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<RmsNorm> ffn_norm_;
  std::shared_ptr<SwiGlu> ffn_;
};

}  // namespace difflab
