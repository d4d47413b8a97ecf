// What a report says of a tuning, and that the archive keeps it.
#include "report/settings/tuned.h"

#include <cmath>

#include "support/catch.h"

namespace difflab::report {
namespace {

Tuned of_three_variants() {
  return {.key = "train.lr",
          .grid = {0.001, 0.003},
          .seeds = {10000, 10001, 10002},
          .steps = 800,
          .longer = 4000,
          .criterion = "the best",
          .variants = {
              {.axes = {{"model", "diff"}}, .value = 0.003},
              {.axes = {{"model", "transformer"}}, .value = 0.001, .is_longer = true, .learned = 1},
              {.axes = {{"model", "diff_v2"}}, .value = {}}}};
}

CATCH_TEST_CASE("a rate that not every seed got there with is named, and what took longer runs") {
  const auto text = of_three_variants().text();
  CATCH_CHECK_THAT(
      text,
      Contains("With the value that was taken not every seed got there: transformer (1 of 3)."));
  CATCH_CHECK_THAT(text,
                   Contains("With the first seed no value worked in these steps for "
                            "transformer, so that all were tried anew there in runs of 4,000"));
  CATCH_CHECK_THAT(text, Contains("Not tunable, as none of these values works: diff_v2."));
  auto all = of_three_variants();
  all.variants[1].learned.reset();
  CATCH_CHECK_THAT(all.text(), !Contains("not every seed"));
}

CATCH_TEST_CASE("a tuning is the same after it was written and read") {
  const auto tuned = of_three_variants();
  const auto again = Tuned::of(tuned.json());
  CATCH_CHECK(again.text() == tuned.text());
  CATCH_CHECK(again.json() == tuned.json());
  CATCH_CHECK(again.variants[1].learned == 1);
  CATCH_CHECK_FALSE(tuned.json().at("variants")[0].contains("learned"));
}

// Times e^1, e^2, e^3 and the same times e^by: t(2) = 4.3027, so that each interval of the mean
// logarithm is 2 × 4.3027 / √3 = 4.969 wide.
Tuned of_finalists(double by) {
  Tuned tuned = of_three_variants();
  tuned.again = 2;
  tuned.seeds = {10000};
  tuned.is_geometric = true;
  Tuned::Finalist taken{.value = 0.003, .learned = {true, true, true}};
  Tuned::Finalist other{.value = 0.01, .learned = {true, true, false}};
  for (const double log : {1.0, 2.0, 3.0}) {
    taken.metrics.push_back(std::exp(log));
    other.metrics.push_back(std::exp(log + by));
  }
  tuned.variants[0].finalists = {taken, other};
  return tuned;
}

CATCH_TEST_CASE("finalists tie if their intervals share more than half of the shorter one") {
  const auto close = of_finalists(2.4), far = of_finalists(2.6);
  CATCH_CHECK(close.ties(close.variants[0]));
  CATCH_CHECK_FALSE(far.ties(far.variants[0]));
  CATCH_CHECK_FALSE(close.ties(close.variants[1]));
  CATCH_CHECK_THAT(close.text(), Contains("went on to 2 more seeds, 10001 to 10002,") &&
                                     Contains("for diff (0.003: 7.389 (0.616 to 88.601), 0.01: ") &&
                                     !Contains("transformer (0.001: "));
  CATCH_CHECK_THAT(far.text(), !Contains("tie"));
  CATCH_CHECK(close.mean_of(close.variants[0].finalists[0]) == Approx(std::exp(2)));

  const auto again = Tuned::of(close.json());
  CATCH_CHECK(again.json() == close.json());
  CATCH_CHECK(again.text() == close.text());
  CATCH_CHECK(close.json().at("variants")[0].at("ties") == true);
  CATCH_CHECK_FALSE(of_three_variants().json().at("variants")[0].contains("ties"));
}

}  // namespace
}  // namespace difflab::report
