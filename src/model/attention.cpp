#include "model/attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace difflab {

at::Tensor causal_map(const at::Tensor& q, const at::Tensor& k) {
  const auto T = q.size(-2);
  const auto future = at::ones({T, T}, q.options().dtype(at::kBool)).triu(/*diagonal=*/1);
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = (q * scale).matmul(k.transpose(-2, -1));  // [B, heads, T, T]
  return scores.masked_fill(future, -std::numeric_limits<double>::infinity()).softmax(-1);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1});
}

at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, /*dim=*/2);
}

}  // namespace difflab
