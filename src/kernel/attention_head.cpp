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
#include "kernel/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of queries whose gradients with respect to keys and values are summed before they are
// stored.
constexpr std::size_t kBlock = 4 * kStrip;

template <class T>
using Tag = hn::ScalableTag<T>;

/// What both passes need of one map: keys as they are multiplied with queries, [d, columns], and
/// the scaled queries of the current block, [kBlock, padded d].
template <class T>
struct Map {
  const T *q = nullptr, *k = nullptr;
  T* keys_transposed = nullptr;
  T* queries = nullptr;
};

template <class T>
class Sizes {
 public:
  explicit Sizes(const HeadShape& shape)
      : lanes(hn::Lanes(Tag<T>())),
        columns(round_up(shape.tokens + kStrip, 2 * lanes)),
        width(round_up(shape.width, lanes)),
        value_width(round_up(shape.value_width, lanes)) {}

  static std::size_t round_up(std::size_t n, std::size_t unit) {
    return (n + unit - 1) / unit * unit;
  }
  /// Columns that the strip of rows from `row` on reads: its keys, in whole vectors.
  std::size_t limit(std::size_t row) const { return round_up(row + kStrip, lanes); }

  std::size_t lanes, columns, width, value_width;
};

// Transposes rows of `width` into [width, columns], zero behind the last token.
template <class T>
void pack_transposed(const T* rows, std::size_t stride, std::size_t tokens, std::size_t width,
                     std::size_t columns, T* out) {
  for (std::size_t c = 0; c < width; ++c) {
    T* line = out + c * columns;
    for (std::size_t t = 0; t < tokens; ++t) line[t] = rows[t * stride + c];
    std::fill(line + tokens, line + columns, T{0});
  }
}

// Copies `count` rows of `width` to rows of `padded`, times `scale`; `total` rows are written, what
// is not there is zero.
template <class T>
void pack_rows(const T* rows, std::size_t stride, std::size_t count, std::size_t width,
               std::size_t total, std::size_t padded, T scale, T* out) {
  for (std::size_t t = 0; t < total; ++t) {
    T* line = out + t * padded;
    const std::size_t filled = t < count ? width : 0;
    for (std::size_t c = 0; c < filled; ++c) line[c] = rows[t * stride + c] * scale;
    std::fill(line + filled, line + padded, T{0});
  }
}

// Adds rows of `padded` to rows of `width`.
template <class T>
void add_rows(const T* rows, std::size_t count, std::size_t padded, std::size_t width, T* out,
              std::size_t stride) {
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t c = 0; c < width; ++c) out[t * stride + c] += rows[t * padded + c];
  }
}

// Column j of a row becomes exp(score − shift) for columns below n and 0 from there on. No score is
// meant to be above the shift, so what rounding puts there counts as equal.
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
      const auto [top1, sum1] = exponentials(first, t + 1, limit);
      head.log_sum1[t] = top1 + std::log(sum1);
      if (!two) {
        combine<T>(first, nullptr, 1 / sum1, 0, limit);
        continue;
      }
      T* second = scores[1] + i * size.columns;
      const auto [top2, sum2] = exponentials(second, t + 1, limit);
      head.log_sum2[t] = top2 + std::log(sum2);
      combine<T>(first, second, 1 / sum1, head.lambda[t] / sum2, limit);
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

template <class T>
void backward(const HeadShape& shape, const Head<T>& head, const HeadGradients<T>& gradients,
              Scratch<T>& scratch) {
  const Sizes<T> size(shape);
  const bool two = head.q2 != nullptr;
  const T scale = T(1) / std::sqrt(static_cast<T>(shape.width));
  const std::size_t padded_tokens = Sizes<T>::round_up(shape.tokens, kStrip);
  Map<T> maps[2] = {{head.q1, head.k1}, {head.q2, head.k2}};
  const T* log_sums[2] = {head.log_sum1, head.log_sum2};
  T* dq[2] = {gradients.dq1, gradients.dq2};
  T* dk[2] = {gradients.dk1, gradients.dk2};
  T *scores[2] = {nullptr, nullptr}, *keys[2] = {nullptr, nullptr}, *sums[2] = {nullptr, nullptr};
  for (int m = 0; m < 1 + two; ++m) {
    maps[m].keys_transposed = scratch.take(shape.width * size.columns);
    pack_transposed(maps[m].k, shape.k_stride, shape.tokens, shape.width, size.columns,
                    maps[m].keys_transposed);
    keys[m] = scratch.take(shape.tokens * size.width);
    pack_rows(maps[m].k, shape.k_stride, shape.tokens, shape.width, shape.tokens, size.width, T(1),
              keys[m]);
    sums[m] = scratch.take(padded_tokens * size.width);
    std::fill(sums[m], sums[m] + padded_tokens * size.width, T{0});
    maps[m].queries = scratch.take(kBlock * size.width);
    scores[m] = scratch.take(kBlock * size.columns);
  }
  T* values_transposed = scratch.take(shape.value_width * size.columns);
  pack_transposed(head.v, shape.v_stride, shape.tokens, shape.value_width, size.columns,
                  values_transposed);
  T* d_values = scratch.take(padded_tokens * size.value_width);
  std::fill(d_values, d_values + padded_tokens * size.value_width, T{0});
  T* d_out = scratch.take(kBlock * size.value_width);
  T* d_weights = scratch.take(kBlock * size.columns);
  T* strip = scratch.take(kStrip * size.width);

  for (std::size_t begin = 0; begin < shape.tokens; begin += kBlock) {
    const std::size_t rows = std::min(kBlock, shape.tokens - begin);
    const std::size_t padded_rows = Sizes<T>::round_up(rows, kStrip);
    for (int m = 0; m < 1 + two; ++m) {
      pack_rows(maps[m].q + begin * shape.q_stride, shape.q_stride, rows, shape.width, padded_rows,
                size.width, scale, maps[m].queries);
    }
    pack_rows(gradients.d_out + begin * shape.out_stride, shape.out_stride, rows, shape.value_width,
              padded_rows, size.value_width, T(1), d_out);
    // Rows that nothing is asked of, as in a last layer: their dq and d_lambda stay zero.
    const T* end = d_out + padded_rows * size.value_width;
    if (std::all_of(static_cast<const T*>(d_out), end, [](T d) { return d == T{0}; })) continue;

    for (std::size_t s = 0; s < padded_rows; s += kStrip) {
      const std::size_t limit = size.limit(begin + s);
      const std::size_t used = std::min(begin + s + kStrip, shape.tokens);
      for (int m = 0; m < 1 + two; ++m) {
        multiply_strip<false>(maps[m].queries + s * size.width, size.width, 1, shape.width,
                              maps[m].keys_transposed, size.columns, limit,
                              scores[m] + s * size.columns, size.columns);
      }
      multiply_strip<false>(d_out + s * size.value_width, size.value_width, 1, shape.value_width,
                            values_transposed, size.columns, limit, d_weights + s * size.columns,
                            size.columns);
      for (std::size_t i = s; i < s + kStrip; ++i) {
        T* p1 = scores[0] + i * size.columns;
        T* p2 = two ? scores[1] + i * size.columns : nullptr;
        T* da = d_weights + i * size.columns;
        if (i >= rows) {
          for (T* row : {p1, p2, da}) {
            if (row != nullptr) std::fill(row, row + limit, T{0});
          }
          continue;
        }
        const std::size_t t = begin + i;
        const T d1 = probabilities(p1, da, log_sums[0][t], t + 1, limit);
        const T d2 = two ? probabilities(p2, da, log_sums[1][t], t + 1, limit) : T{0};
        score_gradients(p1, p2, da, d1, d2, two ? head.lambda[t] : T{0}, limit);
        if (two) gradients.d_lambda[t] = -d2;
      }
      for (int m = 0; m < 1 + two; ++m) {
        multiply_strip<false>(scores[m] + s * size.columns, size.columns, 1, used, keys[m],
                              size.width, size.width, strip, size.width);
        for (std::size_t i = 0; i < kStrip && s + i < rows; ++i) {
          T* line = dq[m] + (begin + s + i) * shape.q_stride;
          for (std::size_t c = 0; c < shape.width; ++c) line[c] = strip[i * size.width + c] * scale;
        }
      }
    }
    // Keys from `key` on are read by the rows from themselves on.
    for (std::size_t key = 0; key < begin + rows; key += kStrip) {
      const std::size_t from = key > begin ? key - begin : 0;
      for (int m = 0; m < 1 + two; ++m) {
        multiply_strip<true>(scores[m] + from * size.columns + key, 1, size.columns,
                             padded_rows - from, maps[m].queries + from * size.width, size.width,
                             size.width, sums[m] + key * size.width, size.width);
      }
      multiply_strip<true>(d_weights + from * size.columns + key, 1, size.columns,
                           padded_rows - from, d_out + from * size.value_width, size.value_width,
                           size.value_width, d_values + key * size.value_width, size.value_width);
    }
  }
  for (int m = 0; m < 1 + two; ++m) {
    add_rows(sums[m], shape.tokens, size.width, shape.width, dk[m], shape.k_stride);
  }
  add_rows(d_values, shape.tokens, size.value_width, shape.value_width, gradients.dv,
           shape.v_stride);
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
