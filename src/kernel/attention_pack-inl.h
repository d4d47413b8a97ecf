// Packing of a head's queries, keys and values before they are multiplied, included once per
// instruction set (Highway's manner, hence the guard that toggles).
#if defined(DIFFLAB_KERNEL_ATTENTION_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_ATTENTION_PACK_INL_H_
#undef DIFFLAB_KERNEL_ATTENTION_PACK_INL_H_
#else
#define DIFFLAB_KERNEL_ATTENTION_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "kernel/attention_head.h"
#include "kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of queries whose gradients with respect to keys and values are summed before they are
// stored.
constexpr std::size_t kBlock = 4 * kStrip;

template <class T>
using Tag = hn::ScalableTag<T>;

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

// Transposes rows of `width` into [width, columns], zero behind the last token. A few rows at a
// time: many, as far apart as rows of all heads are, push each other out of the first-level cache.
template <class T>
void pack_transposed(const T* rows, std::size_t stride, std::size_t tokens, std::size_t width,
                     std::size_t columns, T* out) {
  constexpr std::size_t kTogether = 16;
  for (std::size_t begin = 0; begin < tokens; begin += kTogether) {
    const std::size_t count = std::min(kTogether, tokens - begin);
    for (std::size_t c = 0; c < width; ++c) {
      const T* from = rows + begin * stride + c;
      T* line = out + c * columns + begin;
      for (std::size_t t = 0; t < count; ++t) line[t] = from[t * stride];
    }
  }
  for (std::size_t c = 0; c < width; ++c) {
    std::fill(out + c * columns + tokens, out + (c + 1) * columns, T{0});
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

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
