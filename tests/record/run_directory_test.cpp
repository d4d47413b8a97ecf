#include "record/run_directory.h"

#include <sys/wait.h>

#include "record/lease.h"
#include "record/log/metrics_log.h"
#include "record/status.h"
#include "support/catch.h"

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
  CATCH_CHECK_THROWS_WITH(read_metrics(run), Contains("metrics.jsonl:2: is damaged"));
}

CATCH_TEST_CASE("a result counts only as a whole and in a known schema") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_CHECK_FALSE(read_result(run));
  write_file_atomically(run.result(), R"({"schema": 1, "id": "x"})");
  CATCH_CHECK((*read_result(run))["id"] == "x");
  write_file_atomically(run.result(), R"({"schema": 2})");
  CATCH_CHECK_THROWS_WITH(read_result(run), Contains("this difflab reads schema 1"));
  write_file_atomically(run.result(), R"({"schema")");
  CATCH_CHECK_THROWS_WITH(read_result(run), Contains("is damaged"));
  write_file_atomically(run.result(), R"({"schema": 1, "metrics": [3]})");
  CATCH_CHECK_THROWS_WITH(read_result(run), Contains("'metrics' is not a JSON object"));
  std::filesystem::remove(run.result());
  std::filesystem::create_symlink(run.path / "nothing", run.result());
  CATCH_CHECK_THROWS_WITH(read_result(run), Contains("is a link to nothing"));
}

CATCH_TEST_CASE("a field of a wrong type is a named problem of its file") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  for (const auto& [fields, problem] : std::vector<std::pair<std::string, std::string>>{
           {R"("id": 5)", "'id' is not text"},
           {R"("status": ["finished"])", "'status' is not text"},
           {R"("diverged_at_step": "7")", "'diverged_at_step' is not a number"},
           {R"("censored": 1)", "'censored' is not a JSON object"},
           {R"("evaluations": [])", "'evaluations' is not a JSON object"},
           {R"("metrics": {"valid_loss": "low"})", "'metrics.valid_loss' is not a number"},
           {R"("censored": {"steps_to_x": {}})", "'censored.steps_to_x' is not a number"},
           {R"("evaluations": {"text": 4})", "its evaluation text is not a JSON object"},
           {R"("evaluations": {"grid": {"cells": [1]}})", "one of its cells is not a JSON object"},
           {R"("evaluations": {"grid": {"cells": [{"step": "9"}]}})",
            "in one of its cells 'step' is not a number"},
           {R"("evaluations": {"text": {"samples": [{"step": "9"}]}})",
            "in one of its samples 'step' is not a number"},
           {R"("evaluations": {"text": {"samples": [{"prompt": 1}]}})", "'prompt' is not text"}}) {
    CATCH_INFO(fields);
    write_file_atomically(run.result(), R"({"schema": 1, )" + fields + "}");
    CATCH_CHECK_THROWS_WITH(read_result(run),
                            Contains("result.json: is damaged") && Contains(problem));
    const auto standing = standing_of(run);
    CATCH_CHECK(standing.state == RunState::kFailed);
    CATCH_CHECK_THAT(standing.message, Contains(problem));
  }
  std::filesystem::remove(run.result());
  for (const char* status : {R"({"state": 5})", R"({"state": null, "message": []})", "[1]", "{",
                             R"({"state": "failed", "message": 5, "step": "x", "stage": {}})"}) {
    CATCH_INFO(status);
    write_file_atomically(run.status(), status);
    CATCH_CHECK(state_of(run) != RunState::kFinished);
    CATCH_CHECK(position_of(run).all() == 0);
  }
}

CATCH_TEST_CASE("a run that was killed has failed once whoever executed it says so") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path() / "runs/a"};
  make_directories(run.path);
  write_status(run, RunState::kRunning, {.step = 3, .steps = 9, .stages = 2}, "", "stages/b");
  CATCH_CHECK(state_of(run) == RunState::kInterrupted);  // nobody holds it
  {
    const auto lease = Lease::acquire(run, [] { return false; });
    CATCH_CHECK(state_of(run) == RunState::kRunning);
    CATCH_CHECK_FALSE(note_in_status(run, "killed"));  // somebody is at it again
  }
  CATCH_CHECK(note_in_status(run, "killed by signal 9"));
  CATCH_CHECK_FALSE(note_in_status(run, "killed by signal 9"));
  const auto standing = standing_of(run);
  CATCH_CHECK(standing.state == RunState::kFailed);
  CATCH_CHECK(standing.message == "killed by signal 9");
  CATCH_CHECK((*read_status(run))["stage"] == "stages/b");
  CATCH_CHECK(position_of(run).step == 3);
  write_status(run, RunState::kFinished, {});  // says so, and has no result
  CATCH_CHECK(state_of(run) == RunState::kInterrupted);
}

// In a process without rights, as a colleague's is; true if it is refused with the file's name.
bool is_refused_to_nobody(const RunDirectory& run, const std::filesystem::path& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    try {
      require_own_files(run);
      ::_exit(0);
    } catch (const UserError& error) {
      const std::string said = error.what();
      const bool is_named = said.find("cannot write " + file.string() +
                                      ": Permission denied (it "
                                      "belongs to root, mode ") != said.npos;
      ::_exit(is_named ? 1 : 3);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CATCH_CHECK(WEXITSTATUS(status) <= 1);
  return WEXITSTATUS(status) == 1;
}

CATCH_TEST_CASE("a file of a run that is closed to a colleague is named with its permissions") {
  if (::geteuid() != 0) return;
  const testing::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const RunDirectory run{folder.path() / "run"};
  const auto set = [](const std::filesystem::path& path, unsigned mode) {
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
  };
  make_directories(run.claims());
  CATCH_CHECK(is_refused_to_nobody(run, run.path));
  set(run.path, 0777);
  CATCH_CHECK(is_refused_to_nobody(run, run.claims()));
  set(run.claims(), 0777);
  CATCH_CHECK_FALSE(is_refused_to_nobody(run, run.path));
  for (const auto& file : {run.log(), run.events(), run.status(), run.metrics()}) {
    write_file_atomically(file, "1");
    set(file, 0644);
    CATCH_CHECK(is_refused_to_nobody(run, file));
    set(file, 0666);
    CATCH_CHECK_FALSE(is_refused_to_nobody(run, file));
  }
  write_file_atomically(run.result(), "is replaced, not written");
  CATCH_CHECK_FALSE(is_refused_to_nobody(run, run.result()));
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
