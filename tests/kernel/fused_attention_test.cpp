// The fused kernel, the one of a last row, and the library's behind the same signature, against the
// formula from library operations: outputs and gradients.
#include "kernel/operation/fused_attention.h"

#include <ATen/Parallel.h>

#include "kernel/operation/attention_at.h"
#include "kernel/operation/library_attention.h"
#include "support/gradients.h"
#include "util/random.h"

namespace difflab {
namespace {

using kernel::HeadMap;
using testing::Answer, testing::relative_error;

struct Inputs {
  at::Tensor q, k, v, lambda;  // leaves; λ undefined for one map
  HeadMap heads;
  at::Tensor sinks = {};  // undefined for none

  std::vector<at::Tensor> leaves() const {
    std::vector<at::Tensor> all{q, k, v};
    for (const auto& more : {lambda, sinks}) {
      if (more.defined()) all.push_back(more);
    }
    return all;
  }
};

// The formula, one head after the other.
at::Tensor plain(const Inputs& in) {
  const auto T = in.q.size(1);
  const auto future = at::ones({T, T}, at::kBool).triu(1);
  const auto map = [&](std::int64_t q, std::int64_t k) {  // [B, T, T]
    const auto scores = in.q.select(2, q).matmul(in.k.select(2, k).transpose(1, 2)) /
                        std::sqrt(static_cast<double>(in.q.size(3)));
    const auto logits = scores.masked_fill(future, -INFINITY);
    if (!in.sinks.defined()) return logits.softmax(-1);
    const auto sums = logits.exp().sum(-1, true) + in.sinks[q].exp();
    return logits.exp() / sums;
  };
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < in.heads.v.size(); ++i) {
    auto weights = map(in.heads.q1[i], in.heads.k1[i]);
    if (in.lambda.defined()) {
      const auto lambda = in.lambda.select(1, static_cast<std::int64_t>(i)).unsqueeze(-1);
      weights = weights - lambda * map(in.heads.q2[i], in.heads.k2[i]);
    }
    outputs.push_back(weights.matmul(in.v.select(2, in.heads.v[i])));
  }
  return at::stack(outputs, 2);
}

template <class Attend>
Answer answer(const Inputs& in, const at::Tensor& w, Attend attend) {
  return testing::answer([&](const auto&) { return attend(in); }, in.leaves(), w);
}

Answer fused(const Inputs& in, const at::Tensor& w) {
  return answer(in, w, [](const Inputs& i) {
    return kernel::fused_attention(i.q, i.k, i.v, i.lambda, i.heads, i.sinks);
  });
}

Answer library(const Inputs& in, const at::Tensor& w) {
  return answer(in, w, [](const Inputs& i) {
    return kernel::library_attention(i.q, i.k, i.v, i.lambda, i.heads, i.sinks);
  });
}

// Every third row and the last, flat places of B · T.
at::Tensor some_places(const Inputs& in) {
  const auto rows = in.q.size(0) * in.q.size(1);
  return at::cat({at::arange(0, rows - 1, 3, at::kLong), at::tensor({rows - 1}, at::kLong)});
}

// These rows, of keys and values that lie in longer tensors, as those of a cache do.
at::Tensor some_rows(const Inputs& in) {
  const at::NoGradGuard no_grad;
  const auto T = in.q.size(1);
  const auto at_places = [&](const at::Tensor& x) {
    return x.flatten(0, 1).index_select(0, some_places(in));
  };
  const auto in_longer = [&](const at::Tensor& x) {
    const auto by_head = x.transpose(1, 2).contiguous();
    return at::constant_pad_nd(by_head, {0, 0, 0, 3}, NAN).narrow(2, 0, T).transpose(1, 2);
  };
  const auto lambda = in.lambda.defined() ? at_places(in.lambda.transpose(1, 2)) : in.lambda;
  return kernel::attention_at(some_places(in), at_places(in.q), in_longer(in.k), in_longer(in.v),
                              lambda, in.heads, in.sinks);
}

struct Shape {
  std::int64_t batch, tokens, heads, groups, width, value_width;
  bool two, sinks = false;
  std::int64_t per_noise = 1;  ///< output heads that a second map serves
  bool shared_keys = false;    ///< both maps read one key head, as in V2
};

// `groups` key/value heads (pairs of keys with two maps), shared by heads/groups output heads each.
// Queries lie in groups: `per_noise` first maps and the second map that they have in common.
Inputs draw(const Shape& s, at::ScalarType type) {
  const std::int64_t in_group = s.per_noise + 1, keys = s.two && !s.shared_keys ? 2 : 1;
  const std::int64_t query_heads = s.two ? s.heads / s.per_noise * in_group : s.heads;
  const auto leaf = [&](std::vector<std::int64_t> sizes) {
    return at::randn(sizes, type).requires_grad_();
  };
  Inputs in{leaf({s.batch, s.tokens, query_heads, s.width}),
            leaf({s.batch, s.tokens, keys * s.groups, s.width}),
            leaf({s.batch, s.tokens, s.groups, s.value_width}),
            s.two ? leaf({s.batch, s.heads, s.tokens}) : at::Tensor(),
            {}};
  if (s.sinks) in.sinks = leaf({query_heads});
  for (std::int64_t i = 0; i < s.heads; ++i) {
    const auto group = i * s.groups / s.heads, noise = i / s.per_noise;
    in.heads.q1.push_back(s.two ? noise * in_group + i % s.per_noise : i);
    in.heads.k1.push_back(keys * group);
    in.heads.v.push_back(group);
    if (!s.two) continue;
    in.heads.q2.push_back(noise * in_group + s.per_noise);
    in.heads.k2.push_back(keys * group + keys - 1);
  }
  return in;
}

void check_equal(const Answer& ours, const Answer& theirs, const Shape& s, double tolerance) {
  CATCH_CHECK(relative_error(ours.out, theirs.out) < tolerance);
  for (std::size_t i = 0; i < ours.gradients.size(); ++i) {
    CATCH_INFO("gradient " << i << " of q, k, v, λ, sinks");
    // With one token there is nothing to choose from, and q and k have no gradient.
    const bool vanishing = s.tokens == 1 && i < 2 && !s.sinks;
    if (vanishing) {
      CATCH_CHECK(ours.gradients[i].abs().max().item<double>() < tolerance);
    } else {
      CATCH_CHECK(relative_error(ours.gradients[i], theirs.gradients[i]) < tolerance);
    }
  }
}

void check(const Shape& s) {
  CATCH_INFO("B " << s.batch << " T " << s.tokens << " H " << s.heads << " groups " << s.groups
                  << " d " << s.width << " values " << s.value_width << (s.two ? " two" : " one")
                  << (s.sinks ? " with sinks" : "") << " heads per noise map " << s.per_noise
                  << (s.shared_keys ? ", keys shared" : ""));
  for (const auto type : {at::kDouble, at::kFloat}) {
    const auto in = draw(s, type);
    const auto w = at::randn({s.batch, s.tokens, s.heads, s.value_width}, type);
    const auto theirs = answer(in, w, plain);
    const double tolerance = type == at::kDouble ? 1e-10 : 1e-5;
    check_equal(fused(in, w), theirs, s, tolerance);
    check_equal(library(in, w), theirs, s, tolerance);
    CATCH_CHECK(relative_error(some_rows(in), theirs.out.flatten(0, 1).index_select(
                                                  0, some_places(in))) < tolerance);
  }
}

CATCH_TEST_CASE("attention equals the formula, outputs and gradients, over shapes") {
  torch::manual_seed(1);
  for (const bool two : {true, false}) {
    // Lengths around the strip of 6 rows, the block of 24 and the vectors of 4, 8 and 16.
    for (const std::int64_t tokens : {1, 2, 5, 6, 7, 16, 23, 24, 25, 31, 64, 97}) {
      check({2, tokens, 2, 2, 8, 16, two});
    }
    check({1, 40, 4, 2, 16, 32, two});  // groups
    check({1, 40, 4, 1, 16, 16, two});
    check({2, 33, 3, 3, 5, 7, two});  // widths that no vector divides
    check({1, 19, 1, 1, 1, 1, two});
    check({1, 50, 2, 2, 64, 128, two});
    check({1, 300, 1, 1, 12, 24, two});
  }
  CATCH_CHECK_FALSE(kernel::take_library_attention_used().empty());
  CATCH_CHECK(kernel::take_library_attention_used().empty());
  Random random{7};
  for (int i = 0; i < 40; ++i) {
    const auto groups = 1 + random.below(3), heads = groups * (1 + random.below(3));
    check({1 + random.below(3), 1 + random.below(70), heads, groups, 1 + random.below(40),
           1 + random.below(40), random.below(2) == 0});
  }
}

CATCH_TEST_CASE("attention with sinks equals the formula, outputs and gradients, over shapes") {
  torch::manual_seed(4);
  for (const bool two : {true, false}) {
    for (const std::int64_t tokens : {1, 2, 6, 7, 24, 25, 64, 97}) {
      check({2, tokens, 2, 2, 8, 16, two, true});
    }
    check({2, 40, 4, 2, 16, 32, two, true});
    check({2, 33, 3, 3, 5, 7, two, true});
  }
}

CATCH_TEST_CASE("several heads with one noise map equal the formula, outputs and gradients") {
  torch::manual_seed(5);
  for (const bool shared_keys : {false, true}) {
    for (const std::int64_t per_noise : {2, 3, 5}) {
      for (const std::int64_t tokens : {1, 2, 6, 7, 24, 25, 64, 97}) {
        check({2, tokens, 2 * per_noise, 2, 8, 16, true, tokens % 2 == 1, per_noise, shared_keys});
      }
      check({1, 40, 4 * per_noise, 2, 5, 7, true, false, per_noise, shared_keys});
      check({2, 33, 3 * per_noise, 1, 16, 16, true, true, per_noise, shared_keys});
    }
  }
}

CATCH_TEST_CASE("of several heads with one noise map, some may be asked and others not") {
  torch::manual_seed(6);
  const Shape shape{2, 60, 6, 1, 8, 16, true, true, 3};
  const auto in = draw(shape, at::kDouble);
  for (const std::int64_t asked : {0, 1, 2, 4}) {
    CATCH_INFO("output " << asked);
    const auto w = at::zeros({2, 60, 6, 16}, at::kDouble);
    w.select(2, asked).narrow(1, 30, 10).normal_();
    check_equal(fused(in, w), answer(in, w, plain), shape, 1e-10);
  }
}

CATCH_TEST_CASE("heads that cannot have a map in common are refused") {
  const auto refused = [](auto change) {
    auto in = draw({1, 8, 4, 2, 4, 4, true, false, 2}, at::kFloat);
    change(in.heads);
    CATCH_CHECK_THROWS_AS(kernel::fused_attention(in.q, in.k, in.v, in.lambda, in.heads, in.sinks),
                          c10::Error);
  };
  refused([](HeadMap& heads) { heads.q2[1] = heads.q2[2]; });  // of other values
  refused([](HeadMap& heads) { heads.k2[1] = heads.k1[1]; });  // of other keys
  refused([](HeadMap& heads) { heads.q1[1] = heads.q1[0]; });
  refused([](HeadMap& heads) { heads.q1[1] = heads.q2[1]; });
}

CATCH_TEST_CASE("a sink far above the scores takes all, and one far below nothing") {
  for (const bool two : {true, false}) {
    auto in = draw({1, 20, 2, 2, 8, 8, two, true}, at::kFloat);
    const at::NoGradGuard no_grad;
    const auto with = [&](double sink) {
      in.sinks.fill_(sink);
      return kernel::fused_attention(in.q, in.k, in.v, in.lambda, in.heads, in.sinks);
    };
    CATCH_CHECK(with(200).abs().max().item<double>() == 0);
    const auto without = kernel::fused_attention(in.q, in.k, in.v, in.lambda, in.heads);
    CATCH_CHECK(relative_error(with(-200), without) < 1e-6);
    CATCH_CHECK(relative_error(with(0), without) > 1e-2);
  }
}

CATCH_TEST_CASE("fused attention keeps its digits when scores are large") {
  auto in = draw({1, 30, 2, 2, 8, 8, true}, at::kDouble);
  in.q = (in.q.detach() * 300).requires_grad_();  // scores of several hundred
  const auto w = at::randn({1, 30, 2, 8}, at::kDouble);
  const auto ours = fused(in, w), theirs = answer(in, w, plain);
  CATCH_CHECK(relative_error(ours.out, theirs.out) < 1e-10);
  for (std::size_t i = 0; i < 4; ++i) {
    CATCH_CHECK(relative_error(ours.gradients[i], theirs.gradients[i]) < 1e-9);
  }
}

CATCH_TEST_CASE("fused attention carries a NaN to the rows that see it, and no further") {
  const at::NoGradGuard no_grad;
  for (const char* where : {"q", "k", "v", "a logit that is infinite"}) {
    CATCH_INFO(where);
    auto in = draw({1, 40, 1, 1, 4, 4, true}, at::kFloat);
    const bool is_query = *where == 'q', is_infinite = *where == 'a';
    auto& from = is_query ? in.q : *where == 'v' ? in.v : in.k;
    from[0][12] = is_infinite ? 1e30 : NAN;
    if (is_infinite) in.q[0][12] = 1e30;
    const auto out = kernel::fused_attention(in.q, in.k, in.v, in.lambda, in.heads);
    const auto rows = out.isnan().any(3).any(2)[0];
    for (std::int64_t t = 0; t < 40; ++t) {
      CATCH_INFO(t);
      const bool sees = is_query ? t == 12 : is_infinite ? t == 12 : t >= 12;
      CATCH_CHECK(rows[t].item<bool>() == sees);
    }
  }
}

CATCH_TEST_CASE("the way back carries a NaN of the queries to all that they looked at") {
  auto in = draw({1, 20, 1, 1, 4, 4, true}, at::kFloat);
  {
    const at::NoGradGuard no_grad;
    in.q[0][12] = NAN;
  }
  const auto ours = fused(in, at::ones({1, 20, 1, 4}, at::kFloat));
  for (const std::size_t i : {0, 1, 2}) {  // of q, k, v
    CATCH_CHECK(ours.gradients[i].isnan().any().item<bool>());
  }
}

// A last layer whose questions stand at the end, or anywhere: whole blocks of 24 rows have no
// gradient, before, between and behind those that have.
CATCH_TEST_CASE("rows that are asked have their gradients wherever no other row is asked") {
  at::manual_seed(2);
  for (const bool two : {true, false}) {
    for (const auto& asked : std::vector<std::vector<std::int64_t>>{{59}, {0}, {30}, {5, 50}}) {
      CATCH_INFO((two ? "two maps" : "one map") << ", rows from " << asked.front());
      const Shape shape{2, 60, 2, 2, 8, 16, two};
      const auto in = draw(shape, at::kDouble);
      const auto w = at::zeros({2, 60, 2, 16}, at::kDouble);
      for (const auto row : asked) w.select(1, row).normal_();
      // The first row sees itself alone: its weight is 1 whatever q and k are.
      const Shape checked{2, asked.back() == 0 ? 1 : 60, 2, 2, 8, 16, two};
      check_equal(fused(in, w), answer(in, w, plain), checked, 1e-10);
    }
  }
}

CATCH_TEST_CASE("fused attention gives the same bits with one thread and with several") {
  for (const bool two : {true, false}) {
    for (const bool sinks : {true, false}) {
      for (const std::int64_t per_noise : {1, 3}) {
        const auto in = draw({3, 37, 12, 2, 16, 32, two, sinks, per_noise}, at::kFloat);
        testing::check_threads(
            [&](const auto&) {
              return kernel::fused_attention(in.q, in.k, in.v, in.lambda, in.heads, in.sinks);
            },
            in.leaves());
        const auto before = at::get_num_threads();
        at::set_num_threads(1);
        const auto one = some_rows(in);
        at::set_num_threads(3);
        CATCH_CHECK(at::equal(some_rows(in), one));
        at::set_num_threads(before);
      }
    }
  }
}

}  // namespace
}  // namespace difflab
