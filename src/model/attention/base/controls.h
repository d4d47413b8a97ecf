#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/attention/base/controls_config.h"
#include "model/layer/linear.h"
#include "model/layer/norm.h"
#include "util/random.h"

namespace difflab {

/// Gate, sink and QK-norm of an attention module, whose parameters they become: `gate_proj`,
/// `sinks` [maps], `q_norm` and `k_norm`.
class Controls {
 public:
  Controls(torch::nn::Module& owner, const AttentionControls& config, const ControlShape& shape,
           Kernels kernels);

  /// The projections of a layer's input, with the gate's behind them if there is one.
  std::vector<Linear> with_gate(std::vector<Linear> projections) const;
  /// The gate's logits of what with_gate's projections gave; undefined without a gate.
  at::Tensor gate_of(const std::vector<at::Tensor>& projected) const;
  /// Joined heads [..., H · width], which lie at these places of the layer's input, times
  /// sigmoid(gate) there; they themselves if it is undefined.
  at::Tensor gated(const at::Tensor& joined, const at::Tensor& gate,
                   const at::Tensor& places) const;

  /// Heads [B, T, heads, d] before they are turned.
  at::Tensor queries(const at::Tensor& q) const { return q_norm_ ? q_norm_->forward(q) : q; }
  at::Tensor keys(const at::Tensor& k) const { return k_norm_ ? k_norm_->forward(k) : k; }

  /// The logit of every map's sink [maps], like x in type and device; undefined without sinks.
  at::Tensor sinks(const at::Tensor& x) const;

  /// N(0, 0.02²) for learned sinks, as gpt-oss starts.
  void initialise(const std::function<Random(const std::string& name)>& stream);

 private:
  AttentionControls config_;
  ControlShape shape_;
  Linear gate_proj_{nullptr};
  at::Tensor sinks_;
  std::shared_ptr<HeadNorm> q_norm_, k_norm_;
};

}  // namespace difflab
