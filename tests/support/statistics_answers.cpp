// Answers questions about statistics, one JSON object a line, for tests/statistics/against_*.py.
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "statistics/distributions.h"
#include "statistics/holm.h"
#include "statistics/paired.h"
#include "statistics/share.h"
#include "statistics/shift_test.h"
#include "statistics/survival.h"
#include "util/json.h"

namespace {

using namespace difflab;
using Numbers = std::vector<double>;

// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

Json both(const std::optional<Interval>& interval) {
  return interval ? Json::array({number(interval->low), number(interval->high)}) : Json();
}

Numbers numbers(const Json& json) { return json.get<Numbers>(); }
std::int64_t count(const Json& json, std::size_t i) { return json[i].get<std::int64_t>(); }

std::vector<Lifetime> lifetimes(const Json& json) {
  std::vector<Lifetime> all;
  for (const auto& one : json) all.push_back({one[0].get<double>(), one[1].get<bool>()});
  return all;
}

Json curve(const Json& json) {
  Json steps = Json::array();
  for (const auto& step : kaplan_meier(lifetimes(json))) {
    steps.push_back({step.time, step.at_risk, step.events, step.survival, step.error});
  }
  return steps;
}

// p of no shift and of one, the equivalence within a margin, and the interval.
Json shift(const ShiftTest& test, const Json& shift, const Json& margin) {
  return {test.p(), test.p(shift), test.equivalence_p(margin), both(test.interval(0.1))};
}

const std::map<std::string, std::function<Json(const Json&)>> kAnswers = {
    {"student_t_cdf", [](const Json& a) { return student_t_cdf(a[0], a[1]); }},
    {"student_t_quantile", [](const Json& a) { return student_t_quantile(a[0], a[1]); }},
    {"normal_quantile", [](const Json& a) { return normal_quantile(a[0]); }},
    {"chi_squared_tail", [](const Json& a) { return chi_squared_tail(a[0]); }},
    {"t_interval", [](const Json& a) { return both(t_interval(numbers(a[0]), a[1])); }},
    {"wilson", [](const Json& a) { return both(wilson_interval(count(a, 0), count(a, 1))); }},
    {"mean_share", [](const Json& a) { return both(mean_share_interval(numbers(a[0]), a[1])); }},
    {"share_difference",
     [](const Json& a) { return both(share_difference_interval(numbers(a[0]), a[1])); }},
    {"sign_flip", [](const Json& a) { return sign_flip_p(numbers(a[0])); }},
    {"mcnemar", [](const Json& a) { return mcnemar_p(count(a, 0), count(a, 1)); }},
    {"equivalence", [](const Json& a) { return equivalence_p(numbers(a[0]), a[1]); }},
    {"bca", [](const Json& a) { return both(bca_interval(numbers(a[0]))); }},
    {"unpaired",
     [](const Json& a) {
       return shift(ShiftTest::unpaired(numbers(a[0]), numbers(a[1])), a[2], a[3]);
     }},
    {"paired", [](const Json& a) { return shift(ShiftTest::paired(numbers(a[0])), a[1], a[2]); }},
    {"pairing", [](const Json& a) { return pairing_p(numbers(a[0]), numbers(a[1])); }},
    {"f_tail", [](const Json& a) { return f_tail(a[0], a[1], a[2]); }},
    {"discoveries",
     [](const Json& a) {
       const auto limit = discovery_limit(numbers(a[0]), 0.05);
       return limit ? Json(*limit) : Json();
     }},
    {"holm", [](const Json& a) { return holm(numbers(a[0])); }},
    {"kaplan_meier", [](const Json& a) { return curve(a[0]); }},
    {"median_interval",
     [](const Json& a) { return both(median_lifetime_interval(lifetimes(a[0]))); }},
    {"restricted_mean",
     [](const Json& a) {
       const auto found = restricted_mean(lifetimes(a[0]), a[1]);
       return Json::array({found.mean, found.error});
     }},
    {"log_rank", [](const Json& a) { return log_rank_p(lifetimes(a[0]), lifetimes(a[1])); }},
};

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = Json::parse(line);
    std::cout << kAnswers.at(question.at("of"))(question.at("with")).dump() << '\n';
  }
}
