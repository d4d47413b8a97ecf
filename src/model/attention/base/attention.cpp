#include "model/attention/base/attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "kernel/operation/fused_rows.h"
#include "kernel/operation/library_attention.h"

namespace difflab {

void Attention::initialise(const std::function<Random(const std::string& name)>&) {}

at::Tensor Attention::lambdas(const at::Tensor&) { return {}; }

bool Attention::uses_fused(Kernels kernels, const KeyValueCache* cache) const {
  const bool whole = cache == nullptr || cache->tokens() == 0;
  return kernels == Kernels::kFused && whole && !logit_hook_ && !bidirectional_;
}

at::Tensor Attention::causal_map(const at::Tensor& q, const at::Tensor& k,
                                 const at::Tensor& sinks) const {
  const auto queries = q.size(-2), keys = k.size(-2);
  const auto future =
      at::ones({queries, keys}, q.options().dtype(at::kBool)).triu(/*diagonal=*/1 + keys - queries);
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = (q * scale).matmul(k.transpose(-2, -1));  // [B, maps, T_q, T]
  const auto logits = bidirectional_
                          ? scores
                          : scores.masked_fill(future, -std::numeric_limits<double>::infinity());
  const auto used = after_hook(logits);
  if (!sinks.defined()) return used.softmax(-1);
  const auto beside = sinks.view({1, -1, 1, 1}).expand({q.size(0), -1, queries, -1});
  return at::cat({used, beside}, -1).softmax(-1).narrow(-1, 0, keys);
}

at::Tensor Attention::after_hook(const at::Tensor& logits) const {
  return logit_hook_ ? logit_hook_(logits) : logits;
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& lambda, const kernel::HeadMap& heads, const at::Tensor& sinks) {
  return kernel::takes_rows(q) ? kernel::fused_attention(q, k, v, lambda, heads, sinks)
                               : kernel::library_attention(q, k, v, lambda, heads, sinks);
}

at::Tensor less_noise(const at::Tensor& all, const NoiseGroups& groups, const at::Tensor& lambda) {
  const auto grouped = all.unflatten(1, {groups.noise_heads(), groups.per_noise + 1});
  const auto signals = grouped.narrow(2, 0, groups.per_noise);  // [B, N, G, T, n]
  const auto noise = grouped.narrow(2, groups.per_noise, 1);    // [B, N, 1, T, n]
  if (!lambda.defined()) return (signals - noise).flatten(1, 2);
  const auto of_groups =
      lambda.dim() < 3 ? lambda : lambda.unflatten(-3, {groups.noise_heads(), groups.per_noise});
  return (signals - of_groups * noise).flatten(1, 2);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1});
}

at::Tensor join_heads(const at::Tensor& heads) { return heads.transpose(1, 2).flatten(2); }

at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, /*dim=*/2);
}

}  // namespace difflab
