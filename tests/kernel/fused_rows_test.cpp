// The kernels that look at one token at a time against their twins from library operations.
#include "kernel/operation/fused_rows.h"

#include "support/gradients.h"

namespace difflab {
namespace {

using testing::check_equal, testing::check_threads, testing::Function, testing::leaf;

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

// Both results of a norm that adds first, weighted so that each has gradients of its own.
Function both(const std::function<kernel::Normed(const std::vector<at::Tensor>&)>& function) {
  return [function](const auto& in) {
    const auto found = function(in);
    return at::cat({found.sum, found.normed * found.sum.cos()});
  };
}

CATCH_TEST_CASE("a sum and its RMSNorm in one pass equal the library's, outputs and gradients") {
  at::manual_seed(5);
  const auto ours =
      both([](const auto& in) { return kernel::add_rms_norm(in[0], in[1], in[2], 1e-5); });
  const auto theirs = both([](const auto& in) {
    const auto sum = in[0] + in[1];
    return kernel::Normed{sum, at::rms_norm(sum, in[2].sizes(), in[2], 1e-5)};
  });
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t width : {2, 3, 16, 31, 64, 130}) {
      for (const std::int64_t rows : {1, 7, 600}) {
        CATCH_INFO("rows " << rows << ", width " << width);
        check_equal(ours, theirs,
                    {leaf({rows, width}, type), leaf({rows, width}, type), leaf({width}, type)});
      }
    }
  }
}

CATCH_TEST_CASE("of a sum and its RMSNorm each can be the only one that is used") {
  at::manual_seed(6);
  const auto x = leaf({5, 8}, at::kDouble), delta = leaf({5, 8}, at::kDouble),
             weight = leaf({8}, at::kDouble);
  check_equal([](const auto& in) { return kernel::add_rms_norm(in[0], in[1], in[2], 1e-5).normed; },
              [](const auto& in) { return at::rms_norm(in[0] + in[1], {8}, in[2], 1e-5); },
              {x, delta, weight});
  const Function sum = [&](const auto& in) {
    return kernel::add_rms_norm(in[0], in[1], weight.detach(), 1e-5).sum;
  };
  check_equal(sum, [](const auto& in) { return in[0] + in[1]; }, {x, delta});
  // The stream may be one leaf twice: its gradients are added, not shared.
  check_equal(
      [&](const auto& in) {
        return sum({in[0], in[0]});
      },
      [](const auto& in) { return 2 * in[0]; }, {x});
}

CATCH_TEST_CASE("mean cross-entropy in one pass equals the library's, value and gradient") {
  at::manual_seed(7);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::int64_t classes : {1, 2, 16, 37, 256}) {
      for (const std::int64_t rows : {1, 9, 600}) {
        CATCH_INFO("rows " << rows << ", classes " << classes);
        const auto targets = at::randint(classes, {rows}, at::kLong);
        check_equal([&](const auto& in) { return kernel::mean_cross_entropy(3 * in[0], targets); },
                    [&](const auto& in) { return at::cross_entropy_loss(3 * in[0], targets); },
                    {leaf({rows, classes}, type)});
        const auto weights = at::rand({rows}, at::kDouble) + 0.5;
        check_equal(
            [&](const auto& in) { return kernel::mean_cross_entropy(in[0], targets, weights); },
            [&](const auto& in) {
              const auto losses = at::cross_entropy_loss(in[0], targets, {}, at::Reduction::None);
              return (losses * weights.to(type)).mean();
            },
            {leaf({rows, classes}, type)});
      }
    }
  }
}

CATCH_TEST_CASE("cross-entropy of logits far from zero, infinite or none") {
  const auto targets = at::tensor({0, 1}, at::kLong);
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto logits = at::tensor({1e4, -1e4, 3., -200., 200., 3.}, type).view({2, 3});
    const auto sure = logits.clone().requires_grad_();
    const auto loss = kernel::mean_cross_entropy(sure, targets);
    loss.backward();
    CATCH_CHECK(loss.item<double>() == Approx(0).margin(1e-12));
    CATCH_CHECK(sure.grad().abs().max().item<double>() < 1e-12);
    const auto hidden = logits.clone();  // −∞ is what a mask puts there
    hidden[0][1] = -INFINITY;
    CATCH_CHECK(kernel::mean_cross_entropy(hidden, targets).item<double>() ==
                Approx(0).margin(1e-12));
    for (const double wrong : {double{NAN}, double{INFINITY}}) {
      auto spoilt = logits.clone();
      spoilt[1][2] = wrong;
      spoilt.requires_grad_();
      const auto none = kernel::mean_cross_entropy(spoilt, targets);
      none.backward();
      CATCH_CHECK(std::isnan(none.item<double>()));
      CATCH_CHECK(at::isfinite(spoilt.grad()[0]).all().item<bool>());
      CATCH_CHECK(at::isnan(spoilt.grad()[1]).any().item<bool>());
    }
    CATCH_CHECK(
        std::isnan(kernel::mean_cross_entropy(at::empty({0, 3}, type), at::empty({0}, at::kLong))
                       .item<double>()));
  }
  CATCH_CHECK_THROWS(kernel::mean_cross_entropy(at::zeros({2, 3}), at::tensor({0, 1}, at::kLong),
                                                at::ones({3}, at::kDouble)));
  CATCH_CHECK_THROWS(kernel::mean_cross_entropy(at::zeros({2, 3}), at::tensor({0, 3}, at::kLong)));
  CATCH_CHECK_THROWS(kernel::mean_cross_entropy(at::zeros({2, 3}), at::tensor({0, -1}, at::kLong)));
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

CATCH_TEST_CASE("the number of threads changes no bit of the row kernels") {
  at::manual_seed(4);
  const auto x = leaf({3'000, 64}, at::kFloat), weight = leaf({64}, at::kFloat);
  check_threads(norm(1e-5), {x, weight});
  check_threads(
      [&](const auto& in) { return kernel::add_rms_norm(in[0], x.detach(), in[1], 1e-5).normed; },
      {x, weight});
  const auto targets = at::randint(64, {3'000}, at::kLong);
  check_threads([&](const auto& in) { return kernel::mean_cross_entropy(in[0], targets); }, {x});
}

}  // namespace
}  // namespace difflab
