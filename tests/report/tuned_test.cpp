// What a report says of a tuning, and that the archive keeps it.
#include "report/settings/tuned.h"

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

}  // namespace
}  // namespace difflab::report
