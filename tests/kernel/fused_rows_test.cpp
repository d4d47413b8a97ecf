// The kernels that look at one token at a time against their twins from library operations.
#include "kernel/fused_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <functional>

#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;
using Function = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

struct Answer {
  at::Tensor out;
  std::vector<at::Tensor> gradients;
};

Answer answer(const Function& function, const std::vector<at::Tensor>& leaves,
              const at::Tensor& w) {
  for (const auto& leaf : leaves) leaf.mutable_grad() = at::Tensor();
  Answer answer{function(leaves), {}};
  (answer.out * w).sum().backward();
  for (const auto& leaf : leaves) answer.gradients.push_back(leaf.grad().clone());
  return answer;
}

void check_equal(const Function& ours, const Function& theirs,
                 const std::vector<at::Tensor>& leaves) {
  const auto w = at::randn_like(theirs(leaves));
  const auto a = answer(ours, leaves, w), b = answer(theirs, leaves, w);
  const double tolerance = leaves[0].scalar_type() == at::kDouble ? 1e-10 : 1e-5;
  CATCH_CHECK(relative_error(a.out, b.out) < tolerance);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    CATCH_INFO("gradient " << i);
    CATCH_CHECK(relative_error(a.gradients[i], b.gradients[i]) < tolerance);
  }
}

at::Tensor leaf(at::IntArrayRef sizes, at::ScalarType type) {
  return at::randn(sizes, type).requires_grad_();
}

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
  const auto w = at::randn({3'000, 64});
  const auto threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = answer(norm(1e-5), {x, weight}, w);
  at::set_num_threads(2);
  const auto two = answer(norm(1e-5), {x, weight}, w);
  at::set_num_threads(threads);
  CATCH_CHECK(at::equal(one.out, two.out));
  CATCH_CHECK(at::equal(one.gradients[0], two.gradients[0]));
  CATCH_CHECK(at::equal(one.gradients[1], two.gradients[1]));
}

}  // namespace
}  // namespace difflab
