#include "model/attention/base/attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "kernel/operation/attention_at.h"
#include "kernel/operation/fused_rows.h"
#include "kernel/operation/library_attention.h"

namespace difflab {

at::Tensor Attention::forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                              const at::Tensor& places) {
  const auto in = inputs_of(x, rotary);
  const bool fused = uses_fused(x, cache);
  const auto [k, v] = cache == nullptr ? std::pair(in.k, in.v) : cache->append(in.k, in.v);
  at::Tensor heads;  // [B, T, H, width], or at places [n, H, width]
  if (fused) {
    heads = normed(attended(in, k, v, places));
  } else {
    const auto all = normed(after_head_hook(HeadPoint::kBeforeNorm, mix(in, k, v)));
    heads = at_places(after_head_hook(HeadPoint::kAfterNorm, all).transpose(1, 2), places);
  }
  return out_proj_(controls_->gated(heads.flatten(-2), in.gate, places));
}

at::Tensor Attention::weights(const at::Tensor& x, const Rotary& rotary) {
  const auto in = inputs_of(x, rotary);
  return combine(in, in.k);
}

std::vector<at::Tensor> Attention::maps(const at::Tensor& x, const Rotary& rotary) {
  return {weights(x, rotary)};
}

at::Tensor Attention::lambdas(const at::Tensor&) { return {}; }

void Attention::initialise(const std::function<Random(const std::string& name)>& stream) {
  controls_->initialise(stream);
}

Linear Attention::linear(const char* name, std::int64_t in, std::int64_t out) {
  return register_module(name, Linear(in, out, shape_.bias, shape_.kernels));
}

void Attention::add_head_norm(HeadNormKind kind, std::int64_t width, double eps, double scale) {
  subln_ = register_module("subln", std::make_shared<HeadNorm>(kind, width, eps, shape_.kernels));
  scale_ = scale;
}

void Attention::add_controls(const AttentionControls& config, const ControlShape& shape) {
  controls_.emplace(*this, config, shape, shape_.kernels);
  head_dim_ = shape.head_dim;
}

Attention::Inputs Attention::inputs_of(const at::Tensor& x, const Rotary& rotary) const {
  const auto projected = project(x, controls_->with_gate(projections()));
  auto in = inputs(projected, rotary);
  in.gate = controls_->gate_of(projected);
  return in;
}

at::Tensor Attention::queries(const at::Tensor& q, std::int64_t heads, const Rotary& rotary) const {
  return rotary.apply(controls_->queries(split_heads(q, heads)), shape_.kernels);
}

at::Tensor Attention::keys(const at::Tensor& k, std::int64_t heads, const Rotary& rotary) const {
  return rotary.apply(controls_->keys(split_heads(k, heads)), shape_.kernels);
}

at::Tensor Attention::repeat_keys(const at::Tensor& k, std::int64_t maps) const {
  return repeat_heads(k, maps / k.size(2));
}

at::Tensor Attention::mix(const Inputs& in, const at::Tensor& k, const at::Tensor& v) const {
  const auto weights = after_weight_hook(combine(in, k));
  return weights.matmul(repeat_heads(v, weights.size(1) / v.size(2)).transpose(1, 2));
}

at::Tensor Attention::lambda_of_rows(const Inputs& in) const {
  return in.lambda.defined() ? in.lambda.transpose(1, 2) : at::Tensor();
}

at::Tensor Attention::attended(const Inputs& in, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& places) const {
  return attend_at(places, in.q, k, v, lambda_of_rows(in), head_map(), sinks(in.q), shape_.kernels);
}

at::Tensor Attention::normed(const at::Tensor& heads) const {
  return subln_ ? subln_->forward(heads, scale_) : heads;
}

bool Attention::uses_fused(const at::Tensor& x, const KeyValueCache* cache) const {
  const bool whole = cache == nullptr || cache->tokens() == 0;
  const bool last = x.size(1) == 1 && kernel::takes_rows(x) && !at::GradMode::is_enabled();
  const bool hooked = logit_hook_ || weight_hook_ || head_hook_;
  return uses_kernels(shape_.kernels) && (whole || last) && !hooked && !bidirectional_ &&
         !head_map().q1.empty();
}

at::Tensor Attention::map_of(const Inputs& in, const at::Tensor& all_keys) const {
  const auto q = in.q.transpose(1, 2);  // [B, maps, T_q, d]
  const auto k = repeat_keys(all_keys, q.size(1)).transpose(1, 2);
  const auto queries = q.size(-2), keys = k.size(-2);
  const auto future =
      at::ones({queries, keys}, q.options().dtype(at::kBool)).triu(/*diagonal=*/1 + keys - queries);
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = (q * scale).matmul(k.transpose(-2, -1));  // [B, maps, T_q, T]
  const auto logits = bidirectional_
                          ? scores
                          : scores.masked_fill(future, -std::numeric_limits<double>::infinity());
  const auto used = after_hook(logits), beside = sinks(in.q);
  if (!beside.defined()) return used.softmax(-1);
  const auto of_rows = beside.view({1, -1, 1, 1}).expand({q.size(0), -1, queries, -1});
  return at::cat({used, of_rows}, -1).softmax(-1).narrow(-1, 0, keys);
}

kernel::HeadMap one_map_per_head(std::int64_t heads, std::int64_t kv_heads) {
  kernel::HeadMap map;
  for (std::int64_t i = 0; i < heads; ++i) {
    const auto group = i * kv_heads / heads;
    map.q1.push_back(i);
    map.k1.push_back(group);
    map.v.push_back(group);
  }
  return map;
}

namespace {

// The rows of the last tokens, by a kernel that takes places: [B, 1, H, width].
at::Tensor last_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& lambda, const kernel::HeadMap& heads,
                          const at::Tensor& sinks) {
  const auto T = k.size(1);
  const auto last = at::arange(T - 1, k.size(0) * T, T, at::kLong);
  return kernel::attention_at(last, q.squeeze(1), k, v, lambda, heads, sinks).unsqueeze(1);
}

// True if so few rows of such long sequences are asked for that keys and values are best read once
// per row: at most a sixteenth, from a length on at which attention is most of a layer.
bool are_few(const at::Tensor& places, const at::Tensor& q) {
  constexpr std::int64_t kLong = 1'024, kOneOf = 16;
  return places.defined() && q.size(1) >= kLong && kernel::takes_rows(q) &&
         !at::GradMode::is_enabled() && places.numel() * kOneOf <= q.size(0) * q.size(1);
}

}  // namespace

at::Tensor attend_at(const at::Tensor& places, const at::Tensor& q, const at::Tensor& k,
                     const at::Tensor& v, const at::Tensor& lambda, const kernel::HeadMap& heads,
                     const at::Tensor& sinks, Kernels kernels) {
  if (calls_by_map(kernels) || !are_few(places, q)) {
    return at_places(attend(q, k, v, lambda, heads, sinks, kernels), places);
  }
  const auto of_rows = lambda.defined() ? at_places(lambda.transpose(1, 2), places) : lambda;
  return kernel::attention_at(places, at_places(q, places), k, v, of_rows, heads, sinks);
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& lambda, const kernel::HeadMap& heads, const at::Tensor& sinks,
                  Kernels kernels) {
  TORCH_CHECK(kernel::takes_rows(q) || q.size(1) == k.size(1),
              "attend: on this device or of this type only whole sequences");
  const auto call = !kernel::takes_rows(q)   ? kernel::library_attention
                    : q.size(1) == k.size(1) ? kernel::fused_attention
                                             : last_attention;
  if (heads.q2.empty() || !calls_by_map(kernels)) return call(q, k, v, lambda, heads, sinks);
  // The maps of all heads that are first, or second, in their pairs: [B, T, H, width].
  const auto values = kernels == Kernels::kFlash2 ? v.chunk(2, -1) : std::vector{v};
  const auto map = [&](const std::vector<std::int64_t>& queries,
                       const std::vector<std::int64_t>& keys) {
    // Heads of a group have one noise map, which is computed once.
    kernel::HeadMap distinct;
    std::vector<std::int64_t> which;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (i == 0 || queries[i] != queries[i - 1]) {
        distinct.q1.push_back(queries[i]);
        distinct.k1.push_back(keys[i]);
        distinct.v.push_back(heads.v[i]);
      }
      which.push_back(static_cast<std::int64_t>(distinct.q1.size()) - 1);
    }
    std::vector<at::Tensor> parts;
    for (const auto& part : values) parts.push_back(call(q, k, part, {}, distinct, sinks));
    const auto all = parts.size() == 1 ? parts.front() : at::cat(parts, -1);
    if (distinct.q1.size() == queries.size()) return all;
    return all.index_select(2, at::tensor(which, all.options().dtype(at::kLong)));
  };
  const auto second = map(heads.q2, heads.k2);
  return map(heads.q1, heads.k1) - lambda.transpose(1, 2).unsqueeze(-1) * second;
}

namespace {

// Splits [B, N(G + 1), T, n] into signals [B, N, G, T, n] and noise [B, N, 1, T, n].
std::pair<at::Tensor, at::Tensor> by_group(const at::Tensor& all, const NoiseGroups& groups) {
  const auto grouped = all.unflatten(1, {groups.noise_heads(), groups.per_noise + 1});
  return {grouped.narrow(2, 0, groups.per_noise), grouped.narrow(2, groups.per_noise, 1)};
}

}  // namespace

std::pair<at::Tensor, at::Tensor> signal_and_noise(const at::Tensor& all,
                                                   const NoiseGroups& groups) {
  const auto [signals, noise] = by_group(all, groups);
  return {signals.flatten(1, 2), noise.expand_as(signals).flatten(1, 2)};
}

at::Tensor less_noise(const at::Tensor& all, const NoiseGroups& groups, const at::Tensor& lambda) {
  const auto [signals, noise] = by_group(all, groups);
  const auto of_groups =
      lambda.dim() < 3 ? lambda : lambda.unflatten(-3, {groups.noise_heads(), groups.per_noise});
  return (signals - of_groups * noise).flatten(1, 2);
}

at::Tensor at_places(const at::Tensor& x, const at::Tensor& places) {
  return places.defined() ? x.flatten(0, 1).index_select(0, places) : x;
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1});
}

at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, /*dim=*/2);
}

}  // namespace difflab
