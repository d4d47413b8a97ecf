// SwiGLU as one kernel against the same from library operations.
#include "kernel/operation/fused_swiglu.h"

#include "support/gradients.h"

namespace difflab {
namespace {

using testing::check_equal, testing::check_threads, testing::Function, testing::leaf;

const Function kOurSwiglu = [](const auto& in) {
  return kernel::swiglu(in[0], in[1], in[2], in[3]);
};
const Function kLibrarySwiglu = [](const auto& in) {
  return at::linear(at::silu(at::linear(in[0], in[1])) * at::linear(in[0], in[2]), in[3]);
};

// x and the three weights, of a size that keeps the hidden numbers near one.
std::vector<at::Tensor> leaves(at::IntArrayRef x, std::int64_t hidden, at::ScalarType type) {
  const auto width = x.back();
  const auto weight = [&](std::int64_t out, std::int64_t in) {
    return (at::randn({out, in}, type) / std::sqrt(static_cast<double>(in))).requires_grad_();
  };
  return {leaf(x, type), weight(hidden, width), weight(hidden, width), weight(width, hidden)};
}

CATCH_TEST_CASE("SwiGLU in one kernel equals the library's, outputs and gradients, over shapes") {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t rows : {1, 6, 119, 120, 121, 500}) {
      for (const std::int64_t width : {1, 8, 33, 64}) {
        for (const std::int64_t hidden : {1, 6, 16, 85, 170, 192}) {
          CATCH_INFO("rows " << rows << ", width " << width << ", hidden " << hidden);
          check_equal(kOurSwiglu, kLibrarySwiglu, leaves({rows, width}, hidden, type));
        }
      }
    }
  }
}

CATCH_TEST_CASE("SwiGLU in one kernel takes any dimensions, and what is not contiguous") {
  at::manual_seed(2);
  check_equal(kOurSwiglu, kLibrarySwiglu, leaves({2, 5, 7, 16}, 21, at::kDouble));
  const auto turned = [](const Function& f) {
    return Function([f](const auto& in) {
      return f({in[0].transpose(0, 1), in[1].t(), in[2], in[3]}).t();
    });
  };
  auto in = leaves({16, 90}, 16, at::kDouble);
  in[1] = leaf({16, 16}, at::kDouble);
  in[2] = leaf({16, 16}, at::kDouble);
  in[3] = leaf({16, 16}, at::kDouble);
  check_equal(turned(kOurSwiglu), turned(kLibrarySwiglu), in);
}

CATCH_TEST_CASE("gates far from zero neither overflow nor become NaN") {
  for (const auto type : {at::kFloat, at::kDouble}) {
    // The first channel is the gate, the second, 1, goes up; the first of the result is SiLU(gate).
    const auto gates = at::tensor({-1e4, -200., -90., 0., 90., 200., 1e4}, type);
    const auto x = at::stack({gates, at::ones_like(gates)}, 1).requires_grad_();
    const auto first = at::tensor({1., 0.}, type), second = at::tensor({0., 1.}, type);
    const auto out =
        kernel::swiglu(x, first.view({1, 2}), second.view({1, 2}), first.view({2, 1})).select(1, 0);
    out.sum().backward();
    CATCH_CHECK((out - at::silu(gates)).abs().max().item<double>() < 1e-6);
    CATCH_CHECK(at::isfinite(x.grad()).all().item<bool>());
    CATCH_CHECK(x.grad()[0][0].item<double>() == Approx(0).margin(1e-6));
    CATCH_CHECK(x.grad()[6][0].item<double>() == Approx(1));
  }
}

CATCH_TEST_CASE("the number of threads changes no bit of SwiGLU") {
  at::manual_seed(3);
  check_threads(kOurSwiglu, leaves({3'001, 64}, 170, at::kFloat));
  check_threads(kOurSwiglu, leaves({100, 64}, 170, at::kFloat));
  check_threads(kOurSwiglu, leaves({300, 64}, 170, at::kFloat));  // groups of 120: 3 for 2 threads
}

CATCH_TEST_CASE("NaN in a row of SwiGLU stays in its row") {
  const auto in = leaves({130, 16}, 21, at::kFloat);
  const at::NoGradGuard no_grad;
  in[0][125][3] = NAN;
  const auto out = kernel::swiglu(in[0], in[1], in[2], in[3]);
  CATCH_CHECK(at::isnan(out[125]).all().item<bool>());
  CATCH_CHECK(at::isnan(out).sum().item<std::int64_t>() == 16);
}

}  // namespace
}  // namespace difflab
