#pragma once

#include <cstdint>

namespace difflab {

/// Parameters of a diffusion Transformer (DiT, Peebles & Xie 2023, arXiv:2212.09748) with joint
/// text attention, by the usual estimate: without the biases of the attention's matrices and
/// without the modulation of its norms.
struct DiffusionTransformer {
  std::int64_t heads = 24, head_dim = 64, layers = 24;
  std::int64_t sample = 128;  ///< side of the latent image
  std::int64_t patch = 2;     ///< side p of a patch
  std::int64_t in_channels = 16, out_channels = 16;
  std::int64_t joint = 4096;    ///< width of the text states in the joint attention
  std::int64_t caption = 4096;  ///< width of the caption states
  std::int64_t pooled = 2048;   ///< width of the pooled caption

  std::int64_t hidden() const { return heads * head_dim; }
  std::int64_t patch_parameters() const {
    return in_channels * patch * patch * hidden() + hidden();
  }
  std::int64_t position_parameters() const {
    return (sample / patch) * (sample / patch) * hidden();
  }
  std::int64_t layer_parameters() const {
    return layers * (4 * hidden() * hidden() + 2 * hidden() * joint + 3 * hidden());
  }
  std::int64_t output_parameters() const { return hidden() * out_channels * patch * patch; }
  std::int64_t projection_parameters() const { return hidden() * caption + hidden() * pooled; }
  std::int64_t total() const {
    return patch_parameters() + position_parameters() + layer_parameters() + output_parameters() +
           projection_parameters();
  }
};

}  // namespace difflab
