// Forward and backward of causal attention between its projections: queries, keys and values are
// given, the head outputs are asked for. 2,048 tokens, d 16, 8 maps: H 4, and in GDA 6 + 2.
#include <ATen/ATen.h>

#include <functional>
#include <memory>

#include "model/attention/base/attention.h"
#include "worker/bench_cases.h"

namespace difflab {
namespace {

constexpr std::int64_t kTokens = 2'048, kHeads = 4, kWidth = 16;
constexpr double kScale = 0.25;  // 1/√kWidth

at::Tensor leaf(std::vector<std::int64_t> sizes, const c10::Device& device) {
  return at::randn(sizes, device).requires_grad_();
}

at::Tensor flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return at::scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                          {}, 0.0, /*is_causal=*/true, kScale);
}

// Queries or keys padded with zeros to the width of the values, which flash attention wants.
at::Tensor wide(const at::Tensor& x) { return at::constant_pad_nd(x, {0, kWidth}); }

at::Tensor plain_map(const at::Tensor& q, const at::Tensor& k) {
  const auto T = q.size(1);
  const auto future = at::ones({T, T}, q.options().dtype(at::kBool)).triu(1);
  const auto scores = (q.transpose(1, 2) * kScale).matmul(k.transpose(1, 2).transpose(-2, -1));
  return scores.masked_fill(future, -INFINITY).softmax(-1);
}

/// DIFF V1 with q, k [B, T, 2H, d], v [B, T, H, 2d] and one λ.
struct Differential {
  at::Tensor q, k, v, lambda;
  kernel::HeadMap map;

  Differential(std::int64_t T, const c10::Device& device)
      : q(leaf({kTokens / T, T, 2 * kHeads, kWidth}, device)),
        k(leaf({kTokens / T, T, 2 * kHeads, kWidth}, device)),
        v(leaf({kTokens / T, T, kHeads, 2 * kWidth}, device)),
        lambda(at::full({1}, 0.3, device).requires_grad_()) {
    for (std::int64_t i = 0; i < kHeads; ++i) {
      map.q1.push_back(2 * i);
      map.q2.push_back(2 * i + 1);
      map.v.push_back(i);
    }
    map.k1 = map.q1;
    map.k2 = map.q2;
  }
  at::Tensor part(const at::Tensor& x, std::int64_t which) const {
    return x.unflatten(2, {kHeads, 2}).select(3, which);
  }

  at::Tensor plain() const {
    const auto maps = plain_map(q, k).unflatten(1, {kHeads, 2}).unbind(2);
    return (maps[0] - lambda * maps[1]).matmul(v.transpose(1, 2));
  }
  at::Tensor padded() const {
    const auto map_of = [&](std::int64_t m) {
      return flash(wide(part(q, m)), wide(part(k, m)), v);
    };
    return map_of(0) - lambda * map_of(1);
  }
  // The values in two halves of width d: four calls.
  at::Tensor split() const {
    const auto halves = v.unflatten(3, {2, kWidth}).unbind(3);
    const auto map_of = [&](std::int64_t m) {
      const auto q_m = part(q, m), k_m = part(k, m);
      return at::cat({flash(q_m, k_m, halves[0]), flash(q_m, k_m, halves[1])}, -1);
    };
    return map_of(0) - lambda * map_of(1);
  }
  at::Tensor ours(Kernels kernels) const {
    return attend(q, k, v, lambda.expand({q.size(0), kHeads, q.size(1)}), map, {}, kernels);
  }
  std::vector<at::Tensor> leaves() const { return {q, k, v, lambda}; }
};

/// Grouped differential attention with as many maps as DIFF: 6 signal heads, and a noise head, a
/// pair of keys and a value for every 3 of them.
struct Grouped {
  static constexpr NoiseGroups kGroups{6, 3};
  at::Tensor q, k, v, lambda;  // [B, T, 6 + 2, d], [B, T, 4, d], [B, T, 2, 2d], [1]
  kernel::HeadMap map, pairs;

  Grouped(std::int64_t T, const c10::Device& device)
      : q(leaf({kTokens / T, T, kGroups.maps(), kWidth}, device)),
        k(leaf({kTokens / T, T, 2 * kGroups.noise_heads(), kWidth}, device)),
        v(leaf({kTokens / T, T, kGroups.noise_heads(), 2 * kWidth}, device)),
        lambda(at::full({1}, 0.3, device).requires_grad_()) {
    for (std::int64_t i = 0; i < kGroups.heads; ++i) {
      const auto group = i / kGroups.per_noise;
      map.q1.push_back(kGroups.signal(i));
      map.q2.push_back(kGroups.noise(i));
      map.k1.push_back(2 * group);
      map.k2.push_back(2 * group + 1);
      map.v.push_back(group);
    }
    pairs = map;
    for (std::int64_t i = 0; i < kGroups.heads; ++i) {
      pairs.q1[static_cast<std::size_t>(i)] = 2 * i;
      pairs.q2[static_cast<std::size_t>(i)] = 2 * i + 1;
    }
  }
  // Queries [B, T, N, G + 1, d] and keys [B, T, N, 2, d] of groups.
  at::Tensor queries() const { return q.unflatten(2, {kGroups.noise_heads(), -1}); }
  at::Tensor keys() const { return k.unflatten(2, {kGroups.noise_heads(), 2}); }
  // Repeats groups [B, T, N, 1, n] for every signal head: [B, T, H, n].
  at::Tensor repeated(const at::Tensor& x) const {
    return x.expand({-1, -1, -1, kGroups.per_noise, -1}).flatten(2, 3);
  }

  at::Tensor plain() const {
    const auto all_keys =
        at::cat({keys().narrow(3, 0, 1).expand({-1, -1, -1, kGroups.per_noise, -1}),
                 keys().narrow(3, 1, 1)},
                3);
    const auto maps = plain_map(q, all_keys.flatten(2, 3));
    return less_noise(maps, kGroups, lambda).matmul(repeated(v.unsqueeze(3)).transpose(1, 2));
  }
  // Each map once: a call for the signal heads, and one for the noise heads. Padded as DIFF's.
  at::Tensor padded() const {
    const auto signal_queries = queries().narrow(3, 0, kGroups.per_noise).flatten(2, 3);
    const auto signal_keys = wide(repeated(keys().narrow(3, 0, 1)));
    const auto values = repeated(v.unsqueeze(3));
    const auto signals = flash(wide(signal_queries), signal_keys, values);
    const auto noise = flash(wide(queries().select(3, kGroups.per_noise)),
                             wide(keys().select(3, 1)), v);  // [B, N, T, 2d]
    return signals - lambda * noise.repeat_interleave(kGroups.per_noise, 1);
  }
  at::Tensor rows_of_lambda() const { return lambda.expand({q.size(0), kGroups.heads, q.size(1)}); }
  at::Tensor fused() const { return attend(q, k, v, rows_of_lambda(), map); }
  // As pairs, the noise map anew for every signal head.
  at::Tensor fused_pairs() const {
    const auto noise = queries().narrow(3, kGroups.per_noise, 1);
    const auto both = at::stack({queries().narrow(3, 0, kGroups.per_noise),
                                 noise.expand({-1, -1, -1, kGroups.per_noise, -1})},
                                4);  // [B, T, N, G, 2, d]
    return attend(both.flatten(2, 4), k, v, rows_of_lambda(), pairs);
  }
  std::vector<at::Tensor> leaves() const { return {q, k, v, lambda}; }
};

/// The Transformer of the same width: 2H heads of width d.
struct Softmax {
  at::Tensor q, k, v;
  kernel::HeadMap map;

  Softmax(std::int64_t T, const c10::Device& device)
      : q(leaf({kTokens / T, T, 2 * kHeads, kWidth}, device)),
        k(leaf({kTokens / T, T, 2 * kHeads, kWidth}, device)),
        v(leaf({kTokens / T, T, 2 * kHeads, kWidth}, device)) {
    for (std::int64_t i = 0; i < 2 * kHeads; ++i) map.q1.push_back(i);
    map.k1 = map.v = map.q1;
  }
  at::Tensor library() const { return flash(q, k, v); }
  at::Tensor fused() const { return attend(q, k, v, {}, map); }
  std::vector<at::Tensor> leaves() const { return {q, k, v}; }
};

template <class Variant, class Attend>
std::function<void()> step(const std::shared_ptr<Variant>& variant, Attend attend) {
  return [variant, attend] {
    for (const auto& leaf : variant->leaves()) leaf.mutable_grad() = at::Tensor();
    const at::Tensor out = std::invoke(attend, *variant);
    out.backward(at::ones_like(out));
  };
}

}  // namespace

std::vector<BenchCase> attention_cases(c10::Device device) {
  std::vector<BenchCase> cases;
  for (const std::int64_t T : {64, 128, 256, 512, 1024, 2048}) {
    const auto diff = std::make_shared<Differential>(T, device);
    const auto grouped = std::make_shared<Grouped>(T, device);
    const auto plain = std::make_shared<Softmax>(T, device);
    const auto add = [&](const char* name, const auto& variant, auto attend) {
      cases.push_back({concat("T ", T), name, step(variant, attend), 0, 0});
    };
    add("DIFF plain maps", diff, &Differential::plain);
    add("DIFF padded flash", diff, &Differential::padded);
    add("DIFF split flash", diff, &Differential::split);
    add("DIFF flash_1", diff, [](const auto& d) { return d.ours(Kernels::kFlash1); });
    add("DIFF flash_2", diff, [](const auto& d) { return d.ours(Kernels::kFlash2); });
    add("DIFF fused", diff, [](const auto& d) { return d.ours(Kernels::kFused); });
    add("GDA plain maps", grouped, &Grouped::plain);
    add("GDA padded flash", grouped, &Grouped::padded);
    add("GDA fused as pairs", grouped, &Grouped::fused_pairs);
    add("GDA fused", grouped, &Grouped::fused);
    add("Transformer flash", plain, &Softmax::library);
    add("Transformer fused", plain, &Softmax::fused);
  }
  return cases;
}

}  // namespace difflab
