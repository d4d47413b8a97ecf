#pragma once

#include <cstddef>
#include <vector>

namespace difflab::kernel {

/// Sizes of one head's causal attention, and how far apart two tokens lie in its arrays (numbers).
struct HeadShape {
  std::size_t tokens = 0;       ///< T
  std::size_t width = 0;        ///< d, of queries and keys
  std::size_t value_width = 0;  ///< of values and output
  std::size_t q_stride = 0, k_stride = 0, v_stride = 0, out_stride = 0;
};

/// o_t = Σ_s (P1_ts − λ_t P2_ts) v_s over s ≤ t, P = softmax(q kᵀ/√d); without a second map, q2, k2
/// and lambda are null and o = P1 v. With a sink, its logit takes part in the softmax, and its
/// share of the weights goes nowhere.
template <class T>
struct Head {
  const T *q1 = nullptr, *q2 = nullptr;  // rows of `width`
  const T *k1 = nullptr, *k2 = nullptr;
  const T* v = nullptr;                        // rows of `value_width`
  const T* lambda = nullptr;                   // [T]
  const T *sink1 = nullptr, *sink2 = nullptr;  // one logit of each map; null: none
  T *log_sum1 = nullptr, *log_sum2 = nullptr;  // [T], log Σ exp of the logits of each map
};

/// Where the gradients go. dq and d_lambda are zero before and are written where d_out is not; dk
/// and dv are added to, since heads may share them.
template <class T>
struct HeadGradients {
  const T* d_out = nullptr;
  T *dq1 = nullptr, *dq2 = nullptr, *dk1 = nullptr, *dk2 = nullptr, *dv = nullptr;
  T* d_lambda = nullptr;                     // [T]
  T *d_sink1 = nullptr, *d_sink2 = nullptr;  // one number each, zero before, as dq; null: none
};

/// Working memory of one thread, kept between calls so that a step makes no page faults.
template <class T>
class Scratch {
 public:
  /// `count` numbers that nobody else uses until `release`. They are not cleared.
  T* take(std::size_t count);
  void release() { used_ = 0; }

 private:
  std::vector<std::vector<T>> pieces_;
  std::size_t used_ = 0;
};

/// Memory: O(T · (width + value_width)), nothing T × T. The instruction set is chosen at run time;
/// results differ between instruction sets in the last bits, never between runs on one machine.
void forward_head(const HeadShape& shape, const Head<float>& head, float* out,
                  Scratch<float>& scratch);
void forward_head(const HeadShape& shape, const Head<double>& head, double* out,
                  Scratch<double>& scratch);
void backward_head(const HeadShape& shape, const Head<float>& head,
                   const HeadGradients<float>& gradients, Scratch<float>& scratch);
void backward_head(const HeadShape& shape, const Head<double>& head,
                   const HeadGradients<double>& gradients, Scratch<double>& scratch);

/// The instruction set in use, e.g. "AVX2".
const char* instruction_set();

}  // namespace difflab::kernel
