#pragma once

#include <cstddef>

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

/// y = x · weight / √(mean x² + eps) of each row; fills `inverse`.
void norm_rows(const NormRows<float>& in, double eps, float* y);
void norm_rows(const NormRows<double>& in, double eps, double* y);
/// dx [rows, width] is written; d_weight [width] is added to.
void norm_rows_backward(const NormRows<float>& in, const float* dy, float* dx, float* d_weight);
void norm_rows_backward(const NormRows<double>& in, const double* dy, double* dx, double* d_weight);

/// y = gate · σ(gate) · up, `count` numbers each.
void gate_rows(const float* gate, const float* up, std::size_t count, float* y);
void gate_rows(const double* gate, const double* up, std::size_t count, double* y);
void gate_rows_backward(const float* gate, const float* up, const float* dy, std::size_t count,
                        float* d_gate, float* d_up);
void gate_rows_backward(const double* gate, const double* up, const double* dy, std::size_t count,
                        double* d_gate, double* d_up);

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

}  // namespace difflab::kernel
