#include "support/catch.h"
#include "sweep/progress.h"

namespace difflab::sweep {
namespace {

CATCH_TEST_CASE("a sweep's time is shared out among what it went to") {
  const SweepTime time{
      .runs = 243,
      .workers = 2,
      .by_runs = {.training = 345, .events = 44, .validation = 1, .evaluation = 58},
      .report = 8.5,
      .figures = 8.1};
  CATCH_CHECK(time_text(time) ==
              "4m 12s: runs 4m 03s (2 at once: training 71 %, event checks 9 %, evaluation 12 %, "
              "other 8 %), tables and page 0.4s, figures 8.1s");
}

CATCH_TEST_CASE("a sweep whose runs noted nothing has spent its time on something else") {
  CATCH_CHECK(time_text({.runs = 2, .workers = 1, .by_runs = {}, .report = 1, .figures = 0}) ==
              "3.0s: runs 2.0s (1 at once: other 100 %), tables and page 1.0s, figures 0.0s");
}

}  // namespace
}  // namespace difflab::sweep
