#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/schema/fields.h"
#include "model/attention/base/attention_cost.h"
#include "model/attention/base/attention_shape.h"
#include "model/attention/base/controls_config.h"
#include "model/attention/softmax.h"

namespace difflab {

class Attention;

/// Exclusive self-attention: the Transformer's, less what each token would say of itself.
///
///   a_t = Σ_s softmax(q_t k_sᵀ/√d) v_s,   u_t = v_t / |v_t|
///   o_t = a_t − tanh(α_j) (a_t · u_t) u_t                  α_j one per head, 0 at the start
///
/// v_t is the token's own value, that of its group with grouped queries. tanh α = 1 is the paper's,
/// in which outputs are orthogonal to the own value; 0 is plain attention. A subtraction without a
/// second map, hence a control for DIFF. Source: arXiv 2603.09078; the learned strength from
/// KellerJordan/modded-nanogpt (record 82).
struct ExclusiveAttentionConfig {
  static constexpr std::string_view kKind = "xsa";
  static constexpr std::string_view kAbout =
      "XSA: softmax attention less its part along the token's own value (arXiv 2603.09078)";

  std::int64_t heads = 4;                     ///< H
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H
  std::optional<std::int64_t> head_dim = {};  ///< d; nothing means D/H
  AttentionControls controls = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "query heads H", config::between(1, kMostHeads));
    visit("kv_heads", kv_heads, "key/value heads, a divisor of heads; null means heads",
          config::between(1, kMostHeads));
    visit("head_dim", head_dim, "width d of a head; null means d_model / heads",
          config::between(2, kMostHeads));
    controls.visit_fields(visit);
  }
  /// The same without the subtraction.
  SoftmaxAttentionConfig softmax() const {
    return {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .controls = controls};
  }
  void validate(config::Check& check) const { softmax().validate(check); }
  void validate_width(std::int64_t d_model, config::Check& check) const {
    softmax().validate_width(d_model, check);
  }
  AttentionCost cost(const AttentionShape& shape) const {
    auto cost = softmax().cost(shape);
    cost.parameters.push_back({"xsa_alpha", {heads}});
    return cost;
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
