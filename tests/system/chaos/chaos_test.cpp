// Sweeps under fire. The oracle of every case: when the disturbance is over, the same command ends
// with the tables of an undisturbed sweep, byte for byte, no run was executed to its end twice, and
// no temporary file is left.
//
// ctest gives a quick dose; the figures of docs/reliability.md come from
//   DIFFLAB_CHAOS=full build/release/tests/chaos_test
// Kills fall at random instants; DIFFLAB_CHAOS_SEED repeats their sequence, not their instants.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "cli/driver.h"
#include "record/lease.h"
#include "support/catch.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using testing::Answer;
using testing::Driver;
using testing::eventually;

constexpr int kRuns = 30;

bool full_dose() {
  const char* dose = std::getenv("DIFFLAB_CHAOS");
  return dose != nullptr && std::string(dose) == "full";
}

int dose(int quick, int full) { return full_dose() ? full : quick; }

std::mt19937& chance() {
  static std::mt19937 engine = [] {
    const char* given = std::getenv("DIFFLAB_CHAOS_SEED");
    const auto seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    std::cout << "DIFFLAB_CHAOS_SEED=" << seed << std::endl;
    return std::mt19937(static_cast<std::mt19937::result_type>(seed));
  }();
  return engine;
}

int random_up_to(int most) { return std::uniform_int_distribution(0, most)(chance()); }

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Only what is still one of our workers: a number of a process that is gone may be anybody's.
bool kill_worker(pid_t process, int signal) {
  std::error_code error;
  const auto program = fs::read_symlink(concat("/proc/", process, "/exe"), error);
  return process > 0 && !error && program == fs::canonical(testing::FakeWorkers::program()) &&
         ::kill(process, signal) == 0;
}

// A project with a sweep of kRuns runs of a few hundred milliseconds.
struct Field : Driver {
  explicit Field(fs::path place = {}) : where(place.empty() ? results() : std::move(place)) {
    workers.set(R"({"steps": 8, "step_ms": 20})");
  }
  std::vector<std::string> command() const {
    return {"sweep",
            "tiny",
            "seed=range(15)",
            "launcher.workers=4",
            "launcher.retries=1000",
            "results=" + where.string()};
  }
  std::unique_ptr<Process> go() const { return start(command()); }

  std::string result_tables() const {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(where / "tiny")) {
      for (const char* file : {"table.md", "table.csv", "table.tex"}) {
        bytes += read_file(entry.path() / file);
      }
    }
    return bytes;
  }

  const fs::path where;
};

const std::string& undisturbed() {
  static const std::string tables = [] {
    const Field field;
    const Answer answer = field.call(field.command());
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == 0);
    return field.result_tables();
  }();
  return tables;
}

// Ends with one of these exit codes, and not by a signal of its own making.
int calm_end(Process& driver, const std::vector<int>& codes) {
  const Answer answer = Driver::finish(driver);
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(driver.wait().signal == 0);
  CATCH_CHECK(std::find(codes.begin(), codes.end(), answer.code) != codes.end());
  return answer.code;
}

// The same command once more, without disturbance, and what it must have led to.
void check_the_end(const Field& field) {
  const Answer answer = field.call(field.command());
  CATCH_INFO(answer.out << answer.err);
  CATCH_REQUIRE(answer.code == 0);
  CATCH_REQUIRE(field.result_tables() == undisturbed());
  for (const auto& [id, times] : field.workers.ends()) {
    CATCH_INFO(id);
    CATCH_CHECK(times == 1);
  }
  int runs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(field.where)) {
    const auto name = entry.path().filename().string();
    CATCH_INFO(entry.path());
    CATCH_CHECK_FALSE(name.ends_with(".tmp"));
    CATCH_CHECK(name.find(".writable") == name.npos);
    runs += name == "result.json" ? 1 : 0;
  }
  CATCH_CHECK(runs == kRuns);
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
    for (start_anew(); killed_at(call, n, run.path); n += dose(7, 1), start_anew()) {
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
  CATCH_CHECK(kills > 10);
  std::cout << kills << " kills at a system call, " << with_result
            << " of them with the result there" << std::endl;
}

CATCH_TEST_CASE("Ctrl-C at any instant") {
  const int wanted = dose(3, 100);
  for (int i = 0; i < wanted; ++i) {
    const Field field;
    auto driver = field.go();
    sleep_ms(100 + random_up_to(900));
    driver->kill(SIGINT);
    Driver::finish(*driver);  // by the signal itself if it came before the handler
    check_the_end(field);
  }
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
  int stopped = 0;
  while (stopped < wanted) {
    Field field;
    auto first = field.go();
    CATCH_REQUIRE(eventually([&] { return field.workers.starts().size() >= 6; }));
    std::vector<pid_t> asleep;
    for (const auto& start : field.workers.starts()) {
      if (kill_worker(start.pid, SIGSTOP)) asleep.push_back(start.pid);
    }
    auto second = field.go();
    sleep_ms(700 + random_up_to(600));
    for (const pid_t process : asleep) kill_worker(process, SIGCONT);
    stopped += static_cast<int>(asleep.size());
    CATCH_CHECK(Driver::finish(*first).code == 0);
    CATCH_CHECK(Driver::finish(*second).code == 0);
    check_the_end(field);
  }
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
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

CATCH_TEST_CASE("files that may not grow: the runs say so, and go on when they may") {
  for (const int bytes : {0, 1, 100, 1'000}) {
    const Field field;
    auto argv = field.command();
    argv.insert(argv.begin(),
                {"/usr/bin/prlimit", concat("--fsize=", bytes), DIFFLAB_BUILD "/difflab"});
    Process driver(argv);
    CATCH_INFO(bytes << " bytes");
    calm_end(driver, {1, 2});
    check_the_end(field);
  }
}

CATCH_TEST_CASE("a results folder that is deleted in mid-sweep") {
  for (int i = 0; i < dose(2, 20); ++i) {
    const Field field;
    auto driver = field.go();
    sleep_ms(200 + random_up_to(600));
    std::error_code ignored;
    for (int again = 0; again < 3; ++again) fs::remove_all(field.where, ignored);
    calm_end(*driver, {0, 1, 2});
    field.workers.forget();
    check_the_end(field);
  }
}

// A filesystem of a given size; needs the right to mount.
class SmallDisk {
 public:
  explicit SmallDisk(int kilobytes) : mounted_(mount(kilobytes, 0)) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  bool grow(int kilobytes) const { return mount(kilobytes, MS_REMOUNT); }
  fs::path path() const { return folder_.path() / "results"; }

 private:
  bool mount(int kilobytes, unsigned long flags) const {
    return ::mount("none", folder_.path().c_str(), "tmpfs", flags,
                   concat("size=", kilobytes, "k").c_str()) == 0;
  }
  testing::TemporaryFolder folder_;
  bool mounted_;
};

void say_skipped(const char* what) {
  std::cerr << "SKIPPED: " << what << ": no right to mount or remount a small disk" << std::endl;
}

CATCH_TEST_CASE("a disk that is full: the runs say so, and go on when there is space") {
  const int sizes = dose(3, 50);
  for (int i = 0; i < sizes; ++i) {
    const int kilobytes = 16 + (i * 1'000) / sizes;
    const SmallDisk disk(kilobytes);
    if (!disk.mounted()) return say_skipped("a full disk");
    const Field field(disk.path());
    const auto driver = field.go();
    CATCH_INFO(kilobytes << " KiB");
    calm_end(*driver, {0, 1, 2});
    if (!disk.grow(100'000)) return say_skipped("a full disk");
    check_the_end(field);
  }
  std::cout << "disk full at " << sizes << " sizes" << std::endl;
}

// A read-only mount would do, but the kernel makes none while runs have their logs open.
void set_writable(const fs::path& folder, bool writable) {
  const auto change = [writable](const fs::path& path) {
    std::error_code gone;
    fs::permissions(path, fs::perms::owner_write,
                    writable ? fs::perm_options::add : fs::perm_options::remove, gone);
  };
  if (fs::exists(folder)) change(folder);  // first, so that nothing new appears below
  std::error_code gone;
  for (fs::recursive_directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    if (entry->is_directory(gone)) change(entry->path());
  }
}

// For root nothing is read-only: the driver gets another user, who owns the folder. Empty if that
// user cannot reach the programs.
std::optional<std::vector<std::string>> without_rights(const fs::path& folder) {
  if (::geteuid() != 0) return std::vector<std::string>{};
  constexpr uid_t kNobody = 65534;
  fs::permissions(folder, fs::perms::owner_all | fs::perms::group_all | fs::perms::others_read |
                              fs::perms::others_exec);
  bool owned = ::chown(folder.c_str(), kNobody, kNobody) == 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    owned = owned && ::lchown(entry.path().c_str(), kNobody, kNobody) == 0;
  }
  const std::vector<std::string> words = {"/usr/bin/setpriv", concat("--reuid=", kNobody),
                                          concat("--regid=", kNobody), "--clear-groups"};
  auto probe = words;
  probe.insert(probe.end(), {DIFFLAB_BUILD "/difflab", "--version"});
  if (!owned || !fs::exists(words[0]) || !run_program(probe).status.success()) return std::nullopt;
  return words;
}

CATCH_TEST_CASE("folders that become read-only in mid-sweep: the runs say so, and go on later") {
  const int times = dose(1, 20);
  for (int i = 0; i < times; ++i) {
    const Field field;
    const auto before = without_rights(field.workers.folder());
    if (!before) {
      std::cerr << "SKIPPED: read-only folders: no user without rights can run the programs"
                << std::endl;
      return;
    }
    auto argv = field.command();
    argv.insert(argv.begin(), DIFFLAB_BUILD "/difflab");
    argv.insert(argv.begin(), before->begin(), before->end());
    Process driver(argv);
    CATCH_REQUIRE(eventually([&] { return !field.workers.starts().empty(); }));
    sleep_ms(random_up_to(600));
    set_writable(field.where, false);
    calm_end(driver, {0, 1, 2});
    set_writable(field.where, true);
    check_the_end(field);
  }
  std::cout << "folders read-only " << times << " times" << std::endl;
}

}  // namespace
}  // namespace difflab
