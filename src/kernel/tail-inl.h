// The last numbers of a row, fewer than a vector has lanes, included once per instruction set
// (Highway's manner, hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_TAIL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_TAIL_INL_H_
#undef DIFFLAB_KERNEL_TAIL_INL_H_
#else
#define DIFFLAB_KERNEL_TAIL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where an instruction set has no masked loads and stores (SSE4, NEON), Highway's read a whole
// vector from a place that must be aligned, and write one: over the rows of another thread.
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2  // AVX2 lacks those of 8 and 16 bits alone
#define DIFFLAB_KERNEL_COPY_TAILS 1
#else
#define DIFFLAB_KERNEL_COPY_TAILS 0
#endif

/// The first `count` numbers, zero behind them; nothing behind them is read.
template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_first(const T* from, std::size_t count) {
  const hn::ScalableTag<T> tag;
#if DIFFLAB_KERNEL_COPY_TAILS
  HWY_ALIGN T numbers[hn::MaxLanes(tag)] = {};
  std::memcpy(numbers, from, count * sizeof(T));
  return hn::Load(tag, numbers);
#else
  return hn::MaskedLoad(hn::FirstN(tag, count), tag, from);
#endif
}

/// Writes the first `count` numbers, and nothing behind them.
template <class T, class Vector>
HWY_INLINE void store_first(Vector value, T* to, std::size_t count) {
  const hn::ScalableTag<T> tag;
#if DIFFLAB_KERNEL_COPY_TAILS
  HWY_ALIGN T numbers[hn::MaxLanes(tag)];
  hn::Store(value, tag, numbers);
  std::memcpy(to, numbers, count * sizeof(T));
#else
  hn::BlendedStore(value, hn::FirstN(tag, count), tag, to);
#endif
}

#undef DIFFLAB_KERNEL_COPY_TAILS

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
