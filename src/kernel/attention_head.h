#pragma once

#include <hwy/aligned_allocator.h>

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

/// P = softmax(q kᵀ/√d). With a sink, its logit takes part in the softmax, and its share of the
/// weights goes nowhere.
template <class T>
struct SoftmaxMap {
  const T *q = nullptr, *k = nullptr;  // rows of `width`
  const T* sink = nullptr;             // one logit; null: none
  T* log_sum = nullptr;                // [T], log Σ exp of the logits: written on the way forward
};

/// The map of one output, what it is differed by, and where the output goes on the way forward.
template <class T>
struct SignalHead {
  SoftmaxMap<T> map;
  const T* lambda = nullptr;  // [T]; null without a noise map
  T* out = nullptr;           // rows of `value_width`
};

/// Outputs that are differed by one noise map and read the same values:
///
///   o_t = Σ_s (P_ts − λ_t N_ts) v_s over s ≤ t for each signal head with its P and λ
///
/// N and its gradient are computed once, whatever the number of signal heads. Without a noise map
/// there is one signal head, and o = P v.
template <class T>
struct HeadGroup {
  std::vector<SignalHead<T>> signals;
  SoftmaxMap<T> noise;   // q null: none
  const T* v = nullptr;  // rows of `value_width`

  bool has_noise() const { return noise.q != nullptr; }
};

/// Where a map's gradients go. dq and the sink's are zero before, dk is added to, since maps may
/// share keys.
template <class T>
struct MapGradients {
  T *dq = nullptr, *dk = nullptr;
  T* d_sink = nullptr;  // one number; null: none
};

template <class T>
struct SignalGradients {
  const T* d_out = nullptr;
  MapGradients<T> map;
  T* d_lambda = nullptr;  // [T], zero before
};

/// Where the gradients of a group go. dq and d_lambda are written where d_out is not zero; dv is
/// added to, since groups may share values.
template <class T>
struct GroupGradients {
  std::vector<SignalGradients<T>> signals;
  MapGradients<T> noise;
  T* dv = nullptr;
};

/// Working memory of one thread, kept between calls so that a step makes no page faults.
template <class T>
class Scratch {
 public:
  /// `count` numbers that nobody else uses until `release`. They are not cleared, and begin at a
  /// line of the cache: a vector that lies across two costs twice.
  T* take(std::size_t count);
  void release() { used_ = 0; }

 private:
  struct Piece {
    hwy::AlignedFreeUniquePtr<T[]> numbers;
    std::size_t count = 0;
  };
  std::vector<Piece> pieces_;
  std::size_t used_ = 0;
};

/// Memory: O(T · (width + value_width)), nothing T × T. The instruction set is chosen at run time;
/// results differ between instruction sets in the last bits, never between runs on one machine.
void forward_group(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch);
void forward_group(const HeadShape& shape, const HeadGroup<double>& group,
                   Scratch<double>& scratch);
void backward_group(const HeadShape& shape, const HeadGroup<float>& group,
                    const GroupGradients<float>& gradients, Scratch<float>& scratch);
void backward_group(const HeadShape& shape, const HeadGroup<double>& group,
                    const GroupGradients<double>& gradients, Scratch<double>& scratch);

/// The last token's row of `forward_group` alone, as decoding needs it: `tokens` keys and values
/// are there, and one query, whose q, λ and out the group points to. q_stride, out_stride and
/// log_sum are not used.
void last_query(const HeadShape& shape, const HeadGroup<float>& group, Scratch<float>& scratch);
void last_query(const HeadShape& shape, const HeadGroup<double>& group, Scratch<double>& scratch);

/// The instruction set in use, e.g. "AVX2".
const char* instruction_set();
/// From here on none wider than AVX2 is used on an x86-64 processor: for benchmarks, which ask what
/// others have of us.
void use_at_most_avx2();

}  // namespace difflab::kernel
