#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/schema/fields.h"
#include "model/attention/base/attention_cost.h"
#include "model/attention/base/controls_config.h"
#include "model/layer/layer_config.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// The Transformer's attention: softmax(QKᵀ/√d) V.
///
/// Source: Vaswani et al. 2017, arXiv:1706.03762; grouped queries after Ainslie et al. 2023,
/// arXiv:2305.13245. Two keys are controls that neither of them has: `head_norm` gives a
/// Transformer the norm that DIFF puts behind each head, and a `head_dim` other than D/H allows for
/// the "Transformer with 1.5 H heads" that DIFF V2 is compared with.
struct SoftmaxAttentionConfig {
  static constexpr std::string_view kKind = "softmax";
  static constexpr std::string_view kAbout =
      "the Transformer's: softmax(QKᵀ/√d) V (arXiv 1706.03762)";

  std::int64_t heads = 4;                     ///< H
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H
  std::optional<std::int64_t> head_dim = {};  ///< d; nothing means D/H
  HeadNormKind head_norm = HeadNormKind::kNone;
  double norm_eps = 1e-5;
  AttentionControls controls = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "query heads H", config::between(1, kMostHeads));
    visit("kv_heads", kv_heads, "key/value heads, a divisor of heads; null means heads",
          config::between(1, kMostHeads));
    visit("head_dim", head_dim, "width d of a head; null means d_model / heads",
          config::between(2, kMostHeads));
    visit("head_norm", head_norm, "norm of each head's output: none, rms or group");
    visit("norm_eps", norm_eps, "epsilon of the head norm; counts only with one",
          config::at_least(0));
    controls.visit_fields(visit);
  }
  void validate(config::Check& check) const {
    if (kv_heads && heads % *kv_heads != 0) {
      check.problem("kv_heads", concat("is ", *kv_heads, "; expected a divisor of heads, ", heads));
    }
    if (head_dim && *head_dim % 2 != 0) {
      check.problem("head_dim", concat("is ", *head_dim, "; expected an even number"));
    }
  }
  void validate_sizes(std::int64_t d_model, std::int64_t, config::Check& check) const {
    if (!head_dim && d_model % (2 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 2 heads = ", 2 * heads,
                                    " (rotary pairs need an even head width), or head_dim to be "
                                    "given"));
    }
  }

  AttentionCost cost(const AttentionShape& shape) const {
    const auto D = shape.d_model, d = head_dim.value_or(D / heads);
    const auto kv_width = kv_heads.value_or(heads) * d;
    AttentionCost cost{.maps = heads,
                       .score_channels = heads * d,
                       .value_channels = heads * d,
                       .cache_channels = 2 * kv_width};
    cost.add_linear("q_proj", D, heads * d, shape.bias);
    cost.add_linear("k_proj", D, kv_width, shape.bias);
    cost.add_linear("v_proj", D, kv_width, shape.bias);
    cost.add_linear("out_proj", heads * d, D, shape.bias);
    cost.add_head_norm(head_norm, d);
    controls.add_to(cost, control_shape(D));
    return cost;
  }

  ControlShape control_shape(std::int64_t d_model) const {
    const auto d = head_dim.value_or(d_model / heads);
    return {.d_model = d_model, .heads = heads, .head_width = d, .maps = heads, .head_dim = d};
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

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
  void validate_sizes(std::int64_t d_model, std::int64_t layers, config::Check& check) const {
    softmax().validate_sizes(d_model, layers, check);
  }
  AttentionCost cost(const AttentionShape& shape) const {
    auto cost = softmax().cost(shape);
    cost.parameters.push_back({"xsa_alpha", {heads}});
    return cost;
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
