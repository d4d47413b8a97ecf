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
#include "model/layer/kernels_config.h"
#include "model/layer/rotary.h"
#include "util/random.h"

namespace difflab {

/// Sees the logits q kᵀ/√d of all maps before the softmax, [B, maps, T_q, T], −∞ where a position
/// must not look, and returns those that are used.
using LogitHook = std::function<at::Tensor(const at::Tensor& logits)>;

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

  /// λ at every position and head for x [B, T, D], for analysis: [B, T, H]; undefined for a kind
  /// without one.
  virtual at::Tensor lambdas(const at::Tensor& x);

  /// The logits pass through `hook` from now on, by plain operations; {} takes it away.
  void set_logit_hook(LogitHook hook) { logit_hook_ = std::move(hook); }

  /// Every position reads the whole sequence from now on, as in vision models, by plain operations:
  /// for reference cases.
  void set_bidirectional() { bidirectional_ = true; }

  /// d, the width that the rotary embedding turns; 0 if it turns nothing.
  virtual std::int64_t rotary_dim() const = 0;

  /// Sets the parameters whose names do not end in .weight or .bias, and any other that shall not
  /// begin as initialise.h has it; `stream` gives each its own random numbers by its name in this
  /// module.
  virtual void initialise(const std::function<Random(const std::string& name)>& stream);

  /// Named numbers worth a line in the metrics, e.g. {"lambda", 0.31}.
  virtual std::vector<std::pair<std::string, double>> statistics() const { return {}; }

 protected:
  /// Whether maps need not be seen by anybody, so that `attend` may do: fused kernels, whole
  /// sequences (also one that a cache is to keep), nobody looking at the logits.
  bool uses_fused(Kernels kernels, const KeyValueCache* cache) const;

  /// softmax(q kᵀ/√d) over positions 0..t, or over all if bidirectional; q [B, maps, T_q, d], k [B,
  /// maps, T, d], the queries being those of the last T_q positions -> [B, maps, T_q, T]. With
  /// `sinks` [maps], whose share of the weights goes nowhere.
  at::Tensor causal_map(const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& sinks = {}) const;

  /// What the logit hook makes of these logits, or they themselves if there is none: for a kind
  /// that has its own maps instead of causal_map's.
  at::Tensor after_hook(const at::Tensor& logits) const;

 private:
  LogitHook logit_hook_;
  bool bidirectional_ = false;
};

/// While one exists, `hook` sees the logits of one attention layer.
class WithLogitHook {
 public:
  WithLogitHook(Attention& attention, LogitHook hook) : attention_(attention) {
    attention_.set_logit_hook(std::move(hook));
  }
  ~WithLogitHook() { attention_.set_logit_hook({}); }
  WithLogitHook(const WithLogitHook&) = delete;
  WithLogitHook& operator=(const WithLogitHook&) = delete;

 private:
  Attention& attention_;
};

/// Attention by kernels that store no map: ours on the CPU, the library's elsewhere. Shapes are
/// those of kernel::fused_attention.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& lambda, const kernel::HeadMap& heads,
                  const at::Tensor& sinks = {});

/// Each signal map or head less λ times the noise one of its group: [B, N(G + 1), T, n] ->
/// [B, H, T, n]. λ is a number, [H, 1, 1] or [B, H, T, 1]; undefined: 1.
at::Tensor less_noise(const at::Tensor& all, const NoiseGroups& groups, const at::Tensor& lambda);

/// [B, T, heads·d] -> [B, T, heads, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// [B, heads, T, d] -> [B, T, heads·d].
at::Tensor join_heads(const at::Tensor& heads);

/// Repeats each head `times` in place for grouped queries: [B, T, heads, ...] ->
/// [B, T, heads·times, ...], head j of the result being head j / times of x.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times);

}  // namespace difflab
