#include "statistics/holm.h"

#include <algorithm>
#include <cstddef>

namespace difflab {
namespace {

struct Test {
  std::size_t question;
  bool is_equivalence;
  double p;
};

}  // namespace

std::vector<TwoWayP> holm_of_questions(std::span<const TwoWayP> p) {
  std::vector<Test> tests;
  for (std::size_t i = 0; i < p.size(); ++i) {
    tests.push_back({i, false, p[i].difference});
    if (p[i].equivalence) tests.push_back({i, true, *p[i].equivalence});
  }
  std::stable_sort(tests.begin(), tests.end(),
                   [](const Test& a, const Test& b) { return a.p < b.p; });
  std::vector<TwoWayP> adjusted(p.size());
  std::vector<int> left(p.size(), 0);  // tests of each question that are not rejected yet
  for (const auto& test : tests) ++left[test.question];
  auto questions = p.size();  // that have any
  double highest = 0;
  for (const auto& test : tests) {
    highest = std::max(highest, std::min(1.0, test.p * static_cast<double>(questions)));
    auto& of = adjusted[test.question];
    if (test.is_equivalence) {
      of.equivalence = highest;
    } else {
      of.difference = highest;
    }
    if (--left[test.question] == 0) --questions;
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto times = static_cast<double>(p.size() - rank);
    highest = std::max(highest, std::min(1.0, times * p[order[rank]]));
    adjusted[order[rank]] = highest;
  }
  return adjusted;
}

}  // namespace difflab
