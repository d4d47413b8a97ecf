#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "config/schema/fields.h"
#include "model/attention/attention_config.h"
#include "model/init_config.h"
#include "model/layer/layer_config.h"

namespace difflab {

/// The architecture around the attention.
enum class BlockKind {
  kLlama,  ///< RMSNorm, SwiGLU, no biases (Touvron et al. 2023, arXiv:2302.13971)
  kNano,   ///< LayerNorm, GELU feed-forward of width 4D, biases unless told (GPT-2, nanoGPT)
};

template <>
inline constexpr auto config::kNames<BlockKind> = names("llama", "nano");

/// How a model knows the order of its tokens.
enum class Positions {
  kRotary,   ///< queries and keys are turned by an angle (rotary.h)
  kLearned,  ///< a learned vector per position is added to the embedding
  kNone,     ///< only through the causal mask
};

template <>
inline constexpr auto config::kNames<Positions> = names("rotary", "learned", "none");

/// A decoder-only language model of pre-norm blocks:
///
///   x ← x + attention(norm(x)),  x ← x + feed_forward(norm(x))
///
/// then a final norm and an output head. The default is the llama block that the DIFF paper trains
/// both models in (arXiv 2410.05258, section 3.1).
struct ModelConfig {
  std::string name = "model";  ///< label in tables and figures; without effect on the result
  std::int64_t d_model = 64;
  std::int64_t layers = 2;
  BlockKind block = BlockKind::kLlama;
  bool biases = true;           ///< of nano
  std::int64_t ffn_hidden = 0;  ///< 0 means the block's own width, see ffn_width
  double norm_eps = 1e-5;
  Positions positions = Positions::kRotary;
  double rope_theta = 10'000;
  RotaryLayout rope_layout = RotaryLayout::kInterleaved;
  std::int64_t max_positions = 300;  ///< of learned positions
  bool tied_head = false;
  double dropout = 0;
  std::optional<double> init_std = {};
  std::optional<double> embedding_std = {};
  EmbeddingScale embedding_scale = {};
  double attention_scale = 1;
  InitConfig init = {};
  AttentionConfig attention = {};

  /// The feed-forward width that is built: 8D/3 rounded up to a multiple of 32 (llama), 4D (nano).
  std::int64_t ffn_width() const {
    if (ffn_hidden > 0) return ffn_hidden;
    return block == BlockKind::kNano ? 4 * d_model : (8 * d_model / 3 + 31) / 32 * 32;
  }

  /// Biases in norms, projections, feed-forward layer and output head.
  bool has_biases() const { return block == BlockKind::kNano && biases; }

  AttentionShape attention_shape(std::int64_t layer) const {
    return {.d_model = d_model, .layer = layer, .bias = has_biases()};
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "label in tables and figures; does not change the result");
    visit("d_model", d_model, "channels D of the residual stream", config::between(2, 1 << 20));
    visit("layers", layers, "blocks", config::between(1, 10'000));
    visit("block", block,
          "llama (RMSNorm, SwiGLU, no biases) or nano (LayerNorm, GELU, biases; nanoGPT)");
    visit("biases", biases,
          "biases everywhere; counts only with block=nano (nanoGPT trains without)");
    visit("ffn_hidden", ffn_hidden,
          "feed-forward width; 0 means 8D/3 rounded up to a multiple of 32 (llama) or 4D (nano)",
          config::between(0, 1 << 24));
    visit("norm_eps", norm_eps, "epsilon of the block norms", config::at_least(0));
    visit("positions", positions, "rotary, learned or none");
    visit("rope_theta", rope_theta, "base of the rotary angles; counts only with rotary positions",
          config::at_least(1));
    visit("rope_layout", rope_layout,
          "channels that are turned together: interleaved (2j, 2j+1) or halves (j, j + d/2)");
    visit("max_positions", max_positions, "longest sequence that learned positions allow for",
          config::between(1, 1 << 24));
    visit("tied_head", tied_head, "the output head uses the token embeddings");
    visit("dropout", dropout,
          "share of the embeddings' and of each sublayer's output set to 0 in training",
          config::between(0, 0.999));
    visit("init_std", init_std,
          "standard deviation of matrices at the start; null draws them as init.matrices says",
          config::at_least(0));
    visit("embedding_std", embedding_std,
          "standard deviation of embeddings at the start; null draws them as init.embedding says",
          config::at_least(0));
    visit("embedding_scale", embedding_scale,
          "what token embeddings are multiplied by: a number, or sqrt_width for sqrt(d_model)");
    visit("attention_scale", attention_scale,
          "what attention adds to the residual stream is multiplied by, in every layer",
          config::at_least(0));
    visit("init", init, "what the parameters are drawn from");
    visit("attention", attention, "how tokens exchange information");
  }

  void validate(config::Check& check) const {
    config::PartCheck nested(check, "attention.");
    std::visit([&](const auto& kind) { kind.validate_sizes(d_model, layers, nested); }, attention);
  }
};

}  // namespace difflab
