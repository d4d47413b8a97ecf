// A small matrix product for strips of six rows, included once per instruction set (Highway's
// manner, hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_TILE_INL_H_
#undef DIFFLAB_KERNEL_TILE_INL_H_
#else
#define DIFFLAB_KERNEL_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Six rows times two vectors are twelve running sums: enough to keep two multiply-add units busy
/// over their latency, and they fit sixteen registers.
constexpr std::size_t kStrip = 6;

// One tile of kVectors vectors: C[6, kVectors · lanes] = or += A[6, depth] · B[depth, …].
template <bool kAdd, int kVectors, class T>
HWY_INLINE void multiply_tile(const T* a, std::size_t a_row, std::size_t a_column,
                              std::size_t depth, const T* b, std::size_t b_row, T* c,
                              std::size_t c_row) {
  const hn::ScalableTag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto start = [&](std::size_t row, std::size_t vector) {
    return kAdd ? hn::LoadU(tag, c + row * c_row + vector * lanes) : hn::Zero(tag);
  };
  auto c00 = start(0, 0), c10 = start(1, 0), c20 = start(2, 0), c30 = start(3, 0),
       c40 = start(4, 0), c50 = start(5, 0);
  auto c01 = c00, c11 = c10, c21 = c20, c31 = c30, c41 = c40, c51 = c50;
  if constexpr (kVectors == 2) {
    c01 = start(0, 1), c11 = start(1, 1), c21 = start(2, 1), c31 = start(3, 1), c41 = start(4, 1),
    c51 = start(5, 1);
  }
  const T *upper = a, *lower = a + 3 * a_row;
  for (std::size_t p = 0; p < depth; ++p) {
    const auto b0 = hn::LoadU(tag, b);
    const auto a0 = hn::Set(tag, upper[0]), a1 = hn::Set(tag, upper[a_row]);
    c00 = hn::MulAdd(a0, b0, c00);
    c10 = hn::MulAdd(a1, b0, c10);
    const auto a2 = hn::Set(tag, upper[2 * a_row]), a3 = hn::Set(tag, lower[0]);
    c20 = hn::MulAdd(a2, b0, c20);
    c30 = hn::MulAdd(a3, b0, c30);
    const auto a4 = hn::Set(tag, lower[a_row]), a5 = hn::Set(tag, lower[2 * a_row]);
    c40 = hn::MulAdd(a4, b0, c40);
    c50 = hn::MulAdd(a5, b0, c50);
    if constexpr (kVectors == 2) {
      const auto b1 = hn::LoadU(tag, b + lanes);
      c01 = hn::MulAdd(a0, b1, c01);
      c11 = hn::MulAdd(a1, b1, c11);
      c21 = hn::MulAdd(a2, b1, c21);
      c31 = hn::MulAdd(a3, b1, c31);
      c41 = hn::MulAdd(a4, b1, c41);
      c51 = hn::MulAdd(a5, b1, c51);
    }
    upper += a_column;
    lower += a_column;
    b += b_row;
  }
  const auto store = [&](std::size_t row, auto first, auto second) {
    hn::StoreU(first, tag, c + row * c_row);
    if constexpr (kVectors == 2) hn::StoreU(second, tag, c + row * c_row + lanes);
  };
  store(0, c00, c01);
  store(1, c10, c11);
  store(2, c20, c21);
  store(3, c30, c31);
  store(4, c40, c41);
  store(5, c50, c51);
}

/// C[6, columns] = A · B, or += if kAdd; A[i, p] lies at a[i · a_row + p · a_column], B [depth,
/// columns] and C have rows b_row and c_row apart. `columns` is a multiple of a vector's lanes.
template <bool kAdd, class T>
void multiply_strip(const T* a, std::size_t a_row, std::size_t a_column, std::size_t depth,
                    const T* b, std::size_t b_row, std::size_t columns, T* c, std::size_t c_row) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    multiply_tile<kAdd, 2>(a, a_row, a_column, depth, b + j, b_row, c + j, c_row);
  }
  if (j < columns) {
    multiply_tile<kAdd, 1>(a, a_row, a_column, depth, b + j, b_row, c + j, c_row);
  }
}

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
