#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/fields.h"
#include "model/attention_shape.h"
#include "model/head_norm_config.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// The Transformer's attention: softmax(QKᵀ/√d) V, d = D/H.
///
/// Source: Vaswani et al. 2017, arXiv:1706.03762; grouped queries after Ainslie et al. 2023,
/// arXiv:2305.13245. `head_norm` is not part of either: it is the control that gives a Transformer
/// the norm that DIFF puts behind each head.
struct SoftmaxAttentionConfig {
  static constexpr std::string_view kKind = "softmax";

  std::int64_t heads = 4;                     ///< H
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H
  HeadNormKind head_norm = HeadNormKind::kNone;
  double norm_eps = 1e-5;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "query heads H", config::at_least(1));
    visit("kv_heads", kv_heads, "key/value heads, a divisor of heads; null means heads",
          config::at_least(1));
    visit("head_norm", head_norm, "norm of each head's output: none, rms or group");
    visit("norm_eps", norm_eps, "epsilon of the head norm", config::at_least(0));
  }
  void validate(config::Check& check) const {
    if (kv_heads && heads % *kv_heads != 0) {
      check.problem("kv_heads", concat("is ", *kv_heads, "; expected a divisor of heads, ", heads));
    }
  }
  void validate_width(std::int64_t d_model, config::Check& check) const {
    if (d_model % (2 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 2 heads = ", 2 * heads,
                                    " (rotary pairs need an even head width)"));
    }
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
