#include "record/lease.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "support/catch.h"
#include "support/fake_runs.h"
#include "util/process.h"

namespace difflab {
namespace {

using namespace std::chrono_literals;
using testing::eventually, testing::TemporaryFolder;

constexpr LeaseTimes kPatient{.beat = 1h, .silence = 10h};
constexpr LeaseTimes kHasty{.beat = 20ms, .silence = 400ms};

bool never() { return false; }

// A run in a folder of its own.
struct TemporaryRun : TemporaryFolder, RunDirectory {
  TemporaryRun() : RunDirectory{TemporaryFolder::path()} {}
  using RunDirectory::path;
};

// Another process; what the function returns is its exit code.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    int code = 99;
    try {
      code = body();
    } catch (const LeaseLost&) {
      code = 76;
    } catch (...) {
    }
    ::_exit(code);
  }
  ~Child() {
    if (!ended_) signal(SIGKILL), wait();
  }
  void signal(int number) const { ::kill(pid_, number); }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

CATCH_TEST_CASE("who does not want to wait gets a free run at once, and no other") {
  const TemporaryRun run;
  {
    const auto lease = Lease::acquire_if_free(run, kPatient);
    CATCH_REQUIRE(lease);
    CATCH_CHECK(lease->held());
    CATCH_CHECK_FALSE(Lease::acquire_if_free(run, kPatient));
  }
  CATCH_CHECK(Lease::acquire_if_free(run, kPatient));
}

CATCH_TEST_CASE("a run has one holder; the next waits until it is given back") {
  const TemporaryRun run;
  auto first = Lease::acquire(run, never, kPatient);
  LeaseWatch watch(kPatient);
  CATCH_CHECK(watch.taken(run));
  CATCH_CHECK(looks_taken(run));
  int asked = 0;
  CATCH_CHECK_FALSE(Lease::acquire(
      run, [&] { return ++asked == 3; }, kPatient));
  first.reset();
  CATCH_CHECK_FALSE(watch.taken(run));
  CATCH_CHECK_FALSE(looks_taken(run));
  CATCH_CHECK(Lease::acquire(run, never, kPatient)->held());
}

CATCH_TEST_CASE("a holder that was killed holds nothing from that moment on") {
  const TemporaryRun run;
  Child child([&] {
    const auto lease = Lease::acquire(run, never, kPatient);
    ::pause();
    return 0;
  });
  LeaseWatch watch(kPatient);
  CATCH_REQUIRE(eventually([&] { return watch.taken(run); }));
  child.signal(SIGKILL);
  child.wait();
  CATCH_CHECK_FALSE(watch.taken(run));
  CATCH_CHECK(Lease::acquire(run, never, kPatient)->held());
}

CATCH_TEST_CASE("a holder that stood still, was overtaken and goes on is fenced off") {
  for (int round = 0; round < 5; ++round) {
    const TemporaryRun run;
    Child child([&] {
      const auto lease = Lease::acquire(run, never, kHasty);
      ::raise(SIGSTOP);
      const auto before = lease->held();
      lease->publish_result("{\"by\": \"the one that stood still\"}");
      return before ? 1 : 2;
    });
    LeaseWatch watch(kPatient);
    CATCH_REQUIRE(eventually([&] { return watch.taken(run); }));
    auto lease = Lease::acquire(run, never, kHasty);
    CATCH_REQUIRE(lease);
    const bool ahead =
        round % 2 == 0;  // both orders: it wakes before and after the result is there
    if (ahead) lease->publish_result("{}");
    child.signal(SIGCONT);
    CATCH_CHECK(child.wait() == 76);
    if (!ahead) lease->publish_result("{}");
    CATCH_CHECK(read_file(run.result()) == "{}");
  }
}

CATCH_TEST_CASE(
    "a holder elsewhere counts while its number moves, and not for ever when it stops") {
  const TemporaryRun run;
  fs::create_directories(run.claims());
  const auto claim = run.claims() / "1";
  LeaseWatch watch(kHasty);
  const auto begin = std::chrono::steady_clock::now();
  for (int beat = 0; std::chrono::steady_clock::now() - begin < 3 * kHasty.silence; ++beat) {
    write_file_atomically(claim, concat("held another/machine\n", beat, "\n"));
    CATCH_REQUIRE(watch.taken(run));
    std::this_thread::sleep_for(kHasty.beat);
  }
  // No clock of the other machine is asked: a file from the future is as silent as one of 1970.
  for (const auto moment : {fs::file_time_type::clock::now() + 24h,
                            fs::file_time_type::clock::now() - 24h * 365 * 50}) {
    write_file_atomically(claim, "held another/machine\nlast\n");
    fs::last_write_time(claim, moment);
    LeaseWatch later(kHasty);
    CATCH_CHECK(later.taken(run));
    CATCH_CHECK(eventually([&] { return !later.taken(run); }));
    fs::remove_all(run.claims());
    fs::create_directories(run.claims());
  }
}

// That it counts up is all that others see of it.
CATCH_TEST_CASE("a holder counts up the number in its claim, and changes nothing else there") {
  const TemporaryRun run;
  const auto lease = Lease::acquire(run, never, {.beat = 5ms, .silence = 10h});
  const auto claim = run.claims() / "1";
  const auto first = read_file(claim);
  const auto who = first.substr(0, first.find('\n'));
  std::uint64_t last = 0;
  for (int beats = 0; beats < 3; ++beats) {
    CATCH_REQUIRE(eventually([&] { return std::stoull(last_line(read_file(claim))) > last; }));
    last = std::stoull(last_line(read_file(claim)));
  }
  const auto content = read_file(claim);
  CATCH_CHECK(content.size() == first.size());
  CATCH_CHECK(content.starts_with(who + "\n"));
  CATCH_CHECK(lease->epoch() == 1);
  CATCH_CHECK(lease->held());
}

CATCH_TEST_CASE("for people, a holder elsewhere is there for minutes after its last sign") {
  const TemporaryRun run;
  fs::create_directories(run.claims());
  const auto claim = run.claims() / "1";
  write_file_atomically(claim, "held another/machine\n00000000000000000007\n");
  CATCH_CHECK(looks_taken(run));
  CATCH_CHECK(holder_here(run) == 0);
  fs::last_write_time(claim, fs::file_time_type::clock::now() - 1h);
  CATCH_CHECK_FALSE(looks_taken(run));
}

CATCH_TEST_CASE("of claims the last ones stay, so that a late look finds the names taken") {
  const TemporaryRun run;
  for (int i = 0; i < 30; ++i) Lease::acquire(run, never, kPatient);
  std::set<int> epochs;
  for (const auto& entry : fs::directory_iterator(run.claims())) {
    epochs.insert(std::stoi(entry.path().filename().string()));
  }
  CATCH_CHECK(*epochs.rbegin() == 60);  // each holder's own and the one that set it free
  CATCH_CHECK(epochs.size() >= 16);
  CATCH_CHECK(epochs.size() < 20);
  CATCH_CHECK(*epochs.begin() == 60 - static_cast<int>(epochs.size()) + 1);
}

CATCH_TEST_CASE("a claim whose maker died before its first word is passed over in time") {
  const TemporaryRun run;
  fs::create_directories(run.claims());
  write_file_atomically(run.claims() / "7", "");
  const auto lease = Lease::acquire(run, never, kHasty);
  CATCH_CHECK(lease->epoch() == 9);  // 8 has shut 7 out
}

CATCH_TEST_CASE("a process that dies while it writes its claim leaves the run free") {
  const TemporaryFolder folder;
  for (const char* name : {"new", "free before", "claimed twice before"}) {
    const RunDirectory run{folder.path() / name};
    if (name[0] != 'n') Lease::acquire(run, never, kPatient);
    if (name[0] == 'c') Lease::acquire(run, never, kPatient);
    Child child([&] {
      const rlimit no_bytes{.rlim_cur = 0, .rlim_max = 0};
      ::signal(SIGXFSZ, SIG_DFL);
      ::setrlimit(RLIMIT_FSIZE, &no_bytes);  // the first byte of a file kills
      Lease::acquire(run, never, kPatient);
      return 0;
    });
    CATCH_CHECK(child.wait() == -SIGXFSZ);
    CATCH_CHECK_FALSE(looks_taken(run));
    const auto lease = Lease::acquire_if_free(run, kPatient);
    CATCH_REQUIRE(lease);
    for (const auto& entry : fs::directory_iterator(run.claims())) {
      CATCH_CHECK(entry.path().filename().string()[0] != '.');
    }
  }
}

CATCH_TEST_CASE("of many processes at once each gets its turn, alone") {
  const TemporaryRun run;
  const auto counter = run.path / "counter";
  write_file_atomically(counter, "0");
  constexpr int kProcesses = 16, kTurns = 5;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const auto lease = Lease::acquire(run, never, kPatient);
        const int before = std::stoi(read_file(counter));
        std::this_thread::sleep_for(1ms);
        std::ofstream(counter) << before + 1;  // lost if two do it at once
      }
      return 0;
    }));
  }
  for (const auto& child : children) CATCH_CHECK(child->wait() == 0);
  CATCH_CHECK(read_file(counter) == std::to_string(kProcesses * kTurns));
}

CATCH_TEST_CASE("who takes a run removes what killed writers left, and only that") {
  const TemporaryRun run;
  for (const char* name : {".result.json.12.0.tmp", ".status.json.tmp"}) {
    write_file_atomically(run.path / name, "half");
  }
  const auto by_a_sweep = concat(".config.yaml.", ::getpid(), ".0.tmp");  // just being written
  for (const auto& name :
       {std::string("config.yaml"), std::string("mine.tmp"), std::string(".hidden"), by_a_sweep}) {
    write_file_atomically(run.path / name, "whole");
  }
  auto lease = Lease::acquire(run, never, kPatient);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(run.path)) {
    names.insert(entry.path().filename().string());
  }
  CATCH_CHECK(names ==
              std::set<std::string>{by_a_sweep, ".hidden", "claims", "config.yaml", "mine.tmp"});
}

CATCH_TEST_CASE("the silence can be set, and a wrong one is refused") {
  ::setenv("DIFFLAB_LEASE_SECONDS", "1.5", 1);
  CATCH_CHECK(LeaseTimes::from_environment().silence == 1500ms);
  CATCH_CHECK(LeaseTimes::from_environment().beat == 250ms);
  for (const char* bad : {"0", "-1", "soon", "1s", "1e99"}) {
    ::setenv("DIFFLAB_LEASE_SECONDS", bad, 1);
    CATCH_CHECK_THROWS_AS(LeaseTimes::from_environment(), UserError);
  }
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
  CATCH_CHECK(LeaseTimes::from_environment().silence == 30s);
}

CATCH_TEST_CASE("a file that somebody has put where the clock is asked keeps its bytes") {
  const TemporaryFolder folder;
  const RunDirectory run{folder.path() / "run"};
  make_directories(run.claims());
  write_file_atomically(run.claims() / "1", "held elsewhere another/machine 1\n");
  const auto bait = folder.path() / "bait";
  const auto place = run.claims() / concat(".now.", host_name(), ".", ::getpid());
  const auto nothing = [](const fs::path&) {};
  for (const auto& plant : std::vector<std::function<void(const fs::path&)>>{
           nothing, [&](const fs::path& at) { fs::create_symlink(bait, at); },
           [&](const fs::path& at) { fs::create_hard_link(bait, at); },
           [&](const fs::path& at) { fs::create_symlink(folder.path() / "new", at); },
           [&](const fs::path& at) { write_file_atomically(at, "of a process that was killed"); },
           [&](const fs::path& at) { fs::create_directories(at / "x"); }}) {
    write_file_atomically(bait, "precious");
    plant(place);
    CATCH_CHECK(looks_taken(run));
    CATCH_CHECK(read_file(bait) == "precious");
    CATCH_CHECK_FALSE(fs::exists(folder.path() / "new"));
  }
}

}  // namespace
}  // namespace difflab
