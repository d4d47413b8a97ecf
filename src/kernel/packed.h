#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "kernel/parallel.h"
#include "kernel/product.h"

namespace difflab::kernel {

inline std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Rows that a product takes at a time: parts of whole strips are cut nowhere.
constexpr std::int64_t kStripRows = 6;

/// A contiguous tensor as a matrix with its last dimension as columns.
template <class T>
Strided<const T> matrix(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), size(tensor.size(-1)), 1};
}

/// A weight as the right side of products, copied into panels that lie in one piece. Columns that
/// fill the last panel are zero, so that a product may be asked for them, too.
template <class T>
class Packed {
 public:
  /// The matrix [depth, columns] whose entry (p, j) is at from[p · row + j · column].
  Packed(const Strided<const T>& from, std::int64_t depth, std::int64_t columns,
         const at::TensorOptions& options)
      : width_(static_cast<std::int64_t>(panel_width<T>())),
        depth_(depth),
        numbers_(at::empty({round_up(columns, width_) * depth}, options)) {
    auto* to = numbers_.template mutable_data_ptr<T>();
    for (std::int64_t j = 0; j < round_up(columns, width_); ++j) {
      T* target = to + j / width_ * width_ * depth + j % width_;
      if (j >= columns) {
        for (std::int64_t p = 0; p < depth; ++p) target[p * width_] = T{0};
        continue;
      }
      const T* source = from.data + size(j) * from.column;
      for (std::int64_t p = 0; p < depth; ++p) target[p * width_] = source[size(p) * from.row];
    }
  }
  Panels<T> panels() const {
    return {numbers_.template const_data_ptr<T>(), size(width_), size(width_ * depth_)};
  }

 private:
  std::int64_t width_, depth_;
  at::Tensor numbers_;
};

}  // namespace difflab::kernel
