#include "model/attention/base/controls.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/layer/fill.h"

namespace difflab {

namespace {
constexpr double kSinkStd = 0.02;
}  // namespace

Controls::Controls(torch::nn::Module& owner, const AttentionControls& config,
                   const ControlShape& shape, Kernels kernels)
    : config_(config), shape_(shape) {
  if (config.gate != HeadGate::kNone) {
    const auto numbers = config.gate == HeadGate::kHead ? 1 : shape.head_width;
    gate_proj_ = owner.register_module(
        "gate_proj", Linear(shape.d_model, shape.heads * numbers, /*with_bias=*/false, kernels));
  }
  if (config.sink == AttentionSink::kLearned) {
    sinks_ = owner.register_parameter("sinks", at::zeros({shape.maps}));
  }
  if (config.qk_norm == QkNorm::kNone) return;
  const auto norm = [&] {
    return std::make_shared<HeadNorm>(HeadNormKind::kRms, shape.head_dim, config.qk_norm_eps,
                                      kernels);
  };
  q_norm_ = owner.register_module("q_norm", norm());
  if (shape.own_keys) k_norm_ = owner.register_module("k_norm", norm());
}

std::vector<Linear> Controls::with_gate(std::vector<Linear> projections) const {
  if (!gate_proj_.is_empty()) projections.push_back(gate_proj_);
  return projections;
}

at::Tensor Controls::gate_of(const std::vector<at::Tensor>& projected) const {
  return gate_proj_.is_empty() ? at::Tensor() : projected.back();
}

at::Tensor Controls::gated(const at::Tensor& joined, const at::Tensor& gate,
                           const at::Tensor& places) const {
  if (!gate.defined()) return joined;
  const auto open = at_places(gate, places).sigmoid();
  if (config_.gate == HeadGate::kElement) return joined * open;
  return (joined.unflatten(-1, {shape_.heads, -1}) * open.unsqueeze(-1)).flatten(-2);
}

at::Tensor Controls::sinks(const at::Tensor& x) const {
  if (config_.sink == AttentionSink::kNone) return {};
  if (!sinks_.defined()) return at::zeros({shape_.maps}, x.options().requires_grad(false));
  return sinks_.to(x.scalar_type());
}

void Controls::initialise(const std::function<Random(const std::string& name)>& stream) {
  if (!sinks_.defined()) return;
  const at::NoGradGuard no_grad;
  fill_normal(sinks_, kSinkStd, stream("sinks"));
}

}  // namespace difflab
