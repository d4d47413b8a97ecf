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

/// With thirty-two registers, twenty-four may be sums: a tile of two strips, or of four vectors,
/// has fewer loads per multiplication and is begun half as often. No sum runs in another order.
constexpr bool kLargeTiles = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;

// One, two or four vectors that lie side by side; what is not loaded is zero.
template <class Vector>
struct Line {
  Vector first, second, third, fourth;
};

template <int kVectors, class T>
HWY_INLINE Line<hn::Vec<hn::ScalableTag<T>>> load_line(const T* from) {
  const hn::ScalableTag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto at = [&](int vector) HWY_ATTR {
    return vector < kVectors ? hn::LoadU(tag, from + static_cast<std::size_t>(vector) * lanes)
                             : hn::Zero(tag);
  };
  return {at(0), at(1), at(2), at(3)};
}

template <int kVectors, class T, class Vector>
HWY_INLINE void store_line(const Line<Vector>& line, T* to) {
  const hn::ScalableTag<T> tag;
  const std::size_t lanes = hn::Lanes(tag);
  hn::StoreU(line.first, tag, to);
  if constexpr (kVectors > 1) hn::StoreU(line.second, tag, to + lanes);
  if constexpr (kVectors > 2) {
    hn::StoreU(line.third, tag, to + 2 * lanes);
    hn::StoreU(line.fourth, tag, to + 3 * lanes);
  }
}

template <int kVectors, class T, class Vector>
HWY_INLINE void add_product(T a, const Line<Vector>& b, Line<Vector>& sum) {
  const auto factor = hn::Set(hn::ScalableTag<T>(), a);
  sum.first = hn::MulAdd(factor, b.first, sum.first);
  if constexpr (kVectors > 1) sum.second = hn::MulAdd(factor, b.second, sum.second);
  if constexpr (kVectors > 2) {
    sum.third = hn::MulAdd(factor, b.third, sum.third);
    sum.fourth = hn::MulAdd(factor, b.fourth, sum.fourth);
  }
}

// The running sums of a strip's rows.
template <int kVectors, class T>
class StripSums {
 public:
  // Starts from the sums that C holds, or from zero.
  template <bool kFromC>
  HWY_INLINE void begin(const T* c, std::size_t c_row) {
    constexpr int kLoaded = kFromC ? kVectors : 0;
    const auto row = [&](std::size_t i) HWY_ATTR { return load_line<kLoaded>(c + i * c_row); };
    row0_ = row(0), row1_ = row(1), row2_ = row(2), row3_ = row(3), row4_ = row(4), row5_ = row(5);
  }
  HWY_INLINE void add(const T* a, std::size_t a_row, const Line<hn::Vec<hn::ScalableTag<T>>>& b) {
    const T* lower = a + 3 * a_row;
    add_product<kVectors>(a[0], b, row0_);
    add_product<kVectors>(a[a_row], b, row1_);
    add_product<kVectors>(a[2 * a_row], b, row2_);
    add_product<kVectors>(lower[0], b, row3_);
    add_product<kVectors>(lower[a_row], b, row4_);
    add_product<kVectors>(lower[2 * a_row], b, row5_);
  }
  HWY_INLINE void store(T* c, std::size_t c_row) const {
    store_line<kVectors>(row0_, c);
    store_line<kVectors>(row1_, c + c_row);
    store_line<kVectors>(row2_, c + 2 * c_row);
    store_line<kVectors>(row3_, c + 3 * c_row);
    store_line<kVectors>(row4_, c + 4 * c_row);
    store_line<kVectors>(row5_, c + 5 * c_row);
  }

 private:
  Line<hn::Vec<hn::ScalableTag<T>>> row0_, row1_, row2_, row3_, row4_, row5_;
};

// One tile of kVectors vectors: C[6, kVectors · lanes] = or += A[6, depth] · B[depth, …].
template <bool kAdd, int kVectors, class T>
HWY_INLINE void multiply_tile(const T* a, std::size_t a_row, std::size_t a_column,
                              std::size_t depth, const T* b, std::size_t b_row, T* c,
                              std::size_t c_row) {
  StripSums<kVectors, T> sums;
  sums.template begin<kAdd>(c, c_row);
  for (std::size_t p = 0; p < depth; ++p, a += a_column, b += b_row) {
    sums.add(a, a_row, load_line<kVectors>(b));
  }
  sums.store(c, c_row);
}

// Two strips at `upper` and `lower` with two vectors of B: C[12, 2 · lanes].
template <bool kAdd, class T>
HWY_INLINE void multiply_tall_tile(const T* upper, const T* lower, std::size_t a_row,
                                   std::size_t a_column, std::size_t depth, const T* b,
                                   std::size_t b_row, T* c, std::size_t c_row) {
  StripSums<2, T> upper_sums, lower_sums;
  upper_sums.template begin<kAdd>(c, c_row);
  lower_sums.template begin<kAdd>(c + kStrip * c_row, c_row);
  for (std::size_t p = 0; p < depth; ++p) {
    const auto line = load_line<2>(b);
    upper_sums.add(upper, a_row, line);
    lower_sums.add(lower, a_row, line);
    upper += a_column;
    lower += a_column;
    b += b_row;
  }
  upper_sums.store(c, c_row);
  lower_sums.store(c + kStrip * c_row, c_row);
}

/// C[6, columns] = A · B, or += if kAdd; A[i, p] lies at a[i · a_row + p · a_column], B [depth,
/// columns] and C have rows b_row and c_row apart. `columns` is a multiple of a vector's lanes.
template <bool kAdd, class T>
void multiply_strip(const T* a, std::size_t a_row, std::size_t a_column, std::size_t depth,
                    const T* b, std::size_t b_row, std::size_t columns, T* c, std::size_t c_row) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t j = 0;
  for (; kLargeTiles && j + 4 * lanes <= columns; j += 4 * lanes) {
    multiply_tile<kAdd, 4>(a, a_row, a_column, depth, b + j, b_row, c + j, c_row);
  }
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
