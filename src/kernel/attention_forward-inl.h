// The way forward through a group of heads, included once per instruction set (Highway's manner,
// hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_ATTENTION_FORWARD_INL_H_
#undef DIFFLAB_KERNEL_ATTENTION_FORWARD_INL_H_
#else
#define DIFFLAB_KERNEL_ATTENTION_FORWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kernel/attention_head.h"
#include "kernel/attention_pack-inl.h"
#include "kernel/attention_rows-inl.h"
#include "kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {

/// Keys as they are multiplied with queries, [d, columns], packed anew only where they are not
/// those of the map before: signal heads share them.
template <class T>
class TransposedKeys {
 public:
  TransposedKeys(const HeadShape& shape, const Sizes<T>& size, Scratch<T>& scratch)
      : shape_(shape), size_(size), scratch_(scratch) {}

  const T* of(const T* k) {
    if (k == k_) return packed_;
    k_ = k;
    T* packed = scratch_.take(shape_.width * size_.columns);
    pack_transposed(k, shape_.k_stride, shape_.tokens, shape_.width, size_.columns, packed);
    return packed_ = packed;
  }

 private:
  const HeadShape& shape_;
  const Sizes<T>& size_;
  Scratch<T>& scratch_;
  const T *k_ = nullptr, *packed_ = nullptr;
};

/// The way forward through a group, a strip of queries after the other.
template <class T>
class Forward {
 public:
  Forward(const HeadShape& shape, const HeadGroup<T>& group, Scratch<T>& scratch)
      : shape_(shape), group_(group), size_(shape) {
    TransposedKeys<T> keys(shape_, size_, scratch);
    for (const auto& signal : group.signals) keys_.push_back(keys.of(signal.map.k));
    scores_ = scratch.take(kStrip * size_.columns);
    if (group.has_noise()) {
      noise_keys_ = keys.of(group.noise.k);
      noise_ = scratch.take(kStrip * size_.columns);
    }
    queries_ = scratch.take(kStrip * size_.width);
    values_ = scratch.take(shape.tokens * size_.value_width);
    pack_rows(group.v, shape.v_stride, shape.tokens, shape.value_width, shape.tokens,
              size_.value_width, T(1), values_);
    outputs_ = scratch.take(kStrip * size_.value_width);
  }

  void run() {
    for (std::size_t row = 0; row < shape_.tokens; row += kStrip) {
      if (group_.has_noise()) take_noise(row);
      for (std::size_t g = 0; g < group_.signals.size(); ++g) {
        weigh_values(g, row);
        write_output(group_.signals[g].out, row);
      }
    }
  }

 private:
  std::size_t rows_from(std::size_t row) const { return std::min(kStrip, shape_.tokens - row); }

  void score(const SoftmaxMap<T>& map, const T* keys, std::size_t row, T* scores) {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    pack_rows(map.q + row * shape_.q_stride, shape_.q_stride, rows_from(row), shape_.width, kStrip,
              size_.width, scale, queries_);
    multiply_strip<false>(queries_, size_.width, 1, shape_.width, keys, size_.columns,
                          size_.limit(row), scores, size_.columns);
  }

  // The strip of the noise map, not yet divided by the sums of its rows.
  void take_noise(std::size_t row) {
    score(group_.noise, noise_keys_, row, noise_);
    for (std::size_t i = 0; i < rows_from(row); ++i) {
      const auto [top, sum] =
          exponentials(noise_ + i * size_.columns, row + i + 1, size_.limit(row));
      noise_sum_[i] = sum;
      noise_factor_[i] = weigh<T>({top, sum}, group_.noise.sink, group_.noise.log_sum + row + i);
    }
  }

  // λ over the sum of a row of the noise map.
  T share_of_noise(T lambda, std::size_t i) const {
    return group_.noise.sink == nullptr ? lambda / noise_sum_[i] : lambda * noise_factor_[i];
  }

  // Puts into scores_ the weights with which a signal head's strip multiplies the values.
  void weigh_values(std::size_t g, std::size_t row) {
    const auto& signal = group_.signals[g];
    const std::size_t limit = size_.limit(row), columns = size_.columns;
    score(signal.map, keys_[g], row, scores_);
    for (std::size_t i = 0; i < kStrip; ++i) {
      T* weights = scores_ + i * columns;
      const std::size_t t = row + i;
      if (i >= rows_from(row)) {  // rows that only fill the strip
        std::fill(weights, weights + limit, T{0});
        continue;
      }
      const T a =
          weigh(exponentials(weights, t + 1, limit), signal.map.sink, signal.map.log_sum + t);
      if (group_.has_noise()) {
        combine<T>(weights, noise_ + i * columns, a, share_of_noise(signal.lambda[t], i), limit);
      } else {
        combine<T>(weights, nullptr, a, 0, limit);
      }
    }
  }

  void write_output(T* out, std::size_t row) {
    multiply_strip<false>(scores_, size_.columns, 1, std::min(row + kStrip, shape_.tokens), values_,
                          size_.value_width, size_.value_width, outputs_, size_.value_width);
    for (std::size_t i = 0; i < rows_from(row); ++i) {
      std::memcpy(out + (row + i) * shape_.out_stride, outputs_ + i * size_.value_width,
                  shape_.value_width * sizeof(T));
    }
  }

  const HeadShape& shape_;
  const HeadGroup<T>& group_;
  const Sizes<T> size_;
  std::vector<const T*> keys_;  // of every signal head
  const T* noise_keys_ = nullptr;
  T *scores_, *noise_ = nullptr, *queries_, *values_, *outputs_;
  T noise_sum_[kStrip], noise_factor_[kStrip];
};

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
