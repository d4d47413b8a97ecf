// Compiled once for every instruction set that Highway knows of on this kind of processor; the best
// one is chosen at run time.
#include "kernel/attention_head.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/attention_head.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h, and before whatever includes that
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "kernel/attention_pack-inl.h"
#include "kernel/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class Vector>
HWY_INLINE Vector store_exponential(T* row, std::size_t j, std::size_t n, Vector shift) {
  const Tag<T> tag;
  const auto inside = hn::FirstN(tag, j < n ? n - j : 0);
  const auto shifted = hn::Min(hn::Sub(hn::LoadU(tag, row + j), shift), hn::Zero(tag));
  const auto e = hn::IfThenElseZero(inside, hn::Exp(tag, shifted));
  hn::StoreU(e, tag, row + j);
  return e;
}

// Turns scores [0, n) into exp(score − largest) and zeroes [n, limit). Returns {largest, sum}.
template <class T>
std::pair<T, T> exponentials(T* row, std::size_t n, std::size_t limit) {
  const Tag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  auto largest = hn::Set(tag, row[0]);
  for (std::size_t j = 0; j < n; j += lanes) {
    const auto inside = hn::FirstN(tag, n - j);
    largest = hn::Max(largest, hn::IfThenElse(inside, hn::LoadU(tag, row + j), largest));
  }
  const auto top = hn::MaxOfLanes(tag, largest);
  auto sum = hn::Zero(tag);
  for (std::size_t j = 0; j < limit; j += lanes) {
    sum = hn::Add(sum, store_exponential(row, j, n, top));
  }
  return {hn::GetLane(top), hn::GetLane(hn::SumOfLanes(tag, sum))};
}

// What exp(score − largest) is multiplied with to be a weight; notes log Σ exp of all logits.
template <class T>
T weigh(std::pair<T, T> largest_and_sum, const T* sink, T* log_sum) {
  const auto [largest, sum] = largest_and_sum;
  *log_sum = largest + std::log(sum);
  if (sink == nullptr) return 1 / sum;
  const T most = std::max(*log_sum, *sink);
  *log_sum = most + std::log(std::exp(*log_sum - most) + std::exp(*sink - most));
  return std::exp(largest - *log_sum);
}

// row ← row · a − other · b (other may be null).
template <class T>
void combine(T* row, const T* other, T a, T b, std::size_t limit) {
  const Tag<T> tag;
  const auto va = hn::Set(tag, a), vb = hn::Set(tag, b);
  for (std::size_t j = 0; j < limit; j += hn::Lanes(tag)) {
    auto value = hn::Mul(hn::LoadU(tag, row + j), va);
    if (other != nullptr) value = hn::NegMulAdd(hn::LoadU(tag, other + j), vb, value);
    hn::StoreU(value, tag, row + j);
  }
}

template <class T>
void forward(const HeadShape& shape, const Head<T>& head, T* out, Scratch<T>& scratch) {
  const Sizes<T> size(shape);
  const bool two = head.q2 != nullptr;
  const T scale = T(1) / std::sqrt(static_cast<T>(shape.width));
  Map<T> maps[2] = {{head.q1, head.k1}, {head.q2, head.k2}};
  T* scores[2] = {nullptr, nullptr};
  for (int m = 0; m < 1 + two; ++m) {
    maps[m].keys_transposed = scratch.take(shape.width * size.columns);
    pack_transposed(maps[m].k, shape.k_stride, shape.tokens, shape.width, size.columns,
                    maps[m].keys_transposed);
    maps[m].queries = scratch.take(kStrip * size.width);
    scores[m] = scratch.take(kStrip * size.columns);
  }
  T* values = scratch.take(shape.tokens * size.value_width);
  pack_rows(head.v, shape.v_stride, shape.tokens, shape.value_width, shape.tokens, size.value_width,
            T(1), values);
  T* outputs = scratch.take(kStrip * size.value_width);

  for (std::size_t row = 0; row < shape.tokens; row += kStrip) {
    const std::size_t rows = std::min(kStrip, shape.tokens - row), limit = size.limit(row);
    for (int m = 0; m < 1 + two; ++m) {
      pack_rows(maps[m].q + row * shape.q_stride, shape.q_stride, rows, shape.width, kStrip,
                size.width, scale, maps[m].queries);
      multiply_strip<false>(maps[m].queries, size.width, 1, shape.width, maps[m].keys_transposed,
                            size.columns, limit, scores[m], size.columns);
    }
    for (std::size_t i = 0; i < kStrip; ++i) {
      T* first = scores[0] + i * size.columns;
      if (i >= rows) {  // rows that only fill the strip
        std::fill(first, first + limit, T{0});
        continue;
      }
      const std::size_t t = row + i;
      const T a = weigh(exponentials(first, t + 1, limit), head.sink1, head.log_sum1 + t);
      if (!two) {
        combine<T>(first, nullptr, a, 0, limit);
        continue;
      }
      T* second = scores[1] + i * size.columns;
      const auto [top2, sum2] = exponentials(second, t + 1, limit);
      const T b = weigh<T>({top2, sum2}, head.sink2, head.log_sum2 + t);
      const T l = head.lambda[t];
      combine<T>(first, second, a, head.sink2 == nullptr ? l / sum2 : l * b, limit);
    }
    multiply_strip<false>(scores[0], size.columns, 1, std::min(row + kStrip, shape.tokens), values,
                          size.value_width, size.value_width, outputs, size.value_width);
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(out + (row + i) * shape.out_stride, outputs + i * size.value_width,
                  shape.value_width * sizeof(T));
    }
  }
}

// The probabilities of one row from its scores, and Σ P·dA. Zero from n on.
template <class T>
T probabilities(T* row, const T* d_weights, T log_sum, std::size_t n, std::size_t limit) {
  const Tag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto shift = hn::Set(tag, log_sum);
  auto sum = hn::Zero(tag);
  for (std::size_t j = 0; j < limit; j += lanes) {
    const auto p = store_exponential(row, j, n, shift);
    sum = hn::MulAdd(p, hn::LoadU(tag, d_weights + j), sum);
  }
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

// From P1, P2 (null for one map) and dA of one row: dS1 = P1 (dA − D1), dS2 = −λ P2 (dA − D2) in
// place of P1 and P2, and A = P1 − λ P2 in place of dA.
template <class T>
void score_gradients(T* p1, T* p2, T* d_weights, T d1, T d2, T lambda, std::size_t limit) {
  const Tag<T> tag;
  const auto v1 = hn::Set(tag, d1), v2 = hn::Set(tag, d2), l = hn::Set(tag, lambda);
  for (std::size_t j = 0; j < limit; j += hn::Lanes(tag)) {
    const auto da = hn::LoadU(tag, d_weights + j);
    auto a = hn::LoadU(tag, p1 + j);
    hn::StoreU(hn::Mul(a, hn::Sub(da, v1)), tag, p1 + j);
    if (p2 != nullptr) {
      const auto scaled = hn::Mul(hn::LoadU(tag, p2 + j), l);
      hn::StoreU(hn::Mul(scaled, hn::Sub(v2, da)), tag, p2 + j);
      a = hn::Sub(a, scaled);
    }
    hn::StoreU(a, tag, d_weights + j);
  }
}

/// The way back through one head, a block of queries after the other.
template <class T>
class Backward {
 public:
  Backward(const HeadShape& shape, const Head<T>& head, const HeadGradients<T>& gradients,
           Scratch<T>& scratch)
      : shape_(shape), head_(head), gradients_(gradients), size_(shape), count_(head.q2 ? 2 : 1) {
    const std::size_t padded_tokens = Sizes<T>::round_up(shape.tokens, kStrip);
    const T *q[2] = {head.q1, head.q2}, *k[2] = {head.k1, head.k2};
    for (int m = 0; m < count_; ++m) {
      map_[m] = {q[m], k[m]};
      map_[m].keys_transposed = scratch.take(shape.width * size_.columns);
      pack_transposed(k[m], shape.k_stride, shape.tokens, shape.width, size_.columns,
                      map_[m].keys_transposed);
      keys_[m] = scratch.take(shape.tokens * size_.width);
      pack_rows(k[m], shape.k_stride, shape.tokens, shape.width, shape.tokens, size_.width, T(1),
                keys_[m]);
      d_keys_[m] = scratch.take(padded_tokens * size_.width);
      std::fill(d_keys_[m], d_keys_[m] + padded_tokens * size_.width, T{0});
      map_[m].queries = scratch.take(kBlock * size_.width);
      scores_[m] = scratch.take(kBlock * size_.columns);
    }
    values_transposed_ = scratch.take(shape.value_width * size_.columns);
    pack_transposed(head.v, shape.v_stride, shape.tokens, shape.value_width, size_.columns,
                    values_transposed_);
    d_values_ = scratch.take(padded_tokens * size_.value_width);
    std::fill(d_values_, d_values_ + padded_tokens * size_.value_width, T{0});
    d_out_ = scratch.take(kBlock * size_.value_width);
    d_weights_ = scratch.take(kBlock * size_.columns);
    strip_ = scratch.take(kStrip * size_.width);
  }

  void run() {
    for (std::size_t begin = 0; begin < shape_.tokens; begin += kBlock) {
      const std::size_t rows = std::min(kBlock, shape_.tokens - begin);
      const std::size_t padded_rows = Sizes<T>::round_up(rows, kStrip);
      // Rows that nothing is asked of, as in a last layer: their dq and d_lambda stay zero.
      if (!take_block(begin, rows, padded_rows)) continue;
      for (std::size_t s = 0; s < padded_rows; s += kStrip) {
        differentiate_scores(begin, s, rows);
        write_queries(begin, s, rows);
      }
      add_keys_and_values(begin, rows, padded_rows);
    }
    T* dk[2] = {gradients_.dk1, gradients_.dk2};
    for (int m = 0; m < count_; ++m) {
      add_rows(d_keys_[m], shape_.tokens, size_.width, shape_.width, dk[m], shape_.k_stride);
    }
    add_rows(d_values_, shape_.tokens, size_.value_width, shape_.value_width, gradients_.dv,
             shape_.v_stride);
  }

 private:
  // False if no gradient comes to any row of the block.
  bool take_block(std::size_t begin, std::size_t rows, std::size_t padded_rows) {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    for (int m = 0; m < count_; ++m) {
      pack_rows(map_[m].q + begin * shape_.q_stride, shape_.q_stride, rows, shape_.width,
                padded_rows, size_.width, scale, map_[m].queries);
    }
    pack_rows(gradients_.d_out + begin * shape_.out_stride, shape_.out_stride, rows,
              shape_.value_width, padded_rows, size_.value_width, T(1), d_out_);
    const T* end = d_out_ + padded_rows * size_.value_width;
    return std::any_of(static_cast<const T*>(d_out_), end, [](T d) { return d != T{0}; });
  }

  // The strip's scores become their gradients, d_weights_ the weights of the values.
  void differentiate_scores(std::size_t begin, std::size_t s, std::size_t rows) {
    const std::size_t limit = size_.limit(begin + s), columns = size_.columns;
    for (int m = 0; m < count_; ++m) {
      multiply_strip<false>(map_[m].queries + s * size_.width, size_.width, 1, shape_.width,
                            map_[m].keys_transposed, columns, limit, scores_[m] + s * columns,
                            columns);
    }
    multiply_strip<false>(d_out_ + s * size_.value_width, size_.value_width, 1, shape_.value_width,
                          values_transposed_, columns, limit, d_weights_ + s * columns, columns);
    const bool two = count_ == 2;
    for (std::size_t i = s; i < s + kStrip; ++i) {
      T* p1 = scores_[0] + i * columns;
      T* p2 = two ? scores_[1] + i * columns : nullptr;
      T* da = d_weights_ + i * columns;
      if (i >= rows) {
        for (T* row : {p1, p2, da}) {
          if (row != nullptr) std::fill(row, row + limit, T{0});
        }
        continue;
      }
      const std::size_t t = begin + i;
      const T d1 = probabilities(p1, da, head_.log_sum1[t], t + 1, limit);
      const T d2 = two ? probabilities(p2, da, head_.log_sum2[t], t + 1, limit) : T{0};
      score_gradients(p1, p2, da, d1, d2, two ? head_.lambda[t] : T{0}, limit);
      if (two) gradients_.d_lambda[t] = -d2;
      if (head_.sink1 != nullptr) add_sinks(t, d1, d2);
    }
  }

  // A sink's weight has no value: its gradient is −p (Σ P·dP), which for map 2 has the sign of −λ.
  void add_sinks(std::size_t t, T d1, T d2) {
    *gradients_.d_sink1 -= std::exp(*head_.sink1 - head_.log_sum1[t]) * d1;
    if (count_ == 1) return;
    const T p2 = std::exp(*head_.sink2 - head_.log_sum2[t]);
    *gradients_.d_sink2 += head_.lambda[t] * p2 * d2;
  }

  void write_queries(std::size_t begin, std::size_t s, std::size_t rows) {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    const std::size_t used = std::min(begin + s + kStrip, shape_.tokens);
    T* dq[2] = {gradients_.dq1, gradients_.dq2};
    for (int m = 0; m < count_; ++m) {
      multiply_strip<false>(scores_[m] + s * size_.columns, size_.columns, 1, used, keys_[m],
                            size_.width, size_.width, strip_, size_.width);
      for (std::size_t i = 0; i < kStrip && s + i < rows; ++i) {
        T* line = dq[m] + (begin + s + i) * shape_.q_stride;
        for (std::size_t c = 0; c < shape_.width; ++c)
          line[c] = strip_[i * size_.width + c] * scale;
      }
    }
  }

  // Keys from `key` on are read by the rows from themselves on.
  void add_keys_and_values(std::size_t begin, std::size_t rows, std::size_t padded_rows) {
    const std::size_t columns = size_.columns;
    for (std::size_t key = 0; key < begin + rows; key += kStrip) {
      const std::size_t from = key > begin ? key - begin : 0;
      for (int m = 0; m < count_; ++m) {
        multiply_strip<true>(scores_[m] + from * columns + key, 1, columns, padded_rows - from,
                             map_[m].queries + from * size_.width, size_.width, size_.width,
                             d_keys_[m] + key * size_.width, size_.width);
      }
      multiply_strip<true>(d_weights_ + from * columns + key, 1, columns, padded_rows - from,
                           d_out_ + from * size_.value_width, size_.value_width, size_.value_width,
                           d_values_ + key * size_.value_width, size_.value_width);
    }
  }

  const HeadShape& shape_;
  const Head<T>& head_;
  const HeadGradients<T>& gradients_;
  const Sizes<T> size_;
  const int count_;  // of maps
  Map<T> map_[2];
  T *scores_[2], *keys_[2], *d_keys_[2];
  T *values_transposed_, *d_values_, *d_out_, *d_weights_, *strip_;
};

template <class T>
void backward(const HeadShape& shape, const Head<T>& head, const HeadGradients<T>& gradients,
              Scratch<T>& scratch) {
  Backward<T>(shape, head, gradients, scratch).run();
}

void ForwardFloat(const HeadShape& shape, const Head<float>& head, float* out,
                  Scratch<float>& scratch) {
  forward(shape, head, out, scratch);
}
void ForwardDouble(const HeadShape& shape, const Head<double>& head, double* out,
                   Scratch<double>& scratch) {
  forward(shape, head, out, scratch);
}
void BackwardFloat(const HeadShape& shape, const Head<float>& head,
                   const HeadGradients<float>& gradients, Scratch<float>& scratch) {
  backward(shape, head, gradients, scratch);
}
void BackwardDouble(const HeadShape& shape, const Head<double>& head,
                    const HeadGradients<double>& gradients, Scratch<double>& scratch) {
  backward(shape, head, gradients, scratch);
}
const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace difflab::kernel {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(ForwardDouble);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardDouble);
HWY_EXPORT(Target);

template <class T>
T* Scratch<T>::take(std::size_t count) {
  if (used_ == pieces_.size()) pieces_.emplace_back();
  auto& piece = pieces_[used_++];
  if (piece.size() < count) piece.resize(count);
  return piece.data();
}
template class Scratch<float>;
template class Scratch<double>;

void forward_head(const HeadShape& shape, const Head<float>& head, float* out,
                  Scratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(ForwardFloat)(shape, head, out, scratch);
  scratch.release();
}
void forward_head(const HeadShape& shape, const Head<double>& head, double* out,
                  Scratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(ForwardDouble)(shape, head, out, scratch);
  scratch.release();
}
void backward_head(const HeadShape& shape, const Head<float>& head,
                   const HeadGradients<float>& gradients, Scratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(BackwardFloat)(shape, head, gradients, scratch);
  scratch.release();
}
void backward_head(const HeadShape& shape, const Head<double>& head,
                   const HeadGradients<double>& gradients, Scratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(BackwardDouble)(shape, head, gradients, scratch);
  scratch.release();
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace difflab::kernel
#endif  // HWY_ONCE
