#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "config/fields.h"
#include "model/attention_config.h"
#include "util/text.h"

namespace difflab {

/// A decoder-only language model of llama blocks:
///
///   x ← x + attention(RMSNorm(x)),  x ← x + down(SiLU(gate(r)) · up(r)) with r = RMSNorm(x)
///
/// then a final RMSNorm and an untied output head; no biases. Source: Touvron et al. 2023,
/// arXiv:2302.13971, the block that the DIFF paper trains both models in (section 3.1).
struct ModelConfig {
  std::string name = "model";  ///< label in tables and figures; without effect on the result
  std::int64_t d_model = 64;
  std::int64_t layers = 2;
  std::int64_t ffn_hidden = 0;  ///< 0 means 8D/3 rounded up to a multiple of 32
  double rope_theta = 10'000;
  double norm_eps = 1e-5;
  std::optional<double> init_std = {};
  std::optional<double> embedding_std = {};
  AttentionConfig attention = {};

  /// The feed-forward width that is built.
  std::int64_t ffn_width() const {
    return ffn_hidden > 0 ? ffn_hidden : (8 * d_model / 3 + 31) / 32 * 32;
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "label in tables and figures; does not change the result");
    visit("d_model", d_model, "channels D of the residual stream", config::at_least(2));
    visit("layers", layers, "blocks", config::at_least(1));
    visit("ffn_hidden", ffn_hidden,
          "feed-forward width; 0 means 8D/3 rounded up to a multiple of 32", config::at_least(0));
    visit("rope_theta", rope_theta, "base of the rotary angles", config::at_least(1));
    visit("norm_eps", norm_eps, "epsilon of the block norms", config::at_least(0));
    visit("init_std", init_std,
          "standard deviation of matrices at the start; null draws them from U(-1/sqrt(in), "
          "1/sqrt(in)), as the official files do",
          config::at_least(0));
    visit("embedding_std", embedding_std,
          "standard deviation of embeddings at the start; null means 1/sqrt(d_model), as in the "
          "official trainer",
          config::at_least(0));
    visit("attention", attention, "how tokens exchange information");
  }

  void validate(config::Check& check) const {
    Nested nested(check);
    std::visit([&](const auto& kind) { kind.validate_width(d_model, nested); }, attention);
    const auto* diff = std::get_if<DifferentialAttentionConfig>(&attention);
    if (diff && diff->lambda_init.layers().value_or(layers) != layers) {
      check.problem("attention.lambda_init",
                    concat("lists ", *diff->lambda_init.layers(), " values for ", layers,
                           " layers; expected one per layer"));
    }
  }

 private:
  struct Nested final : config::Check {
    explicit Nested(config::Check& outer) : outer_(outer) {}
    void problem(std::string_view key, std::string_view message) override {
      outer_.problem(concat("attention.", key), message);
    }
    config::Check& outer_;
  };
};

}  // namespace difflab
