#include "record/log/time_spent.h"

#include "record/log/event_log.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("a run's time is what it noted when it ended last") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK(time_spent(run).sum() == 0);
  const TimeSpent first{.training = 8}, last{.training = 2, .events = 0.5, .evaluation = 1};
  note_event(run, "finish", {{"seconds", first.json()}});
  note_event(run, "finish", {{"seconds", last.json()}});
  note_event(run, "checkpoint", {{"step", 3}});
  auto read = time_spent(run);
  CATCH_CHECK(read.json() == last.json());
  read += first;
  CATCH_CHECK(read.training == 10);
  CATCH_CHECK(read.sum() == 11.5);
  note_event(run, "finish", {{"step", 3}});  // of an older difflab
  CATCH_CHECK(time_spent(run).sum() == 0);
}

CATCH_TEST_CASE("a stretch of code adds its time when it ends, also if it throws") {
  double seconds = 1;
  try {
    const Timed timed(seconds);
    throw 1;
  } catch (int) {
  }
  CATCH_CHECK(seconds > 1);
}

}  // namespace
}  // namespace difflab
