#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/operation/fused_attention.h"
#include "model/attention/base/key_value_cache.h"
#include "model/attention/base/noise_groups.h"
#include "model/layer/layer_config.h"
#include "model/layer/rotary.h"
#include "util/random.h"

namespace difflab {

/// Sees the logits q kᵀ/√d of all maps before the softmax, [B, maps, T_q, T], −∞ where a position
/// must not look, and returns those that are used.
using LogitHook = std::function<at::Tensor(const at::Tensor& logits)>;

/// Sees the weights by which values are multiplied, [B, H, T_q, T], signed for differences of maps,
/// and returns those that are used. Maps that multiply different values come one after the other.
using WeightHook = std::function<at::Tensor(const at::Tensor& weights)>;

/// Where a head's output is looked at.
enum class HeadPoint {
  kBeforeNorm,  ///< weights times values
  kAfterNorm,   ///< what the gate and the output projection read; the same without a head norm
};

/// Sees the outputs of all heads, [B, H, T_q, width], and returns those that are used.
using HeadHook = std::function<at::Tensor(HeadPoint point, const at::Tensor& heads)>;

/// Causal self-attention over one sequence: position t reads positions 0..t.
class Attention : public torch::nn::Module {
 public:
  /// x [B, T, D] -> [B, T, D]. With a cache, x holds the tokens after those in it, `rotary` the
  /// angles of x's positions, and the new keys and values are appended. With flat `places` [n] of
  /// B · T, only what is there: [n, D].
  virtual at::Tensor forward(const at::Tensor& x, const Rotary& rotary,
                             KeyValueCache* cache = nullptr, const at::Tensor& places = {}) = 0;

  /// The weights that mix the values, for analysis: [B, H, T, T], zero above the diagonal.
  /// Rows sum to 1 for a softmax map and to 1 − λ for a difference of two; a kind without softmax
  /// maps may have others.
  virtual at::Tensor weights(const at::Tensor& x, const Rotary& rotary) = 0;

  /// The maps that a head combines to its weights, for analysis: A₁ and A₂ of a difference A₁ −
  /// λA₂, in this order, the softmax map of a kind that has one for a head, and the weights of a
  /// kind without softmax maps. Each is [B, H, T, T].
  virtual std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary);

  /// λ at every position and head for x [B, T, D], for analysis: [B, T, H]; undefined for a kind
  /// without one.
  virtual at::Tensor lambdas(const at::Tensor& x);

  /// The logits pass through `hook` from now on, by plain operations; {} takes it away.
  void set_logit_hook(LogitHook hook) { logit_hook_ = std::move(hook); }

  /// Weights pass through `hook` from now on, by plain operations; {} takes it away.
  void set_weight_hook(WeightHook hook) { weight_hook_ = std::move(hook); }

  /// Outputs of heads pass through `hook` from now on, by plain operations; {} takes it away.
  void set_head_hook(HeadHook hook) { head_hook_ = std::move(hook); }

  /// Every position reads the whole sequence from now on, as in vision models, by plain operations:
  /// for reference cases.
  void set_bidirectional() { bidirectional_ = true; }

  /// d, the width that the rotary embedding turns; 0 if it turns nothing.
  virtual std::int64_t rotary_dim() const = 0;

  /// Sets the parameters whose names do not end in .weight or .bias, and any other that shall not
  /// begin as language_model.h has it; `stream` gives each its own random numbers by its name in
  /// this module.
  virtual void initialise(const std::function<Random(const std::string& name)>& stream);

  /// Named numbers worth a line in the metrics, e.g. {"lambda", 0.31}.
  virtual std::vector<std::pair<std::string, double>> statistics() const { return {}; }

 protected:
  /// True if nothing has to see the maps, so that `attend` will do for x [B, T_new, D]: kernels, no
  /// hooks, causal, and whole sequences (also ones that a cache is to keep) or, on the CPU and
  /// without gradients, one token behind a cache.
  bool uses_fused(Kernels kernels, const at::Tensor& x, const KeyValueCache* cache) const;

  /// softmax(q kᵀ/√d) over positions 0..t, or over all if bidirectional; q [B, maps, T_q, d], k [B,
  /// maps, T, d], the queries being those of the last T_q positions -> [B, maps, T_q, T]. With
  /// `sinks` [maps], whose share of the weights goes nowhere.
  at::Tensor causal_map(const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& sinks = {}) const;

  /// Passes logits through the logit hook, if there is one: for a kind that has its own maps
  /// instead of causal_map's.
  at::Tensor after_hook(const at::Tensor& logits) const;

  /// Passes weights through the weight hook, if there is one.
  at::Tensor after_weight_hook(const at::Tensor& weights) const;
  bool has_weight_hook() const { return static_cast<bool>(weight_hook_); }

  /// Passes outputs of heads [B, H, T_q, width] through the head hook, if there is one.
  at::Tensor after_head_hook(HeadPoint point, const at::Tensor& heads) const;
  bool has_head_hook() const { return static_cast<bool>(head_hook_); }

 private:
  LogitHook logit_hook_;
  WeightHook weight_hook_;
  HeadHook head_hook_;
  bool bidirectional_ = false;
};

/// While one exists, `hook` is set in one attention layer.
template <class Hook, void (Attention::*kSet)(Hook)>
class WithHook {
 public:
  WithHook(Attention& attention, Hook hook) : attention_(attention) {
    (attention_.*kSet)(std::move(hook));
  }
  ~WithHook() { (attention_.*kSet)({}); }
  WithHook(const WithHook&) = delete;
  WithHook& operator=(const WithHook&) = delete;

 private:
  Attention& attention_;
};
using WithLogitHook = WithHook<LogitHook, &Attention::set_logit_hook>;
using WithWeightHook = WithHook<WeightHook, &Attention::set_weight_hook>;
using WithHeadHook = WithHook<HeadHook, &Attention::set_head_hook>;

/// Attention by kernels that store no map: ours on the CPU, the library's elsewhere. Shapes are
/// those of kernel::fused_attention, or one query for each sequence on the CPU without gradients.
/// Two maps of a head take one call, or as many as the official form that `kernels` names; plain is
/// not among them.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& lambda, const kernel::HeadMap& heads,
                  const at::Tensor& sinks = {}, Kernels kernels = Kernels::kFused);

/// The result of `attend` at flat places [n] of B · T alone: [n, H, width]; all of it if they are
/// undefined. On the CPU without gradients, a few rows of long sequences cost no more than they
/// need; they are rounded differently from those of whole sequences.
at::Tensor attend_at(const at::Tensor& places, const at::Tensor& q, const at::Tensor& k,
                     const at::Tensor& v, const at::Tensor& lambda, const kernel::HeadMap& heads,
                     const at::Tensor& sinks = {}, Kernels kernels = Kernels::kFused);

/// Each query head with one map of its own, and with its group's keys and values.
kernel::HeadMap one_map_per_head(std::int64_t heads, std::int64_t kv_heads);

/// The signal map or head of every output and the noise one of its group: [B, N(G + 1), T, n] ->
/// [B, H, T, n] twice.
std::pair<at::Tensor, at::Tensor> signal_and_noise(const at::Tensor& all,
                                                   const NoiseGroups& groups);

/// Each signal map or head less λ times the noise one of its group: [B, N(G + 1), T, n] ->
/// [B, H, T, n]. λ is a number, [H, 1, 1] or [B, H, T, 1]; undefined: 1.
at::Tensor less_noise(const at::Tensor& all, const NoiseGroups& groups, const at::Tensor& lambda);

/// The parts [n, ...] of x [B, T, ...] at the flat places [n] of B · T. All of x if `places` is
/// undefined.
at::Tensor at_places(const at::Tensor& x, const at::Tensor& places);

/// [B, T, heads·d] -> [B, T, heads, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// [B, heads, T, d] -> [B, T, heads·d].
at::Tensor join_heads(const at::Tensor& heads);

/// Repeats each head `times` in place for grouped queries: [B, T, heads, ...] ->
/// [B, T, heads·times, ...], head j of the result being head j / times of x.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times);

}  // namespace difflab
