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
  std::ranges::stable_sort(tests, [](const Test& a, const Test& b) { return a.p < b.p; });
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
  std::vector<TwoWayP> questions;
  for (const double one : p) questions.push_back({one, {}});
  std::vector<double> adjusted;
  for (const auto& one : holm_of_questions(questions)) adjusted.push_back(one.difference);
  return adjusted;
}

std::optional<double> discovery_limit(std::span<const double> p, double rate) {
  std::vector<double> sorted(p.begin(), p.end());
  std::ranges::sort(sorted);
  for (std::size_t count = sorted.size(); count > 0; --count) {
    const double share = static_cast<double>(count) / static_cast<double>(sorted.size());
    if (sorted[count - 1] <= rate * share) return sorted[count - 1];
  }
  return std::nullopt;
}

}  // namespace difflab
