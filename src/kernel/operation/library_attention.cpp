#include "kernel/operation/library_attention.h"

#include <ATen/ATen.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>

#include <array>
#include <atomic>
#include <numeric>

namespace difflab::kernel {
namespace {

constexpr std::array kBackends{
    std::pair{sdp::SDPBackend::cudnn_attention, "cudnn"},
    std::pair{sdp::SDPBackend::efficient_attention, "efficient"},
    std::pair{sdp::SDPBackend::flash_attention, "flash"},
    std::pair{sdp::SDPBackend::math, "math"},
};
std::array<std::atomic<bool>, kBackends.size()> used;

void note_backend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto chosen = static_cast<sdp::SDPBackend>(
      at::_fused_sdp_choice(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0, /*is_causal=*/true));
  for (std::size_t i = 0; i < kBackends.size(); ++i) {
    if (kBackends[i].first == chosen) used[i] = true;
  }
}

// Heads of x [B, T, heads, n] in the order that maps read them: [B, maps, T, n]. Put together from
// views, since an index would have to be copied to the device.
at::Tensor in_order(const at::Tensor& x, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> as_they_are(static_cast<std::size_t>(x.size(2)));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  if (order == as_they_are) return x.transpose(1, 2);
  const auto heads = x.unbind(2);
  std::vector<at::Tensor> chosen;
  for (const auto head : order) chosen.push_back(heads[static_cast<std::size_t>(head)]);
  return at::stack(chosen, 1);
}

// The maps of an output head side by side: first[0], second[0], first[1] …
std::vector<std::int64_t> side_by_side(const std::vector<std::int64_t>& first,
                                       const std::vector<std::int64_t>& second) {
  std::vector<std::int64_t> both;
  for (std::size_t i = 0; i < first.size(); ++i) {
    both.push_back(first[i]);
    if (!second.empty()) both.push_back(second[i]);
  }
  return both;
}

}  // namespace

at::Tensor library_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& lambda, const HeadMap& heads) {
  const bool two = !heads.q2.empty();
  TORCH_CHECK(two == lambda.defined(), "library_attention: second maps need a λ");
  // Under autocast, positions were turned in float32.
  const auto type = v.scalar_type();
  const auto queries = in_order(q.to(type), side_by_side(heads.q1, heads.q2));
  const auto keys = in_order(k.to(type), side_by_side(heads.k1, heads.k2));
  const auto values = in_order(v, two ? side_by_side(heads.v, heads.v) : heads.v);
  note_backend(queries, keys, values);
  const auto mixed =
      at::scaled_dot_product_attention(queries, keys, values, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                       /*is_causal=*/true);  // [B, maps, T, width]
  if (!two) return mixed.transpose(1, 2);
  const auto pairs = mixed.unflatten(1, {-1, 2}).unbind(2);  // 2 × [B, H, T, width]
  return (pairs[0] - lambda.unsqueeze(-1) * pairs[1]).transpose(1, 2);
}

std::vector<std::string> take_library_attention_used() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kBackends.size(); ++i) {
    if (used[i].exchange(false)) names.emplace_back(kBackends[i].second);
  }
  return names;
}

}  // namespace difflab::kernel
