// Compiled once for every instruction set that Highway knows of, as attention_head.cpp.
#include "kernel/rows.h"

#include <algorithm>
#include <cmath>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "kernel/tail-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(load, store) for [0, count) in whole vectors and one part of a vector, where
// what lies behind the end loads as zero and is not stored.
template <class T, class Body>
HWY_INLINE void for_vectors(std::size_t count, Body body) {
  const hn::ScalableTag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    body([&](const T* from) HWY_ATTR { return hn::LoadU(tag, from + i); },
         [&](auto value, T* to) HWY_ATTR { hn::StoreU(value, tag, to + i); });
  }
  if (i == count) return;
  body([&](const T* from) HWY_ATTR { return load_first(from + i, count - i); },
       [&](auto value, T* to) HWY_ATTR { store_first(value, to + i, count - i); });
}

template <class T>
void norm(const NormRows<T>& in, const Added<T>& added, double eps, T* y) {
  const hn::ScalableTag<T> tag;
  for (std::size_t row = 0; row < in.rows; ++row) {
    const std::size_t at = row * in.width;
    const T* x = in.x + at;
    auto squares = hn::Zero(tag);
    if (added.delta == nullptr) {
      for_vectors<T>(in.width, [&](auto load, auto) HWY_ATTR {
        const auto value = load(x);
        squares = hn::MulAdd(value, value, squares);
      });
    } else {
      for_vectors<T>(in.width, [&](auto load, auto store) HWY_ATTR {
        const auto value = hn::Add(load(x), load(added.delta + at));
        store(value, added.sum + at);
        squares = hn::MulAdd(value, value, squares);
      });
      x = added.sum + at;
    }
    const T mean = hn::GetLane(hn::SumOfLanes(tag, squares)) / static_cast<T>(in.width);
    in.inverse[row] = T{1} / std::sqrt(mean + static_cast<T>(eps));
    const auto inverse = hn::Set(tag, in.inverse[row]);
    for_vectors<T>(in.width, [&](auto load, auto store) HWY_ATTR {
      store(hn::Mul(hn::Mul(load(x), inverse), load(in.weight)), y + at);
    });
  }
}

// With r = inverse and n the width: ds = r·w·dy − s · r³/n · Σ w·dy·s, dw = Σ_rows dy·s·r.
template <bool kAdd, class T>
void norm_backward(const NormRows<T>& in, const T* dy, const T* d_sum, T* ds, T* d_weight) {
  const hn::ScalableTag<T> tag;
  for (std::size_t row = 0; row < in.rows; ++row) {
    const std::size_t at = row * in.width;
    const T *x = in.x + at, *d = dy + at;
    const T r = in.inverse[row];
    const auto inverse = hn::Set(tag, r);
    auto along = hn::Zero(tag);
    for_vectors<T>(in.width, [&](auto load, auto store) HWY_ATTR {
      const auto d_times_x = hn::Mul(load(d), load(x));
      along = hn::MulAdd(load(in.weight), d_times_x, along);
      store(hn::MulAdd(d_times_x, inverse, load(d_weight)), d_weight);
    });
    const T sum = hn::GetLane(hn::SumOfLanes(tag, along));
    const auto back = hn::Set(tag, r * r * r * sum / static_cast<T>(in.width));
    for_vectors<T>(in.width, [&](auto load, auto store) HWY_ATTR {
      auto straight = hn::Mul(hn::Mul(load(d), load(in.weight)), inverse);
      if constexpr (kAdd) straight = hn::Add(straight, load(d_sum + at));
      store(hn::NegMulAdd(load(x), back, straight), ds + at);
    });
  }
}

// The exponential of what is not positive cannot overflow.
template <class T, class Vector>
HWY_INLINE Vector sigmoid(Vector x) {
  const hn::ScalableTag<T> tag;
  const auto one = hn::Set(tag, T{1});
  const auto e = hn::Exp(tag, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(tag)), e, one), hn::Add(one, e));
}

template <class T>
void gated(const T* gate, const T* up, std::size_t count, T* y) {
  for_vectors<T>(count, [&](auto load, auto store) HWY_ATTR {
    const auto g = load(gate);
    store(hn::Mul(hn::Mul(g, sigmoid<T>(g)), load(up)), y);
  });
}

// d(g·σ(g)) = σ(g) · (1 + g · (1 − σ(g))); y once more as `gated` has it.
template <class T>
void gated_backward(const T* gate, const T* up, const T* dy, std::size_t count, T* y, T* d_gate,
                    T* d_up) {
  const hn::ScalableTag<T> tag;
  const auto one = hn::Set(tag, T{1});
  for_vectors<T>(count, [&](auto load, auto store) HWY_ATTR {
    const auto g = load(gate), u = load(up), d = load(dy);
    const auto s = sigmoid<T>(g);
    const auto silu = hn::Mul(g, s);
    const auto slope = hn::Mul(s, hn::MulAdd(g, hn::Sub(one, s), one));
    store(hn::Mul(silu, u), y);
    store(hn::Mul(hn::Mul(d, u), slope), d_gate);
    store(hn::Mul(d, silu), d_up);
  });
}

// One row whose partners are `half` channels away.
template <class T>
void turn_halves(const T* x, const T* cosine, const T* sine, std::size_t half, T sign, T* y) {
  const auto turn = hn::Set(hn::ScalableTag<T>(), sign);
  for_vectors<T>(half, [&](auto load, auto store) HWY_ATTR {
    const auto low = load(x), high = load(x + half), c = load(cosine);
    const auto s = hn::Mul(load(sine + half), turn);
    store(hn::NegMulAdd(high, s, hn::Mul(low, c)), y);
    store(hn::MulAdd(low, s, hn::Mul(high, c)), y + half);
  });
}

// One row whose partners are neighbours; vectors have an even number of lanes.
template <class T>
void turn_neighbours(const T* x, const T* cosine, const T* sine, std::size_t width, T sign, T* y) {
  const hn::ScalableTag<T> tag;
  const auto turn = hn::Set(tag, sign);
  for_vectors<T>(width, [&](auto load, auto store) HWY_ATTR {
    const auto value = load(x), s = hn::Mul(load(sine), turn);
    store(hn::MulAdd(hn::Reverse2(tag, value), s, hn::Mul(value, load(cosine))), y);
  });
}

template <class T>
void turn(const TurnRows<T>& in, T* y) {
  const T sign = in.inverse ? T{-1} : T{1};
  for (std::size_t token = 0; token < in.tokens; ++token) {
    const T* cosine = in.cosine + (in.first + token) % in.positions * in.width;
    const T* sine = in.sine + (in.first + token) % in.positions * in.width;
    for (std::size_t head = 0; head < in.heads; ++head) {
      const std::size_t at = (token * in.heads + head) * in.width;
      if (in.halves) {
        turn_halves(in.x + at, cosine, sine, in.width / 2, sign, y + at);
      } else {
        turn_neighbours(in.x + at, cosine, sine, in.width, sign, y + at);
      }
    }
  }
}

// The exponential of what is at most 0, or a NaN, of which the library's makes 0.
template <class T, class Vector>
HWY_INLINE Vector weight_of(Vector x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(hn::ScalableTag<T>(), x));
}

// Finds each row's largest logit, then Σ exp(logit − largest), in two passes over cached numbers.
template <class T>
double answers(const AnswerRows<T>& in) {
  const hn::ScalableTag<T> tag;
  double loss = 0;
  for (std::size_t row = 0; row < in.rows; ++row) {
    const T* logits = in.logits + row * in.classes;
    auto largest = hn::Set(tag, logits[0]);
    for (std::size_t j = 0; j < in.classes; j += hn::Lanes(tag)) {
      const std::size_t left = std::min(in.classes - j, hn::Lanes(tag));
      const auto value = load_first(logits + j, left);
      largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(tag, left), value, largest));
    }
    const T top = hn::GetLane(hn::MaxOfLanes(tag, largest));
    const auto shift = hn::Set(tag, top);
    auto sums = hn::Zero(tag);
    for (std::size_t j = 0; j < in.classes; j += hn::Lanes(tag)) {
      const std::size_t left = std::min(in.classes - j, hn::Lanes(tag));
      const auto inside = hn::FirstN(tag, left);
      const auto value = load_first(logits + j, left);
      sums = hn::Add(sums, hn::IfThenElseZero(inside, weight_of<T>(hn::Sub(value, shift))));
    }
    in.log_sum[row] = top + std::log(hn::GetLane(hn::SumOfLanes(tag, sums)));
    const auto of_row = static_cast<double>(in.log_sum[row] - logits[in.targets[row]]);
    loss += in.weights == nullptr ? of_row : in.weights[row] * of_row;
  }
  return loss;
}

template <class T>
void answers_backward(const AnswerRows<T>& in, double scale, T* d_logits) {
  const hn::ScalableTag<T> tag;
  for (std::size_t row = 0; row < in.rows; ++row) {
    const auto of_row = static_cast<T>(in.weights == nullptr ? scale : scale * in.weights[row]);
    const auto factor = hn::Set(tag, of_row);
    const auto shift = hn::Set(tag, in.log_sum[row]);
    T* out = d_logits + row * in.classes;
    for_vectors<T>(in.classes, [&](auto load, auto store) HWY_ATTR {
      const auto value = load(in.logits + row * in.classes);
      store(hn::Mul(factor, weight_of<T>(hn::Sub(value, shift))), out);
    });
    out[in.targets[row]] -= of_row;
  }
}

void NormFloat(const NormRows<float>& in, const Added<float>& added, double eps, float* y) {
  norm(in, added, eps, y);
}
void NormDouble(const NormRows<double>& in, const Added<double>& added, double eps, double* y) {
  norm(in, added, eps, y);
}
void NormBackFloat(const NormRows<float>& in, const float* dy, const float* d_sum, float* ds,
                   float* dw) {
  const auto run = d_sum == nullptr ? norm_backward<false, float> : norm_backward<true, float>;
  run(in, dy, d_sum, ds, dw);
}
void NormBackDouble(const NormRows<double>& in, const double* dy, const double* d_sum, double* ds,
                    double* dw) {
  const auto run = d_sum == nullptr ? norm_backward<false, double> : norm_backward<true, double>;
  run(in, dy, d_sum, ds, dw);
}
double AnswerFloat(const AnswerRows<float>& in) { return answers(in); }
double AnswerDouble(const AnswerRows<double>& in) { return answers(in); }
void AnswerBackFloat(const AnswerRows<float>& in, double scale, float* d) {
  answers_backward(in, scale, d);
}
void AnswerBackDouble(const AnswerRows<double>& in, double scale, double* d) {
  answers_backward(in, scale, d);
}
void GateFloat(const float* g, const float* u, std::size_t n, float* y) { gated(g, u, n, y); }
void GateDouble(const double* g, const double* u, std::size_t n, double* y) { gated(g, u, n, y); }
void GateBackFloat(const float* g, const float* u, const float* dy, std::size_t n, float* y,
                   float* dg, float* du) {
  gated_backward(g, u, dy, n, y, dg, du);
}
void GateBackDouble(const double* g, const double* u, const double* dy, std::size_t n, double* y,
                    double* dg, double* du) {
  gated_backward(g, u, dy, n, y, dg, du);
}
void TurnFloat(const TurnRows<float>& in, float* y) { turn(in, y); }
void TurnDouble(const TurnRows<double>& in, double* y) { turn(in, y); }

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace difflab::kernel {

HWY_EXPORT(NormFloat);
HWY_EXPORT(NormDouble);
HWY_EXPORT(NormBackFloat);
HWY_EXPORT(NormBackDouble);
HWY_EXPORT(AnswerFloat);
HWY_EXPORT(AnswerDouble);
HWY_EXPORT(AnswerBackFloat);
HWY_EXPORT(AnswerBackDouble);
HWY_EXPORT(GateFloat);
HWY_EXPORT(GateDouble);
HWY_EXPORT(GateBackFloat);
HWY_EXPORT(GateBackDouble);
HWY_EXPORT(TurnFloat);
HWY_EXPORT(TurnDouble);

void norm_rows(const NormRows<float>& in, const Added<float>& added, double eps, float* y) {
  HWY_DYNAMIC_DISPATCH(NormFloat)(in, added, eps, y);
}
void norm_rows(const NormRows<double>& in, const Added<double>& added, double eps, double* y) {
  HWY_DYNAMIC_DISPATCH(NormDouble)(in, added, eps, y);
}
void norm_rows_backward(const NormRows<float>& in, const float* dy, const float* d_sum, float* ds,
                        float* d_weight) {
  HWY_DYNAMIC_DISPATCH(NormBackFloat)(in, dy, d_sum, ds, d_weight);
}
void norm_rows_backward(const NormRows<double>& in, const double* dy, const double* d_sum,
                        double* ds, double* d_weight) {
  HWY_DYNAMIC_DISPATCH(NormBackDouble)(in, dy, d_sum, ds, d_weight);
}
double answer_rows(const AnswerRows<float>& in) { return HWY_DYNAMIC_DISPATCH(AnswerFloat)(in); }
double answer_rows(const AnswerRows<double>& in) { return HWY_DYNAMIC_DISPATCH(AnswerDouble)(in); }
void answer_rows_backward(const AnswerRows<float>& in, double scale, float* d_logits) {
  HWY_DYNAMIC_DISPATCH(AnswerBackFloat)(in, scale, d_logits);
}
void answer_rows_backward(const AnswerRows<double>& in, double scale, double* d_logits) {
  HWY_DYNAMIC_DISPATCH(AnswerBackDouble)(in, scale, d_logits);
}
void gate_rows(const float* gate, const float* up, std::size_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(GateFloat)(gate, up, count, y);
}
void gate_rows(const double* gate, const double* up, std::size_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(GateDouble)(gate, up, count, y);
}
void gate_rows_backward(const float* gate, const float* up, const float* dy, std::size_t count,
                        float* y, float* d_gate, float* d_up) {
  HWY_DYNAMIC_DISPATCH(GateBackFloat)(gate, up, dy, count, y, d_gate, d_up);
}
void gate_rows_backward(const double* gate, const double* up, const double* dy, std::size_t count,
                        double* y, double* d_gate, double* d_up) {
  HWY_DYNAMIC_DISPATCH(GateBackDouble)(gate, up, dy, count, y, d_gate, d_up);
}
void turn_rows(const TurnRows<float>& in, float* y) { HWY_DYNAMIC_DISPATCH(TurnFloat)(in, y); }
void turn_rows(const TurnRows<double>& in, double* y) { HWY_DYNAMIC_DISPATCH(TurnDouble)(in, y); }

}  // namespace difflab::kernel
#endif  // HWY_ONCE
