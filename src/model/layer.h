#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>

#include "model/layer/layer_config.h"
#include "model/model_config.h"

namespace difflab {

/// A part of a block that looks at one token at a time.
class Layer : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& x) = 0;  ///< [..., D] -> [..., D]
};

/// The residual stream between two layers. What the layer before adds to it is not added yet, since
/// the norm that reads it can do both in one pass.
struct Residual {
  at::Tensor x, delta = {};  ///< [..., D]; delta may be undefined

  at::Tensor sum() const { return delta.defined() ? x + delta : x; }
};

/// The norm through which a layer reads the residual stream.
class Norm : public Layer {
 public:
  /// The norm of the stream's sum, which becomes its x: [..., D].
  virtual at::Tensor read(Residual& stream);
};

/// llama: RMSNorm with a learned gain `weight` [D] (Zhang & Sennrich 2019, arXiv:1910.07467);
/// nano: LayerNorm with `weight` and, if it has biases, `bias` [D] (Ba et al. 2016,
/// arXiv:1607.06450). Fused, RMSNorm is one pass over the numbers on the CPU, with the sum of the
/// stream in it.
std::shared_ptr<Norm> build_norm(const ModelConfig& config, Kernels kernels);

/// llama: SwiGLU, down(SiLU(gate(x)) · up(x)), no biases (Shazeer 2020, arXiv:2002.05202);
/// nano: proj(GELU(fc(x))), the exact GELU (Hendrycks & Gimpel 2016, arXiv:1606.08415).
/// Fused, SwiGLU is one kernel on the CPU.
std::shared_ptr<Layer> build_feed_forward(const ModelConfig& config, Kernels kernels);

}  // namespace difflab
