// The kernels that look at one token at a time against their twins from library operations.
#include "kernel/fused_rows.h"

#include <ATen/ATen.h>

#include "support/catch.h"
#include "support/gradients.h"

namespace difflab {
namespace {

using testing::check_equal;
using testing::check_threads;
using testing::Function;
using testing::leaf;

Function norm(double eps) {
  return [eps](const auto& in) { return kernel::rms_norm(in[0], in[1], eps); };
}

Function library_norm(double eps) {
  return [eps](const auto& in) { return at::rms_norm(in[0], in[1].sizes(), in[1], eps); };
}

CATCH_TEST_CASE("RMSNorm in one pass equals the library's, outputs and gradients, over shapes") {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t width : {2, 3, 8, 16, 31, 64, 130}) {
      for (const std::int64_t rows : {1, 7, 600}) {
        CATCH_INFO("rows " << rows << ", width " << width);
        check_equal(norm(1e-5), library_norm(1e-5),
                    {leaf({rows, width}, type), leaf({width}, type)});
      }
    }
    check_equal(norm(1e-2), library_norm(1e-2), {leaf({2, 5, 3, 16}, type), leaf({16}, type)});
  }
}

CATCH_TEST_CASE("RMSNorm takes what is not contiguous, and rows of zeros") {
  at::manual_seed(2);
  const auto turned = [](const Function& f) {
    return Function([f](const auto& in) { return f({in[0].transpose(0, 1), in[1]}); });
  };
  check_equal(turned(norm(1e-5)), turned(library_norm(1e-5)),
              {leaf({24, 9}, at::kDouble), leaf({24}, at::kDouble)});
  const auto zeros = at::zeros({4, 8}).requires_grad_();
  const auto weight = at::ones({8}).requires_grad_();
  const auto out = kernel::rms_norm(zeros, weight, 1e-5);
  out.sum().backward();
  CATCH_CHECK(out.eq(0).all().item<bool>());
  CATCH_CHECK(at::isfinite(zeros.grad()).all().item<bool>());
}

CATCH_TEST_CASE("SiLU(gate) · up in one pass equals the library's, outputs and gradients") {
  at::manual_seed(3);
  const Function ours = [](const auto& in) { return kernel::silu_gate(in[0], in[1]); };
  const Function theirs = [](const auto& in) { return at::silu(in[0]) * in[1]; };
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t count : {1, 5, 16, 77, 40'000}) {
      CATCH_INFO(count << " numbers");
      check_equal(ours, theirs, {leaf({count}, type), leaf({count}, type)});
    }
    check_equal(ours, theirs, {leaf({2, 3, 11}, type), leaf({2, 3, 11}, type)});
  }
}

CATCH_TEST_CASE("gates far from zero neither overflow nor become NaN") {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto gate = at::tensor({-1e4, -200., -90., 0., 90., 200., 1e4}, type).requires_grad_();
    const auto up = at::ones({7}, type).requires_grad_();
    const auto out = kernel::silu_gate(gate, up);
    out.sum().backward();
    const auto expected = at::silu(gate.detach());
    CATCH_CHECK((out - expected).abs().max().item<double>() < 1e-6);
    CATCH_CHECK(at::isfinite(gate.grad()).all().item<bool>());
    CATCH_CHECK(gate.grad()[0].item<double>() == Approx(0).margin(1e-6));
    CATCH_CHECK(gate.grad()[6].item<double>() == Approx(1));
  }
}

CATCH_TEST_CASE("the number of threads changes no bit of the row kernels") {
  at::manual_seed(4);
  const auto x = leaf({3'000, 64}, at::kFloat), weight = leaf({64}, at::kFloat);
  check_threads(norm(1e-5), {x, weight});
}

}  // namespace
}  // namespace difflab
