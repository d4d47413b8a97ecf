// Every kernel with each instruction set that this processor has: the best one hides the others,
// and the machine that runs a sweep may have a lesser one.
#include <hwy/targets.h>

#include "kernel/attention_head.h"
#include "kernel/operation/attention_at.h"
#include "kernel/operation/fused_attention.h"
#include "kernel/operation/fused_linear.h"
#include "kernel/operation/fused_rows.h"
#include "kernel/operation/fused_swiglu.h"
#include "kernel/operation/library_attention.h"
#include "support/gradients.h"

namespace difflab {
namespace {

using testing::check_equal, testing::Function, testing::leaf;

/// While one exists, kernels use this instruction set.
class Restricted {
 public:
  explicit Restricted(std::int64_t target) { choose(target); }
  ~Restricted() { choose(0); }
  Restricted(const Restricted&) = delete;
  Restricted& operator=(const Restricted&) = delete;

 private:
  static void choose(std::int64_t target) {  // 0: whatever there is
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void check_attention(at::ScalarType type) {
  const std::vector<std::int64_t> first{0, 2}, second{1, 3}, values{0, 1};
  const kernel::HeadMap heads{first, second, first, second, values};
  for (const std::int64_t width : {5, 16}) {
    const std::vector<at::Tensor> in{leaf({1, 31, 4, width}, type), leaf({1, 31, 4, width}, type),
                                     leaf({1, 31, 2, 7}, type), leaf({1, 2, 31}, type)};
    check_equal(
        [&](const auto& x) { return kernel::fused_attention(x[0], x[1], x[2], x[3], heads); },
        [&](const auto& x) { return kernel::library_attention(x[0], x[1], x[2], x[3], heads); },
        in);
    const at::NoGradGuard no_grad;
    const auto places = at::tensor({4, 30}, at::kLong);
    const auto rows = [&](const at::Tensor& x) { return x[0].index_select(0, places); };
    const auto whole = kernel::library_attention(in[0], in[1], in[2], in[3], heads);
    const auto some =
        kernel::attention_at(places, rows(in[0]), in[1], in[2], rows(in[3].transpose(1, 2)), heads);
    CATCH_CHECK(testing::relative_error(some, rows(whole)) < (type == at::kFloat ? 1e-5 : 1e-13));
  }
}

void check_rows(at::ScalarType type) {
  check_equal([](const auto& x) { return kernel::rms_norm(x[0], x[1], 1e-5); },
              [](const auto& x) { return at::rms_norm(x[0], x[1].sizes(), x[1], 1e-5); },
              {leaf({300, 19}, type), leaf({19}, type)});
  const auto targets = at::randint(23, {300}, at::kLong);
  check_equal([&](const auto& x) { return kernel::mean_cross_entropy(x[0], targets, {}); },
              [&](const auto& x) { return at::cross_entropy_loss(x[0], targets); },
              {leaf({300, 23}, type)});
}

void check_products(at::ScalarType type) {
  for (const std::int64_t out : {3, 40}) {
    check_equal([](const auto& x) { return kernel::linear(x[0], x[1], x[2]); },
                [](const auto& x) { return at::linear(x[0], x[1], x[2]); },
                {leaf({65, 21}, type), leaf({out, 21}, type), leaf({out}, type)});
  }
  check_equal(
      [](const auto& x) { return kernel::swiglu(x[0], x[1], x[2], x[3]); },
      [](const auto& x) {
        return at::linear(at::silu(at::linear(x[0], x[1])) * at::linear(x[0], x[2]), x[3]);
      },
      {leaf({130, 6}, type), leaf({17, 6}, type), leaf({17, 6}, type), leaf({6, 17}, type)});
}

CATCH_TEST_CASE("kernels equal the library with every instruction set there is") {
  const auto best = std::string(kernel::instruction_set());
  const auto targets = hwy::SupportedAndGeneratedTargets();
  CATCH_REQUIRE_FALSE(targets.empty());
  for (const auto target : targets) {
    CATCH_INFO(hwy::TargetName(target));
    const Restricted restricted(target);
    CATCH_CHECK(std::string(kernel::instruction_set()) == hwy::TargetName(target));
    at::manual_seed(8);
    for (const auto type : {at::kFloat, at::kDouble}) {
      check_attention(type);
      check_rows(type);
      check_products(type);
    }
  }
  CATCH_CHECK(kernel::instruction_set() == best);
}

}  // namespace
}  // namespace difflab
