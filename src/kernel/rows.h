#pragma once

#include <cstddef>
#include <cstdint>

namespace difflab::kernel {

/// Parts of a model that look at one token at a time, each in one pass over its numbers. The
/// instruction set is chosen at run time; results differ between instruction sets in the last bits,
/// never between runs on one machine.
template <class T>
struct NormRows {
  const T *x = nullptr, *weight = nullptr;  // [rows, width], [width]
  std::size_t rows = 0, width = 0;
  T* inverse = nullptr;  // [rows], 1/√(mean x² + eps)
};

/// Delta that is added to x before the norm, and the sum, both [rows, width]; or neither.
template <class T>
struct Added {
  const T* delta = nullptr;
  T* sum = nullptr;
};

/// y = s · weight / √(mean s² + eps) of each row of s = x + delta; fills `inverse`.
void norm_rows(const NormRows<float>& in, const Added<float>& added, double eps, float* y);
void norm_rows(const NormRows<double>& in, const Added<double>& added, double eps, double* y);
/// With in.x = s: ds [rows, width] is written, plus `d_sum` [rows, width] unless that is null;
/// d_weight [width] is added to.
void norm_rows_backward(const NormRows<float>& in, const float* dy, const float* d_sum, float* ds,
                        float* d_weight);
void norm_rows_backward(const NormRows<double>& in, const double* dy, const double* d_sum,
                        double* ds, double* d_weight);

/// y = gate · σ(gate) · up, `count` numbers each. The way back, which makes y once more, may write
/// d_gate where dy lies.
void gate_rows(const float* gate, const float* up, std::size_t count, float* y);
void gate_rows(const double* gate, const double* up, std::size_t count, double* y);
void gate_rows_backward(const float* gate, const float* up, const float* dy, std::size_t count,
                        float* y, float* d_gate, float* d_up);
void gate_rows_backward(const double* gate, const double* up, const double* dy, std::size_t count,
                        double* y, double* d_gate, double* d_up);

/// Rows of a rotary embedding: `tokens` tokens one after the other, each of `heads` rows of `width`
/// numbers, turned by their token's angles; `cosine` and `sine` have a row of `width` numbers per
/// position, and token t has position (first + t) mod `positions`.
template <class T>
struct TurnRows {
  const T* x = nullptr;
  const T *cosine = nullptr, *sine = nullptr;  // as the partner needs it: y = x·cos + partner·sin
  std::size_t first = 0, tokens = 0, positions = 0, heads = 0, width = 0;
  bool halves = false;   // the partner of channel c is c ± width/2, else its neighbour
  bool inverse = false;  // turn back: also what takes gradients of y to those of x
};

/// y of x's shape.
void turn_rows(const TurnRows<float>& in, float* y);
void turn_rows(const TurnRows<double>& in, double* y);

/// Rows of logits, [rows, classes], and the class that each is meant to name.
template <class T>
struct AnswerRows {
  const T* logits = nullptr;
  const std::int64_t* targets = nullptr;  // [rows], in [0, classes)
  std::size_t rows = 0, classes = 0;
  T* log_sum = nullptr;             // [rows], log Σ exp of the logits
  const double* weights = nullptr;  // [rows]; all 1 if null
};

/// Fills `log_sum` and returns Σ_rows weight · (log_sum − the target's logit), the cross-entropy in
/// nats.
double answer_rows(const AnswerRows<float>& in);
double answer_rows(const AnswerRows<double>& in);
/// d_logits = scale · weight · (softmax − one-hot target), of the logits' shape.
void answer_rows_backward(const AnswerRows<float>& in, double scale, float* d_logits);
void answer_rows_backward(const AnswerRows<double>& in, double scale, double* d_logits);

}  // namespace difflab::kernel
