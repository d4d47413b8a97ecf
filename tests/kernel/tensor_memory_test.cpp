#include "kernel/tensor_memory.h"

#include <ATen/ATen.h>

#include "support/catch.h"

namespace difflab::kernel {
namespace {

CATCH_TEST_CASE("a tensor takes the place of another one of its size") {
  keep_tensor_memory();
  for (const std::int64_t count : {100'000, 2'000'000}) {
    const auto before = at::empty(count);
    auto between = at::empty(count);
    const auto behind = at::empty(count);
    const auto place = reinterpret_cast<std::uintptr_t>(between.data_ptr());
    between.reset();
    const auto next = at::empty(count);
    CATCH_CHECK(reinterpret_cast<std::uintptr_t>(next.data_ptr()) == place);
  }
}

CATCH_TEST_CASE(
    "tensors begin at a line of the cache, whatever their size, and keep their numbers") {
  keep_tensor_memory();
  std::vector<at::Tensor> all;
  for (std::int64_t count = 0; count < 300; ++count) {
    all.push_back(at::full({count}, static_cast<double>(count), at::kFloat));
    CATCH_CHECK(reinterpret_cast<std::uintptr_t>(all.back().data_ptr()) % 64 == 0);
  }
  all[7].resize_({5'000}).fill_(7);  // copied to where it fits
  for (std::int64_t count = 0; count < 300; ++count) {
    CATCH_CHECK(all[static_cast<std::size_t>(count)].eq(count).all().item<bool>());
  }
}

CATCH_TEST_CASE("what no memory is large enough for is an error with its size") {
  keep_tensor_memory();
  CATCH_CHECK_THROWS_WITH(at::empty(std::int64_t{1} << 58, at::kByte),
                          Contains("not enough memory for a tensor of 288230376151711744"));
}

}  // namespace
}  // namespace difflab::kernel
