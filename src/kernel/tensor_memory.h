#pragma once

namespace difflab::kernel {

/// From here on LibTorch's tensors on the CPU lie in plain allocations with room to align them, and
/// what is freed is kept for the next step instead of being given back and faulted in again.
/// LibTorch's own way, posix_memalign, asks glibc (2.36) for more than it then uses, so that what a
/// tensor leaves never fits the next one of its size: a third of a large model's memory were holes.
void keep_tensor_memory();

}  // namespace difflab::kernel
