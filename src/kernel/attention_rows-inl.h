// Rows of a softmax map and of its gradients, included once per instruction set (Highway's manner,
// hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_ATTENTION_ROWS_INL_H_
#undef DIFFLAB_KERNEL_ATTENTION_ROWS_INL_H_
#else
#define DIFFLAB_KERNEL_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernel/attention_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Column j of a row becomes exp(score − shift) for columns below n and 0 from there on. No score is
// meant to be above the shift, so what rounding puts there counts as equal. A NaN stays one, which
// neither the minimum nor the library's exponential would leave.
template <class T, class Vector>
HWY_INLINE Vector store_exponential(T* row, std::size_t j, std::size_t n, Vector shift) {
  const Tag<T> tag;
  const auto inside = hn::FirstN(tag, j < n ? n - j : 0);
  const auto shifted = hn::Sub(hn::LoadU(tag, row + j), shift);
  const auto exponential = hn::Exp(tag, hn::Min(shifted, hn::Zero(tag)));
  const auto e =
      hn::IfThenElseZero(inside, hn::IfThenElse(hn::IsNaN(shifted), shifted, exponential));
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

// Factor that makes exp(score − largest) a weight; stores log Σ exp of all logits.
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

// Σ P·dA of a row whose probabilities are there.
template <class T>
T products(const T* row, const T* d_weights, std::size_t limit) {
  const Tag<T> tag;
  auto sum = hn::Zero(tag);
  for (std::size_t j = 0; j < limit; j += hn::Lanes(tag)) {
    sum = hn::MulAdd(hn::LoadU(tag, row + j), hn::LoadU(tag, d_weights + j), sum);
  }
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

// From P1, P2 (null for one map) and dA of one row: dS1 = P1 (dA − D1) in place of P1, A = P1 − λ
// P2 in place of dA, and −λ P2 (dA − D2) in d_scores2 (which may be P2 itself), added to it if
// kAdd.
template <bool kAdd, class T>
void score_gradients(T* p1, const T* p2, T* d_weights, T d1, T d2, T lambda, T* d_scores2,
                     std::size_t limit) {
  const Tag<T> tag;
  const auto v1 = hn::Set(tag, d1), v2 = hn::Set(tag, d2), l = hn::Set(tag, lambda);
  for (std::size_t j = 0; j < limit; j += hn::Lanes(tag)) {
    const auto da = hn::LoadU(tag, d_weights + j);
    auto a = hn::LoadU(tag, p1 + j);
    hn::StoreU(hn::Mul(a, hn::Sub(da, v1)), tag, p1 + j);
    if (p2 != nullptr) {
      const auto scaled = hn::Mul(hn::LoadU(tag, p2 + j), l);
      auto ds = hn::Mul(scaled, hn::Sub(v2, da));
      if constexpr (kAdd) ds = hn::Add(hn::LoadU(tag, d_scores2 + j), ds);
      hn::StoreU(ds, tag, d_scores2 + j);
      a = hn::Sub(a, scaled);
    }
    hn::StoreU(a, tag, d_weights + j);
  }
}

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
