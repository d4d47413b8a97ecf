
#include "record/log/event_log.h"
#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("a run's time is the sum of what its sessions noted, from a place in its log on") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK(length_of_events(run) == 0);
  CATCH_CHECK(time_spent(run).sum() == 0);
  note_time(run, {.training = 8});
  note_event(run, "signal", {{"signal", 15}});
  const auto second = length_of_events(run);
  note_event(run, "checkpoint", {{"training", 100}});  // not about time
  note_time(run, {.training = 2, .events = 0.5, .evaluation = 1});
  CATCH_CHECK(time_spent(run).training == 10);
  CATCH_CHECK(time_spent(run).sum() == 11.5);
  CATCH_CHECK(time_spent(run, second).training == 2);
  CATCH_CHECK(time_spent(run, second).sum() == 3.5);
  CATCH_CHECK(time_spent(run, length_of_events(run)).sum() == 0);
  CATCH_CHECK(time_spent(run, 1 << 20).sum() == 0);  // the log is another one now
}

CATCH_TEST_CASE("a session that spent nothing notes nothing") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  note_time(run, {});
  CATCH_CHECK(length_of_events(run) == 0);
}

}  // namespace
}  // namespace difflab
