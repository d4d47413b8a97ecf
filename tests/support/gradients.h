#pragma once

#include "support/catch.h"
#include "support/tensors.h"

namespace difflab::testing {

using Function = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

/// What a function of leaves gives, and the gradients of Σ w · out.
struct Answer {
  at::Tensor out;
  std::vector<at::Tensor> gradients;
};

inline Answer answer(const Function& function, const std::vector<at::Tensor>& leaves,
                     const at::Tensor& w) {
  for (const auto& leaf : leaves) leaf.mutable_grad() = at::Tensor();
  Answer answer{function(leaves), {}};
  (answer.out * w).sum().backward();
  for (const auto& leaf : leaves) answer.gradients.push_back(leaf.grad().clone());
  return answer;
}

/// Outputs and gradients of both within 1e-10 (float64) or 1e-5 (float32) of the largest.
inline void check_equal(const Function& ours, const Function& theirs,
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

/// Outputs and gradients with one thread, with two and with three, which share hardly any work
/// evenly, bit for bit.
inline void check_threads(const Function& function, const std::vector<at::Tensor>& leaves) {
  const auto w = at::randn_like(function(leaves));
  const auto before = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = answer(function, leaves, w);
  for (const int threads : {2, 3}) {
    CATCH_INFO(threads << " threads");
    at::set_num_threads(threads);
    const auto several = answer(function, leaves, w);
    CATCH_CHECK(at::equal(one.out, several.out));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      CATCH_INFO("gradient " << i);
      CATCH_CHECK(at::equal(one.gradients[i], several.gradients[i]));
    }
  }
  at::set_num_threads(before);
}

inline at::Tensor leaf(at::IntArrayRef sizes, at::ScalarType type) {
  return at::randn(sizes, type).requires_grad_();
}

}  // namespace difflab::testing
