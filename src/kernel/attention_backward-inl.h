// The way back through a group of heads, included once per instruction set (Highway's manner,
// hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_ATTENTION_BACKWARD_INL_H_
#undef DIFFLAB_KERNEL_ATTENTION_BACKWARD_INL_H_
#else
#define DIFFLAB_KERNEL_ATTENTION_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernel/attention_head.h"
#include "kernel/attention_pack-inl.h"
#include "kernel/attention_rows-inl.h"
#include "kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {

/// Keys of a map on the way back, and the sums of their gradients.
template <class T>
struct BackwardKeys {
  const T* k = nullptr;
  const T *transposed = nullptr, *rows = nullptr;  // [d, columns], [T, padded d]
  T* gradients = nullptr;                          // [padded T, padded d]
};

/// The way back through a group, a block of queries after the other.
template <class T>
class Backward {
 public:
  Backward(const HeadShape& shape, const HeadGroup<T>& group, const GroupGradients<T>& gradients,
           Scratch<T>& scratch)
      : shape_(shape), group_(group), gradients_(gradients), size_(shape) {
    for (const auto& signal : group.signals) {
      const bool same = !keys_.empty() && keys_.back().k == signal.map.k;
      keys_.push_back(same ? keys_.back() : packed(signal.map.k, scratch));
      d_out_.push_back(scratch.take(kBlock * size_.value_width));
    }
    queries_ = scratch.take(kBlock * size_.width);
    scores_ = scratch.take(kBlock * size_.columns);
    if (group.has_noise()) {
      noise_keys_ = packed(group.noise.k, scratch);
      noise_queries_ = scratch.take(kBlock * size_.width);
      noise_ = scratch.take(kBlock * size_.columns);
      // The gradient of the scores may take the place of the last probabilities that are asked for.
      const bool many = group.signals.size() > 1;
      d_noise_ = many ? scratch.take(kBlock * size_.columns) : noise_;
    }
    values_transposed_ = scratch.take(shape.value_width * size_.columns);
    pack_transposed(group.v, shape.v_stride, shape.tokens, shape.value_width, size_.columns,
                    values_transposed_);
    d_values_ = zeros(size_.value_width, scratch);
    d_weights_ = scratch.take(kBlock * size_.columns);
    strip_ = scratch.take(kStrip * size_.width);
  }

  void run() {
    for (std::size_t begin = 0; begin < shape_.tokens; begin += kBlock) {
      const std::size_t rows = std::min(kBlock, shape_.tokens - begin);
      const std::size_t padded_rows = Sizes<T>::round_up(rows, kStrip);
      // Rows that nothing is asked of, as in a last layer: their dq and d_lambda stay zero.
      if (!take_block(begin, rows, padded_rows)) continue;
      for (std::size_t g = 0; g < group_.signals.size(); ++g) {
        pack_queries(group_.signals[g].map.q, begin, rows, padded_rows, queries_);
        const bool noise_is_whole = group_.has_noise() && g + 1 == group_.signals.size();
        for (std::size_t s = 0; s < padded_rows; s += kStrip) {
          differentiate_scores(g, begin, s, rows);
          write_queries(scores_, keys_[g], begin, s, rows, gradients_.signals[g].map.dq);
          if (noise_is_whole) {
            write_queries(d_noise_, noise_keys_, begin, s, rows, gradients_.noise.dq);
          }
        }
        add_keys_and_values(g, begin, rows, padded_rows, noise_is_whole);
      }
    }
    for (std::size_t g = 0; g < keys_.size(); ++g) {
      const bool same = g > 0 && keys_[g].gradients == keys_[g - 1].gradients;
      if (!same) add_keys(keys_[g], gradients_.signals[g].map.dk);
    }
    if (group_.has_noise()) add_keys(noise_keys_, gradients_.noise.dk);
    add_rows(d_values_, shape_.tokens, size_.value_width, shape_.value_width, gradients_.dv,
             shape_.v_stride);
  }

 private:
  T* zeros(std::size_t width, Scratch<T>& scratch) {
    const std::size_t count = Sizes<T>::round_up(shape_.tokens, kStrip) * width;
    T* numbers = scratch.take(count);
    std::fill(numbers, numbers + count, T{0});
    return numbers;
  }

  BackwardKeys<T> packed(const T* k, Scratch<T>& scratch) {
    if (!keys_.empty() && keys_.back().k == k) {  // V2's noise map reads the keys of the others
      return {k, keys_.back().transposed, keys_.back().rows, zeros(size_.width, scratch)};
    }
    T* transposed = scratch.take(shape_.width * size_.columns);
    pack_transposed(k, shape_.k_stride, shape_.tokens, shape_.width, size_.columns, transposed);
    T* rows = scratch.take(shape_.tokens * size_.width);
    pack_rows(k, shape_.k_stride, shape_.tokens, shape_.width, shape_.tokens, size_.width, T(1),
              rows);
    return {k, transposed, rows, zeros(size_.width, scratch)};
  }

  void pack_queries(const T* q, std::size_t begin, std::size_t rows, std::size_t padded_rows,
                    T* queries) {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    pack_rows(q + begin * shape_.q_stride, shape_.q_stride, rows, shape_.width, padded_rows,
              size_.width, scale, queries);
  }

  // False if no gradient comes to any row of the block.
  bool take_block(std::size_t begin, std::size_t rows, std::size_t padded_rows) {
    bool asked = false;
    for (std::size_t g = 0; g < d_out_.size(); ++g) {
      pack_rows(gradients_.signals[g].d_out + begin * shape_.out_stride, shape_.out_stride, rows,
                shape_.value_width, padded_rows, size_.value_width, T(1), d_out_[g]);
      const T* end = d_out_[g] + padded_rows * size_.value_width;
      asked = asked ||
              std::any_of(static_cast<const T*>(d_out_[g]), end, [](T d) { return d != T{0}; });
    }
    if (asked && group_.has_noise()) {
      pack_queries(group_.noise.q, begin, rows, padded_rows, noise_queries_);
    }
    return asked;
  }

  void score(const T* queries, const BackwardKeys<T>& keys, std::size_t s, std::size_t limit,
             T* scores) {
    multiply_strip<false>(queries + s * size_.width, size_.width, 1, shape_.width, keys.transposed,
                          size_.columns, limit, scores + s * size_.columns, size_.columns);
  }

  // The strip's scores become their gradients, d_weights_ the weights of the values.
  void differentiate_scores(std::size_t g, std::size_t begin, std::size_t s, std::size_t rows) {
    const std::size_t limit = size_.limit(begin + s), columns = size_.columns;
    const bool two = group_.has_noise();
    score(queries_, keys_[g], s, limit, scores_);
    if (two && g == 0) score(noise_queries_, noise_keys_, s, limit, noise_);
    multiply_strip<false>(d_out_[g] + s * size_.value_width, size_.value_width, 1,
                          shape_.value_width, values_transposed_, columns, limit,
                          d_weights_ + s * columns, columns);
    for (std::size_t i = s; i < s + kStrip; ++i) {
      const std::size_t row = i * columns;
      if (i < rows) {
        differentiate_row(g, begin + i, row, limit);
        continue;
      }
      for (T* filled : {scores_, d_weights_, d_noise_}) {
        if (filled != nullptr) std::fill(filled + row, filled + row + limit, T{0});
      }
    }
  }

  void differentiate_row(std::size_t g, std::size_t t, std::size_t row, std::size_t limit) {
    const auto& signal = group_.signals[g];
    T *p1 = scores_ + row, *da = d_weights_ + row;
    const T d1 = probabilities(p1, da, signal.map.log_sum[t], t + 1, limit);
    if (!group_.has_noise()) {
      score_gradients<false, T>(p1, nullptr, da, d1, T{0}, T{0}, nullptr, limit);
      add_sink(signal.map, gradients_.signals[g].map, t, T{1}, d1);
      return;
    }
    T *p2 = noise_ + row, *d_scores2 = d_noise_ + row;
    const T d2 = g == 0 ? probabilities(p2, da, group_.noise.log_sum[t], t + 1, limit)
                        : products(p2, da, limit);
    const T lambda = signal.lambda[t];
    const auto gradients = g == 0 ? score_gradients<false, T> : score_gradients<true, T>;
    gradients(p1, p2, da, d1, d2, lambda, d_scores2, limit);
    gradients_.signals[g].d_lambda[t] = -d2;
    add_sink(signal.map, gradients_.signals[g].map, t, T{1}, d1);
    add_sink(group_.noise, gradients_.noise, t, -lambda, d2);
  }

  // A sink's weight has no value: its gradient is −p (Σ P·dP), and dP = dA times 1 or −λ.
  void add_sink(const SoftmaxMap<T>& map, const MapGradients<T>& to, std::size_t t, T share,
                T sum) {
    if (map.sink == nullptr) return;
    *to.d_sink -= share * std::exp(*map.sink - map.log_sum[t]) * sum;
  }

  void write_queries(const T* d_scores, const BackwardKeys<T>& keys, std::size_t begin,
                     std::size_t s, std::size_t rows, T* dq) {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    const std::size_t used = std::min(begin + s + kStrip, shape_.tokens);
    multiply_strip<false>(d_scores + s * size_.columns, size_.columns, 1, used, keys.rows,
                          size_.width, size_.width, strip_, size_.width);
    for (std::size_t i = 0; i < kStrip && s + i < rows; ++i) {
      T* line = dq + (begin + s + i) * shape_.q_stride;
      for (std::size_t c = 0; c < shape_.width; ++c) line[c] = strip_[i * size_.width + c] * scale;
    }
  }

  // Keys from `key` on are read by the rows from themselves on.
  void add_keys_and_values(std::size_t g, std::size_t begin, std::size_t rows,
                           std::size_t padded_rows, bool with_noise) {
    for (std::size_t key = 0; key < begin + rows; key += kStrip) {
      const std::size_t from = key > begin ? key - begin : 0, depth = padded_rows - from;
      const std::size_t at = from * size_.columns + key;
      const auto add = [&](const T* weights, const T* rows_of, std::size_t width, T* sums) {
        multiply_strip<true>(weights + at, 1, size_.columns, depth, rows_of + from * width, width,
                             width, sums + key * width, width);
      };
      add(scores_, queries_, size_.width, keys_[g].gradients);
      if (with_noise) add(d_noise_, noise_queries_, size_.width, noise_keys_.gradients);
      add(d_weights_, d_out_[g], size_.value_width, d_values_);
    }
  }

  void add_keys(const BackwardKeys<T>& keys, T* dk) {
    add_rows(keys.gradients, shape_.tokens, size_.width, shape_.width, dk, shape_.k_stride);
  }

  const HeadShape& shape_;
  const HeadGroup<T>& group_;
  const GroupGradients<T>& gradients_;
  const Sizes<T> size_;
  std::vector<BackwardKeys<T>> keys_;  // of every signal head
  std::vector<T*> d_out_;              // of every signal head, [kBlock, padded value width]
  BackwardKeys<T> noise_keys_;
  T *queries_, *scores_, *noise_queries_ = nullptr, *noise_ = nullptr, *d_noise_ = nullptr;
  T *values_transposed_, *d_values_, *d_weights_, *strip_;
};

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
