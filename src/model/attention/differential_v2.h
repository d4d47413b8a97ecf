#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"
#include "model/attention/base/attention_cost.h"
#include "model/attention/base/controls_config.h"
#include "model/attention/base/noise_groups.h"
#include "model/layer/layer_config.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// Which of the 2H query heads form pair i.
enum class QueryPairing {
  kInterleaved,   ///< 2i and 2i+1, which share keys and values (official)
  kHalves,        ///< i and i+H: the known mistake, an ablation
  kAcrossGroups,  ///< 2i and the second head of the pair H/H_kv further on: other keys and values
};

template <>
inline constexpr auto config::kNames<QueryPairing> = names("interleaved", "halves",
                                                           "across_groups");

/// λ of each token and head.
enum class TokenLambda {
  kSigmoid,  ///< sigmoid(x W_λ) (official)
  kLinear,   ///< x W_λ
  kNone,     ///< 1: the plain difference
};

template <>
inline constexpr auto config::kNames<TokenLambda> = names("sigmoid", "linear", "none");

/// Differential attention, second version: twice the query heads over unchanged keys and values,
/// and a λ for every token and head.
///
///   a   = attention(q, k, v) with 2H query heads over H_kv key/value heads
///   λ   = sigmoid(x W_λ)                     [B, T, H]
///   o_i = a_2i − λ_i · a_2i+1                no head norm, no post-scale
///
/// Source: microsoft/unilm, Diff-Transformer-V2. Pairs are interleaved, so both maps of a pair
/// share one group's keys and values. The head width d need not be D/H. `pairing`, `lambda` and
/// `head_norm` are ablations; the last is not among the published ones.
///
/// With `signal_per_noise` G, G heads are differed by one noise head (Motif 3's operator,
/// MotifTechnologies/vllm, between plain projections): H + N query heads, N = H/G, in groups of G
/// signal heads and their noise head, and o_i = a_s(i) − λ_i · a_n(i) with a λ per signal head.
struct DifferentialV2Config {
  static constexpr std::string_view kKind = "diff_v2";
  static constexpr std::string_view kAbout =
      "DIFF V2: twice the query heads, a λ per token and head, no head norm";

  std::int64_t heads = 4;                     ///< H, as many as the matching Transformer's
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H/G
  std::int64_t signal_per_noise = 1;          ///< G
  std::optional<std::int64_t> head_dim = {};  ///< d; nothing means D/H
  QueryPairing pairing = QueryPairing::kInterleaved;
  TokenLambda lambda = TokenLambda::kSigmoid;
  HeadNormKind head_norm = HeadNormKind::kNone;
  double norm_eps = 1e-5;
  AttentionControls controls = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads, "output heads H, each of a signal map and a noise map",
          config::between(1, kMostHeads));
    visit("kv_heads", kv_heads,
          "key/value heads, a divisor of the noise heads, heads / signal_per_noise; null means as "
          "many",
          config::between(1, kMostHeads));
    visit("signal_per_noise", signal_per_noise,
          "heads that have one noise map in common, a divisor of heads; 1 is the published V2 (2H "
          "query heads)",
          config::between(1, kMostHeads));
    visit("head_dim", head_dim, "width d of a head; null means d_model / heads",
          config::between(2, kMostHeads));
    visit("pairing", pairing,
          "query heads of a pair: interleaved (the official 2i, 2i+1), halves (i, i+H) or "
          "across_groups (maps of two key/value groups)");
    visit("lambda", lambda, "sigmoid (the official), linear (no sigmoid) or none (lambda is 1)");
    visit("head_norm", head_norm, "norm of each head's output: none (the official), rms or group");
    visit("norm_eps", norm_eps, "epsilon of the head norm; counts only with one",
          config::at_least(0));
    controls.visit_fields(visit);
  }
  void validate(config::Check& check) const {
    groups().validate(kv_heads.value_or(1), check);
    if (signal_per_noise > 1 && pairing != QueryPairing::kInterleaved) {
      check.problem("signal_per_noise", concat("is ", signal_per_noise,
                                               " with another pairing than interleaved; expected "
                                               "1, because a pair is two heads"));
    }
    if (head_dim && *head_dim % 2 != 0) {
      check.problem("head_dim", concat("is ", *head_dim, "; expected an even number"));
    }
    if (pairing == QueryPairing::kAcrossGroups && key_value_heads() < 2) {
      check.problem("pairing",
                    "is across_groups with one key/value head; expected kv_heads to be "
                    "at least 2");
    }
  }
  void validate_sizes(std::int64_t d_model, std::int64_t, config::Check& check) const {
    if (!head_dim && d_model % (2 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 2 heads = ", 2 * heads,
                                    ", or head_dim to be given"));
    }
  }

  AttentionCost cost(const AttentionShape& shape) const {
    const auto D = shape.d_model, d = head_dim.value_or(D / heads), maps = groups().maps();
    const auto kv_width = key_value_heads() * d;
    AttentionCost cost{.maps = maps,
                       .score_channels = maps * d,
                       .value_channels = maps * d,
                       .cache_channels = 2 * kv_width};
    cost.add_linear("q_proj", D, maps * d, shape.bias);
    cost.add_linear("k_proj", D, kv_width, shape.bias);
    cost.add_linear("v_proj", D, kv_width, shape.bias);
    cost.add_linear("o_proj", heads * d, D, shape.bias);
    if (lambda != TokenLambda::kNone) cost.add_linear("lambda_proj", D, heads);
    cost.add_head_norm(head_norm, d);
    controls.add_to(cost, control_shape(D));
    return cost;
  }

  NoiseGroups groups() const { return {heads, signal_per_noise}; }
  std::int64_t key_value_heads() const { return kv_heads.value_or(groups().noise_heads()); }

  ControlShape control_shape(std::int64_t d_model) const {
    const auto d = head_dim.value_or(d_model / heads);
    return {.d_model = d_model,
            .heads = heads,
            .head_width = d,
            .maps = groups().maps(),
            .head_dim = d};
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
