// Our matrix products against the library's: outputs and gradients, over shapes.
#include "kernel/operation/fused_linear.h"

#include "support/gradients.h"

namespace difflab {
namespace {

using testing::check_equal, testing::check_threads, testing::Function, testing::leaf;

const Function kOurLinear = [](const auto& in) { return kernel::linear(in[0], in[1]); };
const Function kLibraryLinear = [](const auto& in) { return at::linear(in[0], in[1]); };
const Function kOurBiasedLinear = [](const auto& in) {
  return kernel::linear(in[0], in[1], in[2]);
};
const Function kLibraryBiasedLinear = [](const auto& in) {
  return at::linear(in[0], in[1], in[2]);
};

CATCH_TEST_CASE("a projection equals the library's, outputs and gradients, over shapes") {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t rows : {1, 5, 6, 64, 127, 700}) {
      for (const std::int64_t in : {1, 7, 16, 33, 64, 300}) {
        for (const std::int64_t out : {1, 2, 15, 32, 85, 170}) {
          CATCH_INFO("rows " << rows << ", in " << in << ", out " << out);
          check_equal(kOurLinear, kLibraryLinear, {leaf({rows, in}, type), leaf({out, in}, type)});
          check_equal(kOurBiasedLinear, kLibraryBiasedLinear,
                      {leaf({rows, in}, type), leaf({out, in}, type), leaf({out}, type)});
        }
      }
    }
  }
}

CATCH_TEST_CASE("a projection takes any dimensions, and what is not contiguous") {
  at::manual_seed(2);
  check_equal(kOurLinear, kLibraryLinear,
              {leaf({2, 3, 5, 16}, at::kDouble), leaf({8, 16}, at::kDouble)});
  check_equal(kOurLinear, kLibraryLinear, {leaf({16}, at::kDouble), leaf({8, 16}, at::kDouble)});
  const auto turned = [](const Function& f) {
    return Function([f](const auto& in) { return f({in[0].transpose(0, 1), in[1].t()}).t(); });
  };
  check_equal(turned(kOurLinear), turned(kLibraryLinear),
              {leaf({24, 90}, at::kDouble), leaf({24, 9}, at::kDouble)});
}

CATCH_TEST_CASE("a projection gives gradients to one side alone") {
  at::manual_seed(3);
  const auto x = at::randn({70, 8}), weight = at::randn({4, 8});
  check_equal([&](const auto& in) { return kernel::linear(in[0], weight); },
              [&](const auto& in) { return at::linear(in[0], weight); },
              {leaf({70, 8}, at::kFloat)});
  check_equal([&](const auto& in) { return kernel::linear(x, in[0]); },
              [&](const auto& in) { return at::linear(x, in[0]); }, {leaf({4, 8}, at::kFloat)});
}

CATCH_TEST_CASE("several projections of one x equal the library's, outputs and gradients") {
  at::manual_seed(5);
  const Function ours = [](const auto& in) {
    return at::cat(kernel::linears(in[0], {in[1], in[2], in[3]}), 1);
  };
  const Function theirs = [](const auto& in) {
    return at::cat({at::linear(in[0], in[1]), at::linear(in[0], in[2]), at::linear(in[0], in[3])},
                   1);
  };
  const Function ours_biased = [](const auto& in) {
    return at::cat(kernel::linears(in[0], {in[1], in[2]}, {in[3], in[4]}), -1);
  };
  const Function theirs_biased = [](const auto& in) {
    return at::cat({at::linear(in[0], in[1], in[3]), at::linear(in[0], in[2], in[4])}, -1);
  };
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t rows : {1, 64, 700}) {
      for (const std::int64_t in : {7, 64, 300}) {
        CATCH_INFO("rows " << rows << ", in " << in);
        check_equal(ours, theirs,
                    {leaf({rows, in}, type), leaf({64, in}, type), leaf({5, in}, type),
                     leaf({33, in}, type)});
        check_equal(ours_biased, theirs_biased,
                    {leaf({2, rows, in}, type), leaf({64, in}, type), leaf({5, in}, type),
                     leaf({64}, type), leaf({5}, type)});
      }
    }
  }
  check_threads(ours, {leaf({3'001, 64}, at::kFloat), leaf({64, 64}, at::kFloat),
                       leaf({5, 64}, at::kFloat), leaf({170, 64}, at::kFloat)});
  // One of the results may lead nowhere.
  const auto other = at::randn({5, 8}, at::kDouble), third = at::randn({3, 8}, at::kDouble);
  check_equal(
      [&](const auto& in) {
        return kernel::linears(in[0], {in[1], other, third})[0];
      },
      [&](const auto& in) { return at::linear(in[0], in[1]); },
      {leaf({70, 8}, at::kDouble), leaf({4, 8}, at::kDouble)});
}

CATCH_TEST_CASE("neither threads nor the other rows change a bit of a projection") {
  at::manual_seed(4);
  const auto x = leaf({3'001, 64}, at::kFloat), weight = leaf({170, 64}, at::kFloat);
  check_threads(kOurLinear, {x, weight});
  check_threads(kOurBiasedLinear, {x, weight, leaf({170}, at::kFloat)});
  const at::NoGradGuard no_grad;
  const auto all = kernel::linear(x, weight);
  for (const std::int64_t begin : {0, 1, 130, 2'990}) {
    const auto part = kernel::linear(x.narrow(0, begin, 11), weight);
    CATCH_CHECK(at::equal(part, all.narrow(0, begin, 11)));
  }
}

// Few numbers are not worth a second thread, so the sums of the cases above are done by one.
CATCH_TEST_CASE("the gradient of a bias over very many rows is the library's, on any threads") {
  at::manual_seed(6);
  const std::vector<at::Tensor> in{leaf({16'384, 8}, at::kFloat), leaf({256, 8}, at::kFloat),
                                   leaf({256}, at::kFloat)};
  check_equal(kOurBiasedLinear, kLibraryBiasedLinear, in);
  check_threads(kOurBiasedLinear, in);
}

CATCH_TEST_CASE("NaN and infinities pass through a projection as through the library's") {
  auto x = at::ones({100, 16});
  x[3][5] = NAN;
  x[99][0] = INFINITY;
  const auto weight = at::ones({5, 16});
  CATCH_CHECK(at::allclose(kernel::linear(x, weight), at::linear(x, weight), 1e-5, 1e-8,
                           /*equal_nan=*/true));
}

CATCH_TEST_CASE("a projection is left to the library where that is better or must do it") {
  const auto weight = at::ones({8, 16});
  CATCH_CHECK(kernel::takes_linear(at::ones({4, 16, 16}), weight));
  CATCH_CHECK_FALSE(kernel::takes_linear(at::ones({1, 16}), weight));
  CATCH_CHECK_FALSE(kernel::takes_linear(at::ones({64, 16}, at::kBFloat16), weight));
  CATCH_CHECK_FALSE(kernel::takes_linear(at::ones({64, 16}, at::kDouble), weight));
}

}  // namespace
}  // namespace difflab
