#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/operation/fused_attention.h"
#include "model/attention/base/attention_cost.h"
#include "model/attention/base/controls.h"
#include "model/attention/base/key_value_cache.h"
#include "model/attention/base/noise_groups.h"
#include "model/layer/linear.h"
#include "model/layer/norm.h"
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

/// Causal self-attention over one sequence: position t reads positions 0..t. A kind says which
/// projections it has, which heads they give, how its maps mix the values and what becomes of a
/// head's output. The cache, places, hooks, sinks, the head norm and the gate are the base's.
class Attention : public torch::nn::Module {
 public:
  /// x [B, T, D] -> [B, T, D]. With a cache, x holds the tokens after those in it, `rotary` the
  /// angles of x's positions, and the new keys and values are appended. With flat `places` [n] of
  /// B · T, only what is there: [n, D].
  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache = nullptr,
                     const at::Tensor& places = {});

  /// The weights that mix the values, for analysis: [B, H, T, T], zero above the diagonal.
  /// Rows sum to 1 for a softmax map and to 1 − λ for a difference of two; a kind without softmax
  /// maps may have others.
  virtual at::Tensor weights(const at::Tensor& x, const Rotary& rotary);

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
  virtual std::int64_t rotary_dim() const { return head_dim_; }

  /// Sets the parameters whose names do not end in .weight or .bias, and any other that shall not
  /// begin as language_model.h has it; `stream` gives each its own random numbers by its name in
  /// this module. A kind that has such sets them and calls the base's.
  virtual void initialise(const std::function<Random(const std::string& name)>& stream);

  /// Named numbers worth a line in the metrics, e.g. {"lambda", 0.31}.
  virtual std::vector<std::pair<std::string, double>> statistics() const { return {}; }

 protected:
  explicit Attention(const AttentionShape& shape) : shape_(shape) {}

  /// A registered projection, with a bias if the layer's have one.
  Linear linear(const char* name, std::int64_t in, std::int64_t out);

  /// Registers the norm of a head's output, which is multiplied by `scale`; at most once.
  void add_head_norm(HeadNormKind kind, std::int64_t width, double eps, double scale = 1);

  /// Registers gate, sinks and QK-norm: once, behind all other parameters.
  void add_controls(const AttentionControls& config, const ControlShape& shape);

  /// Heads and factors made of a layer's input, queries and keys turned.
  struct Inputs {
    at::Tensor q, k;         // [B, T, maps, d], [B, T, key heads, d]
    at::Tensor v;            // [B, T, value heads, width]
    at::Tensor lambda = {};  // [B, T, H]; undefined unless each token has its own
    at::Tensor gate = {};    // [B, T, …], which the base sets; undefined without one
  };

  /// The projections of x that have one result each.
  virtual std::vector<Linear> projections() const { return {q_proj_, k_proj_, v_proj_}; }

  /// The inputs of what `projections` gave, in their order. `queries` and `keys` split and turn.
  virtual Inputs inputs(const std::vector<at::Tensor>& projected, const Rotary& rotary) const = 0;

  /// The weights that multiply the values, from softmax maps: [B, H, T_q, T]. The keys are those of
  /// a cache with the inputs' own behind them.
  virtual at::Tensor combine(const Inputs& in, const at::Tensor& k) const { return map_of(in, k); }

  /// Weights times values by plain operations, through the weight hook: [B, H, T_q, width].
  virtual at::Tensor mix(const Inputs& in, const at::Tensor& k, const at::Tensor& v) const;

  /// Which maps and values the heads read in kernels that store no map; empty: plain operations.
  virtual kernel::HeadMap head_map() const { return {}; }

  /// λ of every head and row for the kernels, [B, H, T]; undefined with one map for each head.
  virtual at::Tensor lambda_of_rows(const Inputs& in) const;

  /// The outputs of heads by kernels: [B, T, H, width], or at places [n, H, width].
  virtual at::Tensor attended(const Inputs& in, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& places) const;

  /// Gives every query head its key head: [B, T, key heads, d] -> [B, T, maps, d].
  virtual at::Tensor repeat_keys(const at::Tensor& k, std::int64_t maps) const;

  /// The inputs of x [B, T, D].
  Inputs inputs_of(const at::Tensor& x, const Rotary& rotary) const;

  /// All softmax maps over positions 0..t, or over all if bidirectional: [B, maps, T_q, T].
  at::Tensor map_of(const Inputs& in, const at::Tensor& k) const;

  /// Queries and keys of one projection, normed and turned: [B, T, heads · d] -> [B, T, heads, d].
  at::Tensor queries(const at::Tensor& q, std::int64_t heads, const Rotary& rotary) const;
  at::Tensor keys(const at::Tensor& k, std::int64_t heads, const Rotary& rotary) const;

  /// Passes logits through the logit hook, if there is one: for a kind that has its own maps
  /// instead of map_of's.
  at::Tensor after_hook(const at::Tensor& logits) const {
    return logit_hook_ ? logit_hook_(logits) : logits;
  }

  /// Passes weights through the weight hook, if there is one.
  at::Tensor after_weight_hook(const at::Tensor& weights) const {
    return weight_hook_ ? weight_hook_(weights) : weights;
  }
  bool has_weight_hook() const { return static_cast<bool>(weight_hook_); }

  at::Tensor sinks(const at::Tensor& like) const { return controls_->sinks(like); }
  const AttentionShape& shape() const { return shape_; }

  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, out_proj_{nullptr};

 private:
  /// True if nothing has to see the maps: kernels, no hooks, causal, and whole sequences (also ones
  /// that a cache is to keep) or, on the CPU and without gradients, one token behind a cache.
  bool uses_fused(const at::Tensor& x, const KeyValueCache* cache) const;

  at::Tensor after_head_hook(HeadPoint point, const at::Tensor& heads) const {
    return head_hook_ ? head_hook_(point, heads) : heads;
  }
  at::Tensor normed(const at::Tensor& heads) const;  // [..., width], the same without a head norm

  AttentionShape shape_;
  std::shared_ptr<HeadNorm> subln_;
  double scale_ = 1;  // behind the head norm
  std::optional<Controls> controls_;
  std::int64_t head_dim_ = 0;
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
/// [B, H, T, n]. λ is a number, [H, 1, 1] or [B, H, T, 1].
at::Tensor less_noise(const at::Tensor& all, const NoiseGroups& groups, const at::Tensor& lambda);

/// The parts [n, ...] of x [B, T, ...] at the flat places [n] of B · T. All of x if `places` is
/// undefined.
at::Tensor at_places(const at::Tensor& x, const at::Tensor& places);

/// [B, T, heads·d] -> [B, T, heads, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// Repeats each head `times` in place for grouped queries: [B, T, heads, ...] ->
/// [B, T, heads·times, ...], head j of the result being head j / times of x.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times);

}  // namespace difflab
