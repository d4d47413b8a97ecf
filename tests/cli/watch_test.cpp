// `difflab watch`: what others see of a sweep that goes on.
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "cli/driver.h"
#include "support/catch.h"
#include "util/terminal/terminal.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver, testing::eventually;

std::map<std::string, std::string> bytes_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    files[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
  }
  return files;
}

struct Frozen : Driver {
  Frozen() { CATCH_REQUIRE(call({"sweep", "tiny", "--freeze"}).code == 0); }
};

CATCH_TEST_CASE("watch --once shows a frozen sweep and leaves its folder as it is") {
  Frozen driver;
  CATCH_CHECK_THAT(
      driver.call({"watch", "--once", driver.output()}, 0).out,
      Contains("tiny/default: 0/6 done\n") && Contains("model=transformer seed=0  new\n"));
  driver.workers.set(R"({"exit": {"seed: 2": 2}})");
  CATCH_CHECK(driver.call({"work", driver.output()}).code == 1);
  const auto files = bytes_below(driver.results());
  const Answer after = driver.call({"watch", driver.output(), "--once"});
  CATCH_CHECK_THAT(after.out, Contains("tiny/default: 4/6 done · 2 failed\n") &&
                                  Contains("\nmodel=diff seed=1         finished  5/5  ") &&
                                  Contains("failed: model=diff seed=2\n"
                                           "    the fake task is impossible\n"));
  CATCH_CHECK(bytes_below(driver.results()) == files);
}

CATCH_TEST_CASE("watch without a terminal logs what changes until every run is done") {
  Frozen driver;
  driver.workers.set(R"({"steps": 5, "step_ms": 20})");
  const auto watch = driver.start({"watch", driver.output(), "--every=0.02"});
  CATCH_CHECK(driver.call({"work", driver.output(), "--workers=2"}).code == 0);
  const Answer answer = Driver::finish(*watch, 0);
  CATCH_CHECK_THAT(answer.out, Contains("model=diff seed=2: finished\n") && !Contains("\x1b"));
  CATCH_CHECK_THAT(answer.out, Catch::StartsWith("tiny/default: 0/6 done"));
}

CATCH_TEST_CASE("watch goes on with the runs that finished ones decide on") {
  Driver driver;
  driver.write("experiments/tuned.yaml", R"(# @package _global_
sweep: {model: [transformer, diff], seed: range(2)}
unmatched: they need not be
tune: {key: train.lr, values: [1e-3, 3e-3, 1e-2], seeds: 1, grow: false}
tables: [{name: table, rows: model, columns: [valid_loss]}]
)");
  driver.workers.set(R"({"steps": 5, "step_ms": 50})");
  const auto watch = driver.start({"watch", "tuned", "--every=0.02"});
  CATCH_CHECK(driver.call({"sweep", "tuned"}).code == 0);
  const Answer answer = Driver::finish(*watch, 0);
  CATCH_CHECK_THAT(answer.out, Contains("/6] model=diff train.lr=0.01 seed=10000: finished\n") &&
                                   Contains("/4] model=diff seed=1: finished\n"));
}

CATCH_TEST_CASE("watch takes an experiment with its overrides, runs, and whole results folders") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const Answer experiment = driver.call({"watch", "--once", "tiny", "preset=more"});
  CATCH_CHECK_THAT(experiment.out, Contains("tiny/more: 6/8 done\n"));
  const auto id = fs::directory_iterator(driver.results() / "runs")->path().filename().string();
  CATCH_CHECK_THAT(driver.call({"watch", "--once", id.substr(0, 6)}).out,
                   Contains(id + ": 1/1 done\n"));
  CATCH_CHECK_THAT(driver.call({"watch"}).out, Contains("every run in ") && Contains("finished"));
  fs::remove(driver.results() / "runs" / id / "result.json");
  CATCH_CHECK_THAT(driver.call({"watch", "--once"}).out, Contains(": 0/1 done") &&
                                                             Contains(id.substr(0, 8) + " ") &&
                                                             Contains("interrupted"));
}

CATCH_TEST_CASE("a results folder that is watched shows new runs and no finished ones") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  std::vector<fs::path> results;
  for (const auto& run : fs::directory_iterator(driver.results() / "runs")) {
    results.push_back(run.path() / "result.json");
  }
  const auto text = read_file(results[0]);
  fs::remove(results[0]);
  const auto watch = driver.start({"watch", "--every=0.02"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto next = read_file(results[1]);
  fs::remove(results[1]);  // begun when the other one ends
  write_file_atomically(results[0], text);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  write_file_atomically(results[1], next);
  const Answer answer = Driver::finish(*watch, 0);
  CATCH_INFO(answer.out << answer.err);
  std::size_t finished = 0;
  for (auto at = answer.out.find(": finished"); at != answer.out.npos;
       at = answer.out.find(": finished", at + 1)) {
    ++finished;
  }
  CATCH_CHECK(finished <= 2);
}

CATCH_TEST_CASE("watch says what it needs when it is pointed at nothing it knows") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"watch", "tinny"}, 2).err,
                   Contains("'tinny' is neither a folder nor an experiment"));
  CATCH_CHECK_THAT(driver.call({"watch", driver.project()}).err,
                   Contains("expected the output of"));
  CATCH_CHECK_THAT(driver.call({"watch", "seed=1"}).err, Contains("expected an experiment"));
}

// A program on a terminal of its own.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& arguments, ScreenSize size) {
    winsize window = to_window(size);
    pid_ = ::forkpty(&master_, nullptr, nullptr, &window);
    CATCH_REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    ::setenv("TERM", "xterm", 1);
    std::vector<char*> argv{const_cast<char*>(DIFFLAB_BUILD "/difflab")};
    for (const auto& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Terminal() {
    if (!ended_) ::kill(pid_, SIGKILL);
    exit_code();
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool shows(const std::string& text) {
    return eventually([&] {
      read_more();
      return output_.find(text) != output_.npos;
    });
  }
  void forget() { output_.clear(); }
  void resize(ScreenSize size) const {
    const winsize window = to_window(size);
    ::ioctl(master_, TIOCSWINSZ, &window);
  }
  void type(char key) const { CATCH_REQUIRE(::write(master_, &key, 1) == 1); }
  const std::string& output() const { return output_; }
  int exit_code() {
    while (!ended_) {
      read_more();
      ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    }
    read_more();
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  static winsize to_window(ScreenSize size) {
    winsize window{};
    window.ws_col = static_cast<unsigned short>(size.width);
    window.ws_row = static_cast<unsigned short>(size.height);
    return window;
  }
  void read_more() {
    std::array<char, 4096> buffer{};
    pollfd source{master_, POLLIN, 0};
    while (::poll(&source, 1, 5) > 0 && (source.revents & POLLIN) != 0) {
      const auto count = ::read(master_, buffer.data(), buffer.size());
      if (count <= 0) return;
      output_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  int master_ = -1;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  std::string output_;
};

CATCH_TEST_CASE("on a terminal watch fills a page of its own, follows its size, ends by Ctrl-C") {
  Frozen driver;
  Terminal terminal({"watch", driver.output().string()}, {.width = 90, .height = 20});
  CATCH_CHECK(terminal.shows("\x1b[?1049h"));
  CATCH_CHECK(terminal.shows("model=transformer seed=0  new"));
  CATCH_CHECK(terminal.shows("Ctrl-C ends this view"));
  terminal.forget();
  terminal.resize({.width = 30, .height = 9});
  CATCH_CHECK(terminal.shows("… and 2 more: 2 new"));
  CATCH_CHECK(terminal.shows("model=tra…er seed=0"));
  terminal.forget();
  terminal.type('\x03');
  CATCH_CHECK(terminal.exit_code() == 130);
  const auto first_page = terminal.output().find("\x1b[?25h\x1b[?1049l");
  CATCH_REQUIRE(first_page != std::string::npos);
  CATCH_CHECK_THAT(terminal.output().substr(first_page), Contains("tiny/default: 0/6 done"));
}

CATCH_TEST_CASE("on a terminal watch ends by itself when the sweep has ended") {
  Frozen driver;
  driver.workers.set(R"({"exit": {"seed: 2": 2}})");
  CATCH_CHECK(driver.call({"work", driver.output()}).code == 1);
  Terminal terminal({"watch", driver.output().string(), "--every=0.05"}, {});
  CATCH_CHECK(terminal.exit_code() == 1);
  CATCH_CHECK_THAT(terminal.output(), Contains("4/6 done · 2 failed"));
}

}  // namespace
}  // namespace difflab
