// Sweeps under fire. The oracle of every case: when the disturbance is over, the same command ends
// with the tables of an undisturbed sweep, byte for byte, no run was executed to its end twice, and
// no temporary file is left.
//
// ctest gives a quick dose; the figures of docs/reliability.md come from
//   DIFFLAB_CHAOS=full build/release/tests/chaos_test
// Kills fall at random instants; DIFFLAB_CHAOS_SEED repeats their sequence, not their instants.

#include "record/lease.h"
#include "support/dose.h"
#include "system/chaos/field.h"

namespace difflab {
namespace {

using namespace testing::chaos;
using testing::Answer;
using testing::Driver;
using testing::eventually;

// Only what is still one of our workers: a number of a process that is gone may be anybody's.
bool kill_worker(pid_t process, int signal) {
  std::error_code error;
  const auto program = fs::read_symlink(concat("/proc/", process, "/exe"), error);
  return process > 0 && !error && program == fs::canonical(testing::FakeWorkers::program()) &&
         ::kill(process, signal) == 0;
}

CATCH_TEST_CASE("kill -9 of driver, worker process, run or all of them, at any instant") {
  undisturbed();
  const int wanted = dose(15, 200);
  int kills = 0, sweeps = 0;
  while (kills < wanted) {
    Field field;
    ++sweeps;
    auto driver = field.go();
    while (kills < wanted && field.workers.ends().size() < kRuns) {
      sleep_ms(random_up_to(150));
      const auto starts = field.workers.starts();
      const int target = random_up_to(3);
      bool hit = false;
      if (!starts.empty() && (target == 0 || target == 3)) {
        hit |= kill_worker(starts.back().server, SIGKILL);
      }
      if (!starts.empty() && (target == 1 || target == 3)) {
        hit |= kill_worker(starts.back().pid, SIGKILL);
      }
      if (target >= 2) {
        driver->kill(SIGKILL);
        hit |= driver->wait().signal == SIGKILL;
        driver = field.go();
      }
      kills += hit ? 1 : 0;
    }
    Driver::finish(*driver);
    check_the_end(field);
  }
  std::cout << kills << " kills over " << sweeps << " sweeps of " << kRuns << " runs" << std::endl;
}

// One run, killed when it makes a system call for the n-th time; false if it makes fewer.
bool killed_at(const std::string& call, int n, const fs::path& directory) {
  Process process({"/usr/bin/strace", "-qq", "-o", "/dev/null", "-e",
                   concat("inject=", call, ":signal=SIGKILL:when=", n),
                   testing::FakeWorkers::program(), "run", directory.string()});
  Driver::finish(process);
  return process.wait().signal == SIGKILL;
}

CATCH_TEST_CASE("kill -9 at every system call of a run, checkpoints and result included") {
  if (!fs::exists("/usr/bin/strace")) {
    std::cerr << "SKIPPED: kill -9 at every system call: there is no strace" << std::endl;
    return;
  }
  testing::FakeWorkers workers;
  workers.set(R"({"steps": 2, "step_ms": 1})");
  // Of a claim that it was killed in the midst of nobody knows the process: others wait for
  // silence.
  ::setenv("DIFFLAB_LEASE_SECONDS", "0.6", 1);
  const RunDirectory run{workers.folder() / "runs" / "one"};
  const auto start_anew = [&] {
    fs::remove_all(run.path);
    fs::create_directories(run.path);
    write_file_atomically(run.config(), "seed: 0\n");
  };
  const auto finish = [&] {
    Process process({testing::FakeWorkers::program(), "run", run.path.string()});
    const int code = Driver::finish(process).code;
    return process.wait().signal == 0 ? code : -1;
  };
  start_anew();
  CATCH_REQUIRE(finish() == 0);
  const auto expected = read_file(run.result());
  int kills = 0, with_result = 0;
  for (const std::string call : {"openat", "write", "pwrite64", "fsync", "flock", "mkdir", "link",
                                 "rename", "unlink", "unlinkat", "getdents64", "fstat", "close"}) {
    int n = 1;
    for (start_anew(); killed_at(call, n, run.path);
         n += dose(testing::kSanitized ? 29 : 7, 1), start_anew()) {
      CATCH_INFO(call << ", call " << n);
      ++kills;
      with_result += fs::exists(run.result()) ? 1 : 0;
      CATCH_REQUIRE(finish() == 0);
      CATCH_REQUIRE(read_file(run.result()) == expected);
      remove_leftovers(run);  // as a sweep does for runs that are complete
      for (const auto& entry : fs::directory_iterator(run.path)) {
        CATCH_REQUIRE(entry.path().extension() != ".tmp");
      }
    }
  }
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
  CATCH_CHECK(kills > 10);
  std::cout << kills << " kills at a system call, " << with_result
            << " of them with the result there" << std::endl;
}

CATCH_TEST_CASE("Ctrl-C at any instant") {
  const int wanted = dose(3, 100);
  int at_work = 0;
  for (int i = 0; i < wanted; ++i) {
    const Field field;
    auto driver = field.go();
    // The first one when runs are under way, the others at any instant.
    if (i == 0) eventually([&] { return !field.workers.starts().empty(); });
    if (i > 0) sleep_ms(100 + random_up_to(900));
    driver->kill(SIGINT);
    const Answer answer = Driver::finish(*driver);
    // It ends by the signal itself if that came before the handler.
    at_work += answer.code == 130 ? 1 : 0;
    if (i == 0) {
      CATCH_CHECK_THAT(answer.err,
                       Contains(concat(" of ", kRuns, " runs done; the same command continues")));
    }
    check_the_end(field);
  }
  CATCH_CHECK(at_work > 0);
}

CATCH_TEST_CASE("many drivers at once on one folder") {
  for (const int drivers : {2, 8, 32}) {
    const int times = dose(drivers == 32 ? 0 : 1, 100);
    for (int i = 0; i < times; ++i) {
      Field field;
      field.workers.set(R"({"steps": 2, "step_ms": 5})");
      std::vector<std::unique_ptr<Process>> all;
      for (int driver = 0; driver < drivers; ++driver) all.push_back(field.go());
      for (const auto& driver : all) CATCH_CHECK(Driver::finish(*driver).code == 0);
      CATCH_CHECK(field.workers.starts().size() == kRuns);
      field.workers.set(R"({"steps": 8, "step_ms": 20})");
      CATCH_CHECK(field.workers.ends().size() == kRuns);
    }
    std::cout << drivers << " drivers at once, " << times << " times" << std::endl;
  }
}

CATCH_TEST_CASE("runs that are stopped, overtaken by another sweep and continued") {
  const int wanted = dose(3, 50);
  ::setenv("DIFFLAB_LEASE_SECONDS", "0.6", 1);
  int stopped = 0, overtaken = 0;
  while (stopped < wanted) {
    Field field;
    auto first = field.go();
    CATCH_REQUIRE(eventually([&] { return field.workers.starts().size() >= 6; }));
    std::vector<pid_t> asleep;
    for (const auto& start : field.workers.starts()) {
      if (kill_worker(start.pid, SIGSTOP)) asleep.push_back(start.pid);
    }
    const auto before = field.workers.starts().size();
    auto second = field.go();
    // Until it has waited for the leases and taken runs that stand still, or there are none.
    eventually([&] { return asleep.empty() || field.workers.starts().size() > before; });
    sleep_ms(random_up_to(600));
    overtaken += field.workers.starts().size() > before ? 1 : 0;
    for (const pid_t process : asleep) kill_worker(process, SIGCONT);
    stopped += static_cast<int>(asleep.size());
    CATCH_CHECK(Driver::finish(*first).code == 0);
    CATCH_CHECK(Driver::finish(*second).code == 0);
    check_the_end(field);
  }
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
  CATCH_CHECK(overtaken > 0);
  std::cout << stopped << " runs stopped and continued" << std::endl;
}

CATCH_TEST_CASE("32 file descriptors are enough") {
  const Field field;
  auto argv = field.command();
  argv.insert(argv.begin(), {"/usr/bin/prlimit", "--nofile=32", DIFFLAB_BUILD "/difflab"});
  Process driver(argv);
  calm_end(driver, {0});
  check_the_end(field);
}

}  // namespace
}  // namespace difflab
