#pragma once

#include <cstddef>

namespace difflab::kernel {

/// A matrix in somebody's memory: entry (i, j) lies at data[i · row + j · column].
template <class T>
struct Strided {
  T* data = nullptr;
  std::size_t row = 0, column = 1;
};

/// The right side of a product, [depth, columns], in panels of `panel_width` columns (the last may
/// have fewer): entry (p, j) lies at data[(j / width) · panel + p · row + j % width].
template <class T>
struct Panels {
  const T* data = nullptr;
  std::size_t row = 0, panel = 0;
};

/// Columns of a panel, two vectors of the instruction set in use.
template <class T>
std::size_t panel_width();

/// A matrix whose rows are `row` apart, where it lies.
template <class T>
Panels<T> as_panels(const T* data, std::size_t row) {
  return {data, row, panel_width<T>()};
}

/// Treatment of the numbers that C holds: overwritten or added to.
enum class Into { kWritten, kAddedTo };

/// C [rows, columns] = or += A [rows, depth] · B [depth, columns], for matrices of the sizes of
/// small models: nothing is copied but what does not fill a tile. C has columns that lie side by
/// side. The sums run in the same order whatever rows of C are asked for, so these may be given to
/// threads in any way. The instruction set is chosen at run time.
void multiply(const Strided<const float>& a, const Panels<float>& b, const Strided<float>& c,
              std::size_t rows, std::size_t depth, std::size_t columns, Into into);
void multiply(const Strided<const double>& a, const Panels<double>& b, const Strided<double>& c,
              std::size_t rows, std::size_t depth, std::size_t columns, Into into);

}  // namespace difflab::kernel
