#pragma once

#include <ATen/Parallel.h>

// at::parallel_for lives in that header. Compiled without OpenMP it does everything in one thread,
// and nothing shows it but the clock.
#if AT_PARALLEL_OPENMP && !defined(_OPENMP)
#error "kernels must be compiled with OpenMP, as LibTorch is"
#endif
