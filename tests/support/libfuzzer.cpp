// The entry of libFuzzer; FUZZ_TARGET is one of the functions in fuzz/targets.h.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  difflab::fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
