#include "kernel/operation/library_attention.h"

#include <ATen/ATen.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>

#include <array>
#include <atomic>
#include <cmath>
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

std::vector<at::Tensor> chosen(const std::vector<at::Tensor>& parts,
                               const std::vector<std::int64_t>& order) {
  std::vector<at::Tensor> parts_in_order;
  for (const auto i : order) parts_in_order.push_back(parts[static_cast<std::size_t>(i)]);
  return parts_in_order;
}

// Heads of x [B, T, heads, n] in the order that maps read them: [B, maps, T, n]. Put together from
// views, since an index would have to be copied to the device.
at::Tensor in_order(const at::Tensor& x, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> as_they_are(static_cast<std::size_t>(x.size(2)));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  if (order == as_they_are) return x.transpose(1, 2);
  return at::stack(chosen(x.unbind(2), order), 1);
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

/// Maps with a sink each as maps without: one more key in front of all others, whose logit is the
/// sink whatever the query, and whose value is zero. Rows and channels are added for it.
struct Sunk {
  at::Tensor queries, keys, values;  // [B, maps, 1 + T, …]

  Sunk(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& sinks,
       double scale) {
    constexpr std::int64_t kMore = 8;  // the library's kernels want widths in eights
    const auto in_front = [](const at::Tensor& x, std::int64_t channels) {
      return at::constant_pad_nd(x, {0, channels, 1, 0});
    };
    const auto logit = (sinks.to(q.scalar_type()) / scale).view({1, -1, 1, 1});
    const auto more =
        at::constant_pad_nd(logit.expand({q.size(0), -1, q.size(2), -1}), {0, kMore - 1, 1, 0});
    queries = at::cat({in_front(q, 0), more}, -1);
    keys = in_front(k, kMore);
    keys.select(2, 0).select(2, q.size(3)).fill_(1);
    values = in_front(v, 0);
  }
};

}  // namespace

at::Tensor library_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& lambda, const HeadMap& heads,
                             const at::Tensor& sinks) {
  const bool two = !heads.q2.empty();
  TORCH_CHECK(two == lambda.defined(), "library_attention: second maps need a λ");
  // Under autocast, positions were turned in float32.
  const auto type = v.scalar_type();
  const auto maps = side_by_side(heads.q1, heads.q2);
  auto queries = in_order(q.to(type), maps);
  auto keys = in_order(k.to(type), side_by_side(heads.k1, heads.k2));
  auto values = in_order(v, two ? side_by_side(heads.v, heads.v) : heads.v);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  if (sinks.defined()) {
    const auto of_maps = at::stack(chosen(sinks.unbind(0), maps));  // [maps]
    Sunk sunk(queries, keys, values, of_maps, scale);
    queries = sunk.queries, keys = sunk.keys, values = sunk.values;
  }
  note_backend(queries, keys, values);
  auto mixed =
      at::scaled_dot_product_attention(queries, keys, values, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                       /*is_causal=*/true, scale);  // [B, maps, T, width]
  if (sinks.defined()) mixed = mixed.narrow(2, 1, q.size(1));
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
