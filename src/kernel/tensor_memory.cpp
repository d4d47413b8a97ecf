#include "kernel/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>

namespace difflab::kernel {
namespace {

constexpr std::uintptr_t kAlignment = 64;  // as LibTorch's, a line of the cache

// In front of what is aligned lies where its allocation begins.
void* allocated(std::size_t bytes) {
  void* whole = std::malloc(bytes + sizeof(void*) + kAlignment - 1);
  TORCH_CHECK(whole != nullptr, "not enough memory for a tensor of ", bytes, " bytes");
  const auto first = reinterpret_cast<std::uintptr_t>(whole) + sizeof(void*) + kAlignment - 1;
  auto* aligned = reinterpret_cast<void**>(first / kAlignment * kAlignment);
  aligned[-1] = whole;
  return aligned;
}

void release(void* aligned) {
  if (aligned != nullptr) std::free(static_cast<void**>(aligned)[-1]);
}

class TensorMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = bytes == 0 ? nullptr : allocated(bytes);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }
};

}  // namespace

void keep_tensor_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  static TensorMemory memory;
  c10::SetCPUAllocator(&memory, /*priority=*/1);
}

}  // namespace difflab::kernel
