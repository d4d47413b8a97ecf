#pragma once

#include <ATen/Parallel.h>

#include <cstddef>
#include <cstdint>

// at::parallel_for lives in that header. Compiled without OpenMP it does everything in one thread,
// and nothing shows it but the clock.
#if AT_PARALLEL_OPENMP && !defined(_OPENMP)
#error "kernels must be compiled with OpenMP, as LibTorch is"
#endif

namespace difflab::kernel {

inline std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Rows whose part of a sum over all rows is summed by itself, whatever the number of threads.
constexpr std::int64_t kChunk = 256;

}  // namespace difflab::kernel
