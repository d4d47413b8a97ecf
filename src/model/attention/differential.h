#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/fields.h"
#include "model/attention_shape.h"
#include "model/head_norm_config.h"
#include "model/lambda_init_config.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// Which key sub-heads a pair of maps reads when there are fewer key/value heads than heads.
enum class KeyPairing {
  kGroup,  ///< pair i reads the pair of its group, 2(i/n) and 2(i/n)+1 (official flash files)
  kNaive,  ///< query sub-head j reads key sub-head j/n (official naive file); for parity only
};

template <>
struct config::EnumNames<KeyPairing> {
  static constexpr std::array<std::pair<std::string_view, KeyPairing>, 2> kNames{{
      {"group", KeyPairing::kGroup},
      {"naive", KeyPairing::kNaive},
  }};
};

/// Differential attention, first version: the difference of two softmax maps cancels what both
/// attend to.
///
///   A_i    = softmax(q_2i k_2iᵀ/√d) − λ softmax(q_2i+1 k_2i+1ᵀ/√d),   d = D/(2H)
///   o_i    = (1 − λ_init) · headnorm(A_i v_i),                         v_i of width 2d
///   λ      = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init                  one per layer
///
/// Source: Ye et al. 2024, arXiv:2410.05258, eq. 1-3; layout of the sub-heads from
/// microsoft/unilm, Diff-Transformer. Adds 4d + 2d parameters per layer to a Transformer with 2H
/// heads of the same width.
struct DifferentialAttentionConfig {
  static constexpr std::string_view kKind = "diff_v1";

  std::int64_t heads = 2;                     ///< H, half of the matching Transformer's
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H
  HeadNormKind head_norm = HeadNormKind::kRms;
  bool post_scale = true;
  LambdaInit lambda_init = {};
  double lambda_std = 0.1;
  KeyPairing key_pairing = KeyPairing::kGroup;
  double norm_eps = 1e-5;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "pairs of maps H, half of a matching Transformer's heads",
          config::at_least(1));
    visit("kv_heads", kv_heads, "key/value heads, a divisor of heads; null means heads",
          config::at_least(1));
    visit("head_norm", head_norm, "norm of each head's output: none, rms (the paper's) or group");
    visit("post_scale", post_scale, "multiply each head by 1 - lambda_init after the norm");
    visit("lambda_init", lambda_init, "schedule, one number, or a list with one per layer");
    visit("lambda_std", lambda_std, "standard deviation of the four lambda vectors at the start",
          config::at_least(0));
    visit("key_pairing", key_pairing, "keys of a pair under grouped queries: group or naive");
    visit("norm_eps", norm_eps, "epsilon of the head norm", config::at_least(0));
  }
  void validate(config::Check& check) const {
    if (kv_heads && heads % *kv_heads != 0) {
      check.problem("kv_heads", concat("is ", *kv_heads, "; expected a divisor of heads, ", heads));
    }
  }
  void validate_width(std::int64_t d_model, config::Check& check) const {
    if (d_model % (4 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 4 heads = ", 4 * heads,
                                    " (two maps per head, each of even width)"));
    }
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
