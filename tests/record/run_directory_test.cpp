#include "record/run_directory.h"

#include "record/log/metrics_log.h"
#include "record/status.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("a metrics log that is cut back reports no step twice") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  std::uint64_t at_checkpoint = 0;
  {
    MetricsLog log(run.metrics(), 0);
    log.append({{"step", 1}});
    at_checkpoint = log.length();
    log.append({{"step", 2}});
    CATCH_CHECK(log.length() == std::filesystem::file_size(run.metrics()));
  }
  {
    MetricsLog log(run.metrics(), at_checkpoint);
    log.append({{"step", 2}, {"again", true}});
    CATCH_CHECK(log.length() == std::filesystem::file_size(run.metrics()));
  }
  const auto lines = read_metrics(run);
  CATCH_REQUIRE(lines.size() == 2);
  CATCH_CHECK(lines[1]["again"] == true);
  CATCH_CHECK_THROWS_AS(MetricsLog(run.metrics(), 10'000), UserError);
}

CATCH_TEST_CASE("a run's position counts the steps of its stages") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path() / "run"}, stage{folder.path() / "stage"};
  make_directories(run.path);
  make_directories(stage.path);
  const auto shown = [&] {
    const auto position = position_of(run);
    return std::pair(position.done(), position.all());
  };
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(0, 0));
  write_status(run, RunState::kRunning, {.steps = 10, .stages = 30}, "", "../stage");
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(0, 40));
  write_status(stage, RunState::kRunning, {.step = 12, .steps = 30});
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(12, 40));
  write_status(run, RunState::kRunning, {.step = 3, .steps = 10, .stages = 30});
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(33, 40));

  // What another program wrote there does no harm.
  write_status(stage, RunState::kRunning, {.step = 99, .steps = 99}, "", "../stage");
  write_status(run, RunState::kRunning, {.steps = 10, .stages = 30}, "", "../stage");
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(30, 40));
  write_file_atomically(run.status(), R"({"step": "x", "steps": -4, "stage": 7})");
  CATCH_CHECK(shown() == std::pair<std::int64_t, std::int64_t>(0, 0));
}

CATCH_TEST_CASE("a torn last line of metrics is left out, a damaged one is an error") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK(read_metrics(run).empty());
  std::ofstream(run.metrics()) << "{\"step\":1}\n{\"step\":2}\n{\"ste";
  CATCH_CHECK(read_metrics(run).size() == 2);
  std::ofstream(run.metrics()) << "{\"step\":1}\n}{\n{\"step\":3}\n";
  CATCH_CHECK_THROWS_WITH(read_metrics(run), Catch::Contains("metrics.jsonl:2: is damaged"));
}

CATCH_TEST_CASE("a result counts only as a whole and in a known schema") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK_FALSE(read_result(run));
  write_file_atomically(run.result(), R"({"schema": 1, "id": "x"})");
  CATCH_CHECK((*read_result(run))["id"] == "x");
  write_file_atomically(run.result(), R"({"schema": 2})");
  CATCH_CHECK_THROWS_WITH(read_result(run), Catch::Contains("this difflab reads schema 1"));
  write_file_atomically(run.result(), R"({"schema")");
  CATCH_CHECK_THROWS_WITH(read_result(run), Catch::Contains("is damaged"));
  write_file_atomically(run.result(), R"({"schema": 1, "metrics": [3]})");
  CATCH_CHECK_THROWS_WITH(read_result(run), Catch::Contains("its metrics are no JSON object"));
  std::filesystem::remove(run.result());
  std::filesystem::create_symlink(run.path / "nothing", run.result());
  CATCH_CHECK_THROWS_WITH(read_result(run), Catch::Contains("is a link to nothing"));
}

CATCH_TEST_CASE("a status says state, step and message") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK_FALSE(read_status(run));
  write_status(run, RunState::kFailed, {.step = 3, .steps = 9}, "out of luck");
  const auto status = *read_status(run);
  CATCH_CHECK(status["state"] == "failed");
  CATCH_CHECK(status["step"] == 3);
  CATCH_CHECK(status["message"] == "out of luck");
}

}  // namespace
}  // namespace difflab
