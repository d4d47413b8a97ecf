#pragma once

#include <cstdint>

#include "config/schema/fields.h"
#include "model/attention/base/attention_cost.h"

namespace difflab {

/// A sigmoid gate on each head's output, linear in the layer's input (Qiu et al. 2025, arXiv
/// 2505.06708).
enum class HeadGate {
  kNone,
  kHead,     ///< one number per token and head
  kElement,  ///< one per token, head and channel
};

/// A logit per map beside those of the keys. Its share of the weights goes nowhere, so rows sum to
/// less than 1.
enum class AttentionSink {
  kNone,
  kOffByOne,  ///< 0: exp(l) / (1 + Σ exp(l)) (Miller 2023, "softmax off by one")
  kLearned,   ///< a number per map (gpt-oss)
};

/// Queries and keys before they are turned.
enum class QkNorm {
  kNone,
  kRms,  ///< RMS norm over the d channels of a head, a gain each, shared by heads (Qwen3)
};

template <>
inline constexpr auto config::kNames<HeadGate> = names("none", "head", "element");

template <>
inline constexpr auto config::kNames<AttentionSink> = names("none", "off_by_one", "learned");

template <>
inline constexpr auto config::kNames<QkNorm> = names("none", "rms");

/// Sizes of the attention that the controls act on.
struct ControlShape {
  std::int64_t d_model;     ///< D
  std::int64_t heads;       ///< H, whose outputs are joined
  std::int64_t head_width;  ///< of an output
  std::int64_t maps;        ///< softmax maps
  std::int64_t head_dim;    ///< d, of queries and keys
  bool own_keys = true;     ///< false: keys are the queries
};

/// Simpler changes for which the benefits of differential attention are claimed, on any kind with
/// softmax maps: gate, sink and QK-norm.
struct AttentionControls {
  HeadGate gate = HeadGate::kNone;
  AttentionSink sink = AttentionSink::kNone;
  QkNorm qk_norm = QkNorm::kNone;
  double qk_norm_eps = 1e-6;  ///< Qwen3's

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("gate", gate,
          "sigmoid gate on each head's output, before the heads are joined: none, head (a number "
          "per token and head) or element (one per channel, too)");
    visit("sink", sink,
          "logit beside those of the keys: none, off_by_one (0) or learned (a number per map)");
    visit("qk_norm", qk_norm,
          "norm of queries and keys before the rotary embedding: none or rms (a gain per channel)");
    visit("qk_norm_eps", qk_norm_eps, "epsilon of that norm; counts only with one",
          config::at_least(0));
  }

  void add_to(AttentionCost& cost, const ControlShape& shape) const {
    if (gate != HeadGate::kNone) {
      const auto numbers = gate == HeadGate::kHead ? 1 : shape.head_width;
      cost.add_linear("gate_proj", shape.d_model, shape.heads * numbers);
    }
    if (sink == AttentionSink::kLearned) cost.parameters.push_back({"sinks", {shape.maps}});
    if (qk_norm == QkNorm::kNone) return;
    cost.parameters.push_back({"q_norm.weight", {shape.head_dim}});
    if (shape.own_keys) cost.parameters.push_back({"k_norm.weight", {shape.head_dim}});
  }
};

}  // namespace difflab
