#include "model/layer.h"

#include <ATen/ATen.h>

#include "kernel/operation/fused_rows.h"
#include "kernel/operation/fused_swiglu.h"
#include "model/layer/linear.h"
#include "model/layer/norm.h"

namespace difflab {
namespace {

class RmsNorm final : public Norm {
 public:
  RmsNorm(std::int64_t width, double eps, Kernels kernels)
      : eps_(eps), kernels_(kernels), weight_(register_parameter("weight", at::ones(width))) {}

  at::Tensor forward(const at::Tensor& x) override { return rms_norm(x, weight_, eps_, kernels_); }

  at::Tensor read(Residual& stream) override {
    const bool fused = uses_kernels(kernels_) && kernel::takes_rows(stream.x);
    if (!fused || !stream.delta.defined()) return Norm::read(stream);
    const auto both = kernel::add_rms_norm(stream.x, stream.delta, weight_, eps_);
    stream = {both.sum};
    return both.normed;
  }

 private:
  double eps_;
  Kernels kernels_;
  at::Tensor weight_;
};

class LayerNorm final : public Norm {
 public:
  LayerNorm(std::int64_t width, bool bias, double eps)
      : width_(width), eps_(eps), weight_(register_parameter("weight", at::ones(width))) {
    if (bias) bias_ = register_parameter("bias", at::zeros(width));
  }

  at::Tensor forward(const at::Tensor& x) override {
    return at::layer_norm(x, {width_}, weight_, bias_, eps_);
  }

 private:
  std::int64_t width_;
  double eps_;
  at::Tensor weight_, bias_;
};

class SwiGlu final : public Layer {
 public:
  SwiGlu(std::int64_t d_model, std::int64_t hidden, Kernels kernels)
      : gate_(register_module("gate", Linear(d_model, hidden, /*bias=*/false, kernels))),
        up_(register_module("up", Linear(d_model, hidden, /*bias=*/false, kernels))),
        down_(register_module("down", Linear(hidden, d_model, /*bias=*/false, kernels))) {}

  at::Tensor forward(const at::Tensor& x) override {
    if (gate_->is_fused(x) && up_->is_fused(x)) {
      return kernel::swiglu(x, gate_->weight, up_->weight, down_->weight);
    }
    return down_(at::silu(gate_(x)) * up_(x));
  }

 private:
  Linear gate_, up_, down_;
};

class GeluMlp final : public Layer {
 public:
  GeluMlp(std::int64_t d_model, std::int64_t hidden, bool bias, Kernels kernels)
      : fc_(register_module("fc", Linear(d_model, hidden, bias, kernels))),
        proj_(register_module("proj", Linear(hidden, d_model, bias, kernels))) {}

  at::Tensor forward(const at::Tensor& x) override { return proj_(at::gelu(fc_(x))); }

 private:
  Linear fc_, proj_;
};

}  // namespace

at::Tensor Norm::read(Residual& stream) {
  stream = {stream.sum()};
  return forward(stream.x);
}

std::shared_ptr<Norm> build_norm(const ModelConfig& config, Kernels kernels) {
  if (config.block == BlockKind::kNano) {
    return std::make_shared<LayerNorm>(config.d_model, config.has_biases(), config.norm_eps);
  }
  return std::make_shared<RmsNorm>(config.d_model, config.norm_eps, kernels);
}

std::shared_ptr<Layer> build_feed_forward(const ModelConfig& config, Kernels kernels) {
  if (config.block == BlockKind::kNano) {
    return std::make_shared<GeluMlp>(config.d_model, config.ffn_width(), config.has_biases(),
                                     kernels);
  }
  return std::make_shared<SwiGlu>(config.d_model, config.ffn_width(), kernels);
}

}  // namespace difflab
