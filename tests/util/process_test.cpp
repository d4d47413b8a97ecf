#include "util/process.h"

#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "support/catch.h"

namespace difflab {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> all_lines(Process& process) {
  std::vector<std::string> lines;
  while (process.output_open()) {
    for (auto& line : process.read_lines(10s)) lines.push_back(std::move(line));
  }
  return lines;
}

CATCH_TEST_CASE("a child gets its arguments as they are, without a shell in between") {
  const std::vector<std::string> nasty = {"a b", "$HOME", "`id`", "; exit 1", "\"", "*", ""};
  std::vector<std::string> argv = {"/usr/bin/printf", "%s\\n"};
  argv.insert(argv.end(), nasty.begin(), nasty.end());
  Process process(argv);
  CATCH_CHECK(all_lines(process) == nasty);
  CATCH_CHECK(process.wait().success());
}

CATCH_TEST_CASE("what is sent comes back line by line, and a closed input ends the child") {
  Process process({"/bin/cat"});
  CATCH_CHECK(process.send("one\ntw"));
  CATCH_CHECK(process.read_lines(10s) == std::vector<std::string>{"one"});
  CATCH_CHECK(process.send("o\n"));
  CATCH_CHECK(process.read_lines(10s) == std::vector<std::string>{"two"});
  CATCH_CHECK(process.read_lines(1ms).empty());
  CATCH_CHECK(process.output_open());
  process.close_input();
  CATCH_CHECK(all_lines(process).empty());
  CATCH_CHECK(process.wait().success());
}

CATCH_TEST_CASE("exit codes, signals and the end of standard error are told") {
  Process failing({"/bin/sh", "-c", "echo bad luck >&2; exit 3"});
  all_lines(failing);
  CATCH_CHECK(failing.wait().code == 3);
  CATCH_CHECK(failing.wait().text() == "exit code 3");
  CATCH_CHECK(failing.error_tail() == "bad luck\n");

  Process killed({"/bin/cat"});
  killed.kill(SIGKILL);
  CATCH_CHECK(killed.wait().text() == "killed by signal 9 (Killed)");
}

CATCH_TEST_CASE("only the last 4 KiB of standard error are kept") {
  Process process({"/bin/sh", "-c", "seq 1 5000 >&2; echo the end >&2"});
  all_lines(process);
  process.wait();
  CATCH_CHECK(process.error_tail().size() <= 4096);
  CATCH_CHECK(process.error_tail().substr(process.error_tail().size() - 13) == "5000\nthe end\n");
}

CATCH_TEST_CASE("sending to a child that is gone is an answer, not a crash") {
  Process process({"/bin/true"});
  all_lines(process);
  process.wait();
  CATCH_CHECK_FALSE(process.send("anybody there?\n"));
}

CATCH_TEST_CASE("a program that cannot be started is the user's to fix and named") {
  CATCH_CHECK_THROWS_WITH(Process({"/no/such/program"}),
                          "cannot start /no/such/program: No such file or directory");
  CATCH_CHECK_THROWS_AS(Process({"/etc/hostname"}), UserError);
}

// A killed process may wait as a zombie until its new parent reaps it.
bool eventually_gone(pid_t pid) {
  const auto gone = [&] {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return !(stat >> number >> name >> state) || state == "Z";
  };
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!gone() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return gone();
}

CATCH_TEST_CASE("a child and its children are gone when its object is") {
  pid_t child = 0, grandchild = 0;
  {
    Process process({"/bin/sh", "-c", "sleep 1000 & echo $!; wait"});
    child = process.pid();
    grandchild = std::stoi(process.read_lines(10s).at(0));
    CATCH_CHECK(::kill(grandchild, 0) == 0);
  }
  CATCH_CHECK(eventually_gone(child));
  CATCH_CHECK(eventually_gone(grandchild));
}

CATCH_TEST_CASE("a child dies with its parent, even if that is killed") {
  std::array<int, 2> ends{};
  CATCH_REQUIRE(::pipe(ends.data()) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Process child({"/bin/sleep", "1000"});  // which does not look at its input
    const pid_t pid = child.pid();
    if (::write(ends[1], &pid, sizeof pid) == sizeof pid) ::pause();
    ::_exit(1);
  }
  pid_t child = 0;
  CATCH_REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
  CATCH_CHECK_FALSE(::kill(child, 0) != 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CATCH_CHECK(eventually_gone(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

CATCH_TEST_CASE("stop signals are counted and end nothing while somebody listens") {
  const StopSignals signals;
  CATCH_CHECK(StopSignals::count() == 0);
  Process process({"/bin/sh", "-c", "kill -INT $PPID; exec sleep 1000"});
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (StopSignals::count() == 0 && std::chrono::steady_clock::now() < deadline) {
    process.read_lines(20ms);
  }
  CATCH_CHECK(StopSignals::count() == 1);
  ::raise(SIGTERM);
  CATCH_CHECK(StopSignals::count() == 2);
}

CATCH_TEST_CASE("only the signal that Slurm sends before the end says that time is short") {
  const StopSignals signals;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::raise(signal);
  CATCH_CHECK_FALSE(StopSignals::time_is_short());
  ::raise(SIGUSR1);
  CATCH_CHECK(StopSignals::time_is_short());
  CATCH_CHECK(StopSignals::count() == 4);
}

// nohup ignores it, so that what is started goes on when its terminal is closed.
CATCH_TEST_CASE("a hangup that was ignored before stays ignored") {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals;
    ::raise(SIGHUP);
    CATCH_CHECK(StopSignals::count() == 0);
    ::raise(SIGTERM);
    CATCH_CHECK(StopSignals::count() == 1);
  }
  ::signal(SIGHUP, before);
  const StopSignals signals;
  ::raise(SIGHUP);
  CATCH_CHECK(StopSignals::count() == 1);
}

CATCH_TEST_CASE("a stop signal ends the wait for a program where nobody needs its answer") {
  const testing::TemporaryFolder folder;
  const auto asked = folder.path() / "asked";
  const auto stop_when_asked = [&] {
    std::filesystem::remove(asked);
    return std::thread([&] {
      while (!std::filesystem::exists(asked)) std::this_thread::sleep_for(1ms);
      ::kill(::getpid(), SIGTERM);
    });
  };
  const StopSignals signals;
  ::raise(SIGTERM);  // an earlier one does not end it
  CATCH_CHECK(run_program({"sh", "-c", "sleep 0.1; echo done"}, OnStop::kKill).output == "done\n");
  const auto touch = concat("touch '", asked.string(), "'; ");
  auto stop = stop_when_asked();
  const auto killed = run_program({"sh", "-c", touch + "sleep 1000"}, OnStop::kKill);
  stop.join();
  CATCH_CHECK_FALSE(killed.status.success());
  // A task that goes back to its queue has to be told that it does.
  stop = stop_when_asked();
  const auto waited = run_program({"sh", "-c", touch + "sleep 0.3; echo requeued"});
  stop.join();
  CATCH_CHECK(waited.status.success());
  CATCH_CHECK(waited.output == "requeued\n");
}

CATCH_TEST_CASE("a program's last words count, with a line end behind them or without") {
  const auto printed = run_program({"printf", "one\\ntwo"});
  CATCH_CHECK(printed.status.success());
  CATCH_CHECK(printed.output == "one\ntwo\n");
  CATCH_CHECK(run_program({"printf", "one\\n"}).output == "one\n");
  CATCH_CHECK(run_program({"true"}).output.empty());
  CATCH_CHECK(run_program({"no-such-program"}).status.code == 127);
}

}  // namespace
}  // namespace difflab
