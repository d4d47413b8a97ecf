// Compiled once for every instruction set that Highway knows of, as attention_head.cpp.
#include "kernel/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
#include "kernel/tail-inl.h"
#include "kernel/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of B whose panel of two vectors stays in the first-level cache, and rows of A that meet it
// there before the next panel comes.
constexpr std::size_t kDepthBlock = 256;
constexpr std::size_t kRowBlock = 20 * kStrip;

// C[6, rest] for the columns that fill no whole vector.
template <bool kAdd, class T>
void multiply_edge(const T* a, std::size_t a_row, std::size_t a_column, std::size_t depth,
                   const T* b, std::size_t b_row, std::size_t rest, T* c, std::size_t c_row) {
  const hn::ScalableTag<T> tag;
  const auto start = [&](std::size_t row) HWY_ATTR {
    return kAdd ? load_first(c + row * c_row, rest) : hn::Zero(tag);
  };
  auto c0 = start(0), c1 = start(1), c2 = start(2), c3 = start(3), c4 = start(4), c5 = start(5);
  for (std::size_t p = 0; p < depth; ++p) {
    const T* column = a + p * a_column;
    const auto line = load_first(b + p * b_row, rest);
    c0 = hn::MulAdd(hn::Set(tag, column[0]), line, c0);
    c1 = hn::MulAdd(hn::Set(tag, column[a_row]), line, c1);
    c2 = hn::MulAdd(hn::Set(tag, column[2 * a_row]), line, c2);
    c3 = hn::MulAdd(hn::Set(tag, column[3 * a_row]), line, c3);
    c4 = hn::MulAdd(hn::Set(tag, column[4 * a_row]), line, c4);
    c5 = hn::MulAdd(hn::Set(tag, column[5 * a_row]), line, c5);
  }
  const auto store = [&](std::size_t row, auto value)
                         HWY_ATTR { store_first(value, c + row * c_row, rest); };
  store(0, c0);
  store(1, c1);
  store(2, c2);
  store(3, c3);
  store(4, c4);
  store(5, c5);
}

// Six rows times the columns of one panel, at most two vectors.
template <bool kAdd, class T>
void multiply_panel(const T* a, std::size_t a_row, std::size_t a_column, std::size_t depth,
                    const T* b, std::size_t b_row, std::size_t columns, T* c, std::size_t c_row) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t whole = columns / lanes * lanes;
  if (whole > 0) multiply_strip<kAdd>(a, a_row, a_column, depth, b, b_row, whole, c, c_row);
  if (whole == columns) return;
  multiply_edge<kAdd>(a, a_row, a_column, depth, b + whole, b_row, columns - whole, c + whole,
                      c_row);
}

// The last rows, fewer than a strip, in a strip of their own.
template <bool kAdd, class T>
void multiply_rest(const Strided<const T>& a, const Panels<T>& b, const Strided<T>& c,
                   std::size_t rows, std::size_t depth, std::size_t columns) {
  thread_local std::vector<T> lines(kStrip * kDepthBlock), sums;
  const std::size_t width = 2 * hn::Lanes(hn::ScalableTag<T>());
  sums.resize(kStrip * width);
  for (std::size_t i = 0; i < kStrip; ++i) {
    T* line = lines.data() + i * kDepthBlock;
    if (i >= rows) {
      std::fill(line, line + depth, T{0});
      continue;
    }
    for (std::size_t p = 0; p < depth; ++p) line[p] = a.data[i * a.row + p * a.column];
  }
  for (std::size_t j = 0; j < columns; j += width) {
    const std::size_t n = std::min(width, columns - j);
    for (std::size_t i = 0; kAdd && i < rows; ++i) {
      std::copy_n(c.data + i * c.row + j, n, sums.data() + i * width);
    }
    multiply_panel<kAdd>(lines.data(), kDepthBlock, 1, depth, b.data + j / width * b.panel, b.row,
                         n, sums.data(), width);
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy_n(sums.data() + i * width, n, c.data + i * c.row + j);
    }
  }
}

// Strips of a matrix that lies turned, [depth, 6] each in one piece: their lines are as far apart
// as the matrix is wide, and every panel walks them again.
template <class T>
const T* gather_strips(const T* from, std::size_t column, std::size_t rows, std::size_t depth) {
  thread_local std::vector<T> strips(kRowBlock * kDepthBlock);
  T* to = strips.data();
  for (std::size_t i = 0; i < rows; i += kStrip) {
    for (std::size_t p = 0; p < depth; ++p, to += kStrip) {
      std::memcpy(to, from + i + p * column, kStrip * sizeof(T));
    }
  }
  return strips.data();
}

// Whole strips, `strip` apart, times one panel.
template <bool kAdd, class T>
void multiply_strips(const Strided<const T>& a, std::size_t strip, std::size_t strips,
                     std::size_t depth, const T* panel, std::size_t b_row, std::size_t columns,
                     T* c, std::size_t c_row) {
  std::size_t i = 0;
  if (kLargeTiles && columns == 2 * hn::Lanes(hn::ScalableTag<T>())) {
    for (; i + 2 <= strips; i += 2) {
      multiply_tall_tile<kAdd>(a.data + i * strip, a.data + (i + 1) * strip, a.row, a.column, depth,
                               panel, b_row, c + i * kStrip * c_row, c_row);
    }
  }
  for (; i < strips; ++i) {
    multiply_panel<kAdd>(a.data + i * strip, a.row, a.column, depth, panel, b_row, columns,
                         c + i * kStrip * c_row, c_row);
  }
}

template <bool kAdd, class T>
void multiply_block(const Strided<const T>& a, const Panels<T>& b, const Strided<T>& c,
                    std::size_t rows, std::size_t depth, std::size_t columns) {
  const std::size_t width = 2 * hn::Lanes(hn::ScalableTag<T>());
  const std::size_t whole = rows / kStrip * kStrip;
  for (std::size_t begin = 0; begin < whole; begin += kRowBlock) {
    const std::size_t count = std::min(kRowBlock, whole - begin);
    Strided<const T> block{a.data + begin * a.row, a.row, a.column};
    std::size_t strip = kStrip * a.row;
    if (a.row == 1 && columns > 2 * width) {
      block = {gather_strips(block.data, a.column, count, depth), 1, kStrip};
      strip = kStrip * depth;
    }
    for (std::size_t j = 0; j < columns; j += width) {
      multiply_strips<kAdd>(block, strip, count / kStrip, depth, b.data + j / width * b.panel,
                            b.row, std::min(width, columns - j), c.data + begin * c.row + j, c.row);
    }
  }
  if (whole == rows) return;
  multiply_rest<kAdd>({a.data + whole * a.row, a.row, a.column}, b, {c.data + whole * c.row, c.row},
                      rows - whole, depth, columns);
}

template <class T>
void multiply_all(const Strided<const T>& a, const Panels<T>& b, const Strided<T>& c,
                  std::size_t rows, std::size_t depth, std::size_t columns, Into into) {
  for (std::size_t p = 0; p < depth; p += kDepthBlock) {
    const auto block =
        p > 0 || into == Into::kAddedTo ? multiply_block<true, T> : multiply_block<false, T>;
    block({a.data + p * a.column, a.row, a.column}, {b.data + p * b.row, b.row, b.panel}, c, rows,
          std::min(kDepthBlock, depth - p), columns);
  }
}

void MultiplyFloat(const Strided<const float>& a, const Panels<float>& b, const Strided<float>& c,
                   std::size_t rows, std::size_t depth, std::size_t columns, Into into) {
  multiply_all(a, b, c, rows, depth, columns, into);
}
void MultiplyDouble(const Strided<const double>& a, const Panels<double>& b,
                    const Strided<double>& c, std::size_t rows, std::size_t depth,
                    std::size_t columns, Into into) {
  multiply_all(a, b, c, rows, depth, columns, into);
}

std::size_t FloatLanes() { return hn::Lanes(hn::ScalableTag<float>()); }
std::size_t DoubleLanes() { return hn::Lanes(hn::ScalableTag<double>()); }

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace difflab::kernel {

HWY_EXPORT(MultiplyFloat);
HWY_EXPORT(MultiplyDouble);
HWY_EXPORT(FloatLanes);
HWY_EXPORT(DoubleLanes);

template <>
std::size_t panel_width<float>() {
  return 2 * HWY_DYNAMIC_DISPATCH(FloatLanes)();
}
template <>
std::size_t panel_width<double>() {
  return 2 * HWY_DYNAMIC_DISPATCH(DoubleLanes)();
}

void multiply(const Strided<const float>& a, const Panels<float>& b, const Strided<float>& c,
              std::size_t rows, std::size_t depth, std::size_t columns, Into into) {
  HWY_DYNAMIC_DISPATCH(MultiplyFloat)(a, b, c, rows, depth, columns, into);
}
void multiply(const Strided<const double>& a, const Panels<double>& b, const Strided<double>& c,
              std::size_t rows, std::size_t depth, std::size_t columns, Into into) {
  HWY_DYNAMIC_DISPATCH(MultiplyDouble)(a, b, c, rows, depth, columns, into);
}

}  // namespace difflab::kernel
#endif  // HWY_ONCE
