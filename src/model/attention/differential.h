#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/schema/fields.h"
#include "model/attention/base/attention_cost.h"
#include "model/attention/base/controls_config.h"
#include "model/attention/base/lambda_init_config.h"
#include "model/attention/base/noise_groups.h"
#include "model/layer/layer_config.h"
#include "util/text.h"

namespace difflab {

class Attention;

/// Which key sub-heads a pair of maps reads when there are fewer key/value heads than heads.
enum class KeyPairing {
  kGroup,  ///< pair i reads the pair of its group, 2(i/n) and 2(i/n)+1 (official flash files)
  kNaive,  ///< query sub-head j reads key sub-head j/n (official naive file); for parity only
};

template <>
inline constexpr auto config::kNames<KeyPairing> = names("group", "naive");

/// How λ depends on what is learned.
enum class LambdaForm {
  kExponential,  ///< exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init, four vectors of width d (the paper)
  kScalarExponential,  ///< exp(λ_a) − exp(λ_b) + λ_init, two numbers that start at 0 (timm)
  kScalar,             ///< one number that starts at λ_init
  kConstant,           ///< λ_init itself, nothing learned
};

template <>
inline constexpr auto config::kNames<LambdaForm> = names("exponential", "scalar_exponential",
                                                         "scalar", "constant");

/// Who shares a λ.
enum class LambdaScope { kLayer, kHead, kToken };

template <>
inline constexpr auto config::kNames<LambdaScope> = names("layer", "head", "token");

/// Which values λ may take.
enum class LambdaSign {
  kFree,
  kPositive,  ///< (λ_init/4) ln(1 + (e⁴ − 1) exp(4 (λ − λ_init)/λ_init)) in place of λ
};

template <>
inline constexpr auto config::kNames<LambdaSign> = names("free", "positive");

/// Differential attention, first version: the difference of two softmax maps cancels what both
/// attend to.
///
///   A_i    = softmax(q_2i k_2iᵀ/√d) − λ softmax(q_2i+1 k_2i+1ᵀ/√d),   d = D/(2H)
///   o_i    = (1 − λ_init) · headnorm(A_i v_i),                         v_i of width 2d
///   λ      = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init                  one per layer
///
/// Source: Ye et al. 2024, arXiv:2410.05258, eq. 1-3; layout of the sub-heads from
/// microsoft/unilm, Diff-Transformer. Adds 4d + 2d parameters per layer to a Transformer with 2H
/// heads of the same width. `symmetric` is Diff_Symmetry: K = Q, so there is no W_K. With
/// `lambda_per: token`, which is not published, λ = sigmoid(logit λ_init + x W_λ) for every token
/// and head, as in V2 but for its start: W_λ is 0 there, so λ is λ_init.
///
/// With `signal_per_noise` G, G heads are differed by one noise map (grouped differential
/// attention, Motif, arXiv 2510.06949): H signal heads, N = H/G noise heads, and
///
///   A_i = softmax(q_s(i) k_2pᵀ/√d) − λ softmax(q_n(i) k_2p+1ᵀ/√d)
///
/// with the keys and values of pair p of the group. The output is 2dH wide, the queries (H + N)d.
struct DifferentialAttentionConfig {
  static constexpr std::string_view kKind = "diff_v1";
  static constexpr std::string_view kAbout =
      "DIFF V1: the difference of two softmax maps, with λ and a norm per head (arXiv 2410.05258)";

  std::int64_t heads = 2;                     ///< H, half of the matching Transformer's
  std::optional<std::int64_t> kv_heads = {};  ///< H_kv; nothing means H/G
  std::int64_t signal_per_noise = 1;          ///< G
  std::optional<std::int64_t> head_dim = {};  ///< d; nothing means D/2H
  HeadNormKind head_norm = HeadNormKind::kRms;
  bool post_scale = true;
  LambdaInit lambda_init = {};
  LambdaForm lambda_form = LambdaForm::kExponential;
  LambdaScope lambda_per = LambdaScope::kLayer;
  LambdaSign lambda_sign = LambdaSign::kFree;
  double lambda_std = 0.1;
  KeyPairing key_pairing = KeyPairing::kGroup;
  bool symmetric = false;
  double norm_eps = 1e-5;
  AttentionControls controls = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("heads", heads,
          "output heads H, each of a signal map and a noise map; half of a matching Transformer's",
          config::between(1, kMostHeads));
    visit("kv_heads", kv_heads,
          "key/value heads, a divisor of the noise heads, heads / signal_per_noise; null means as "
          "many",
          config::between(1, kMostHeads));
    visit("signal_per_noise", signal_per_noise,
          "heads that have one noise map in common, a divisor of heads; more than 1 is grouped "
          "differential attention (Motif)",
          config::between(1, kMostHeads));
    visit("head_dim", head_dim,
          "width d of queries and keys, half of a value's; null means d_model / (2 heads)",
          config::between(2, kMostHeads));
    visit("head_norm", head_norm, "norm of each head's output: none, rms (the paper's) or group");
    visit("post_scale", post_scale, "multiply each head by 1 - lambda_init after the norm");
    visit("lambda_init", lambda_init,
          "schedule, motif_schedule (the schedule for a layer earlier), one number, or a list with "
          "one per layer");
    visit(
        "lambda_form", lambda_form,
        "exponential (the paper's, four learned vectors), scalar_exponential (timm's, two learned "
        "numbers), scalar (one learned number that starts at lambda_init) or constant "
        "(lambda_init, nothing learned)");
    visit("lambda_per", lambda_per,
          "who shares a lambda: layer (the paper's), head, which counts only where it is learned, "
          "or nobody: token, a sigmoid of the input instead of lambda_form");
    visit("lambda_sign", lambda_sign,
          "free, or positive: a softplus keeps lambda above 0, and at lambda_init where it is "
          "there; counts only where it is learned");
    visit("lambda_std", lambda_std,
          "standard deviation of the four lambda vectors of the exponential form at the start",
          config::at_least(0));
    visit("key_pairing", key_pairing, "keys of a pair under grouped queries: group or naive");
    visit("symmetric", symmetric, "keys are the queries: no k_proj (Diff_Symmetry)");
    visit("norm_eps", norm_eps, "epsilon of the head norm; counts only with one",
          config::at_least(0));
    controls.visit_fields(visit);
  }
  void validate(config::Check& check) const {
    if (post_scale && lambda_init.has(1)) {
      check.problem("lambda_init",
                    "is 1 with post_scale, which multiplies every head by 1 - lambda_init = 0; "
                    "expected less than 1, or post_scale: false");
    }
    if (lambda_form == LambdaForm::kExponential && lambda_std == 0 && !per_token()) {
      check.problem(
          "lambda_std",
          "is 0, from where the products of the lambda vectors have no gradient; expected "
          "more, or lambda_form: constant");
    }
    if (per_token() &&
        (lambda_form != LambdaForm::kExponential || lambda_sign != LambdaSign::kFree)) {
      check.problem(
          "lambda_per",
          "is token, which has no lambda_form and no lambda_sign; expected layer or head");
    }
    for (std::int64_t layer = 0; layer < lambda_init.layers().value_or(1); ++layer) {
      const double start = lambda_init.at(layer);
      if (per_token() && (start <= 0 || start >= 1)) {
        check.problem("lambda_per", concat("is token with a lambda_init of ", start,
                                           "; expected one between 0 and 1"));
      }
      if (lambda_sign == LambdaSign::kFree || start > 0) continue;
      check.problem("lambda_sign",
                    concat("is positive with a lambda_init of ", start, "; expected one above 0"));
    }
    groups().validate(kv_heads.value_or(1), check);
    if (head_dim && *head_dim % 2 != 0) {
      check.problem("head_dim", concat("is ", *head_dim, "; expected an even number"));
    }
    if (signal_per_noise > 1 && (symmetric || key_pairing == KeyPairing::kNaive)) {
      check.problem(
          "signal_per_noise",
          concat("is ", signal_per_noise, " with ", symmetric ? "symmetric" : "key_pairing naive",
                 "; expected 1, because the signal heads of a group share their keys"));
    }
    if (symmetric && kv_heads.value_or(heads) != heads) {
      check.problem("kv_heads", concat("is ", *kv_heads, " with symmetric; expected heads, ", heads,
                                       ", because the keys are the queries"));
    }
  }
  void validate_sizes(std::int64_t d_model, std::int64_t layers, config::Check& check) const {
    if (!head_dim && d_model % (4 * heads) != 0) {
      check.problem("heads", concat("is ", heads, " with d_model ", d_model,
                                    "; expected d_model to be a multiple of 4 heads = ", 4 * heads,
                                    " (two maps per head, each of even width), or head_dim to be "
                                    "given"));
    }
    if (lambda_init.layers().value_or(layers) != layers) {
      check.problem("lambda_init", concat("lists ", *lambda_init.layers(), " values for ", layers,
                                          " layers; expected one per layer"));
    }
  }

  AttentionCost cost(const AttentionShape& shape) const {
    const auto D = shape.d_model, d = width(D), maps = groups().maps();
    const auto kv_width = 2 * key_value_heads() * d, out_width = 2 * heads * d;
    AttentionCost cost{.maps = maps,
                       .score_channels = maps * d,
                       .value_channels = out_width,
                       .value_products = heads,  // H differences times values of width 2d
                       .cache_channels = 2 * kv_width};
    cost.add_linear("q_proj", D, maps * d, shape.bias);
    if (!symmetric) cost.add_linear("k_proj", D, kv_width, shape.bias);
    cost.add_linear("v_proj", D, kv_width, shape.bias);
    cost.add_linear("out_proj", out_width, D, shape.bias);
    const bool per_head = lambda_per == LambdaScope::kHead;
    if (per_token()) {
      cost.add_linear("lambda_proj", D, heads);
    } else if (lambda_form == LambdaForm::kScalar) {
      cost.parameters.push_back({"lambda", {per_head ? heads : 1}});
    } else if (lambda_form == LambdaForm::kScalarExponential) {
      for (const char* name : {"lambda_a", "lambda_b"}) {
        cost.parameters.push_back({name, {per_head ? heads : 1}});
      }
    } else if (lambda_form == LambdaForm::kExponential) {
      for (const char* name : {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"}) {
        cost.parameters.push_back({name, per_head ? std::vector{heads, d} : std::vector{d}});
      }
    }
    cost.add_head_norm(head_norm, 2 * d);
    controls.add_to(cost, control_shape(D));
    return cost;
  }

  bool per_token() const { return lambda_per == LambdaScope::kToken; }
  NoiseGroups groups() const { return {heads, signal_per_noise}; }
  std::int64_t key_value_heads() const { return kv_heads.value_or(groups().noise_heads()); }
  std::int64_t width(std::int64_t d_model) const {  // d
    return head_dim.value_or(d_model / (2 * heads));
  }

  ControlShape control_shape(std::int64_t d_model) const {
    const auto d = width(d_model);
    return {.d_model = d_model,
            .heads = heads,
            .head_width = 2 * d,
            .maps = groups().maps(),
            .head_dim = d,
            .own_keys = !symmetric};
  }

  std::shared_ptr<Attention> build(const AttentionShape& shape) const;
};

}  // namespace difflab
