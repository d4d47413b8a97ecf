#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/fields.h"
#include "model/attention_shape.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// Differential attention, second version: twice the query heads over unchanged keys and values,
/// and a λ for every token and head.
///
///   a   = attention(q, k, v) with 2H query heads over H_kv key/value heads
///   λ   = sigmoid(x W_λ)                     [B, T, H]
///   o_i = a_2i − λ_i · a_2i+1                no head norm, no post-scale
///
/// Source: microsoft/unilm, Diff-Transformer-V2. Pairs are interleaved, so both maps of a pair
/// share one group's keys and values. The head width d need not be D/H.
struct DifferentialV2Config {
  static constexpr std::string_view kKind = "diff_v2";

  std::int64_t heads = 4;                     ///< H, as many as the matching Transformer's
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H
  std::optional<std::int64_t> head_dim = {};  ///< d; nothing means D/H

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "output heads H (2H query heads)", config::at_least(1));
    visit("kv_heads", kv_heads, "key/value heads, a divisor of heads; null means heads",
          config::at_least(1));
    visit("head_dim", head_dim, "width d of a head; null means d_model / heads",
          config::at_least(2));
  }
  void validate(config::Check& check) const {
    if (kv_heads && heads % *kv_heads != 0) {
      check.problem("kv_heads", concat("is ", *kv_heads, "; expected a divisor of heads, ", heads));
    }
    if (head_dim && *head_dim % 2 != 0) {
      check.problem("head_dim", concat("is ", *head_dim, "; expected an even number"));
    }
  }
  void validate_width(std::int64_t d_model, config::Check& check) const {
    if (!head_dim && d_model % (2 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 2 heads = ", 2 * heads,
                                    ", or head_dim to be given"));
    }
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
