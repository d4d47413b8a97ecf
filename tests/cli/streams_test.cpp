// What a command does whose standard streams are missing or full, and whom it waits for.
#include <pty.h>
#include <sys/wait.h>

#include "cli/driver.h"
#include "record/lease.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver, testing::eventually;

constexpr const char* kProgram = DIFFLAB_BUILD "/difflab";

Printed in_shell(const std::string& command) {
  return run_program({"/bin/sh", "-c", concat("timeout 60 ", kProgram, " ", command)});
}

CATCH_TEST_CASE("output that cannot be written is an error of every command") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto results = concat("'", driver.results().string(), "'");
  for (const auto& command : std::vector<std::string>{
           "", "--help", "--version", "runs --json --results " + results, "list keys",
           "list experiments", "completion bash", "config tiny", "export csv " + results,
           "sweep tiny --dry-run", "params tiny", "plot tiny", "watch tiny --once", "sweep tiny"}) {
    for (const char* where : {">/dev/full", ">&-"}) {
      CATCH_INFO(command << where);
      const auto answer = in_shell(command + where);
      CATCH_CHECK(answer.status.code == 2);
      CATCH_CHECK_THAT(answer.errors, Contains("cannot write to standard output"));
    }
  }
}

CATCH_TEST_CASE("a sweep needs none of its standard streams") {
  for (const char* closed : {"<&-", "<&- 2>&-", "<&- >&- 2>&-", "2>&-"}) {
    const Driver driver;
    CATCH_INFO(closed);
    const int code = in_shell(concat("sweep tiny ", closed)).status.code;
    CATCH_CHECK(code == (std::string_view(closed).find(" >&-") == std::string_view::npos ? 0 : 2));
    CATCH_CHECK(driver.workers.ends().size() == 6);
  }
}

CATCH_TEST_CASE("any signal that asks a sweep to end lets the runs save their state") {
  for (const int signal : {SIGXCPU, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPWR}) {
    Driver driver(R"({"idle": ["seed"]})");
    const auto process = driver.start({"sweep", "tiny", "launcher.workers=2"});
    CATCH_REQUIRE(eventually([&] { return driver.workers.starts().size() == 2; }));
    process->kill(signal);
    if (signal == SIGXCPU) process->kill(signal);  // as the kernel does
    CATCH_INFO(signal);
    const Answer answer = Driver::finish(*process, 130);
    CATCH_CHECK_THAT(answer.err, Contains("interrupted: 0 of 6 runs done"));
    CATCH_CHECK_THAT(driver.call({"runs", "--json"}).out, Contains("interrupted"));
  }
}

CATCH_TEST_CASE("a sweep says whom it waits for, and for how long") {
  const Driver driver;
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  const auto plan = Json::parse(read_file(driver.output() / "plan.json"));
  const RunDirectory run{driver.results() / "runs" / plan["runs"][0]["id"].get<std::string>()};
  make_directories(run.claims());
  write_file_atomically(run.claims() / "1", "held cluster7/boot 4711\n00000000000000000001\n");
  ::setenv("DIFFLAB_LEASE_SECONDS", "1", 1);
  const Answer answer = driver.sweep(0);
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
  CATCH_CHECK_THAT(answer.err,
                   Contains("waiting for a run held by process 4711 on "
                            "cluster7; if that says nothing for 1s, this sweep takes over"));
}

CATCH_TEST_CASE("an experiment cannot take the name of a folder of the results") {
  const Driver driver;
  const auto text = read_file(driver.project() / "experiments/tiny.yaml");
  for (const std::string name : {"runs", "trainings", "needle", "index.html", "README.md"}) {
    driver.write("experiments/" + name + ".yaml", text);
    for (const char* command : {"sweep", "plot"}) {
      CATCH_CHECK_THAT(driver.call({command, name}, 2).err,
                       Contains("an experiment cannot be called " + name));
    }
  }
  driver.write("experiments/runs_2.yaml", text);
  CATCH_CHECK(driver.call({"sweep", "runs_2"}).code == 0);
}

// What a command prints on a terminal.
std::string on_terminal(const std::vector<std::string>& words) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    std::vector<char*> argv{const_cast<char*>(kProgram)};
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(kProgram, argv.data());
    ::_exit(127);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return text;
}

CATCH_TEST_CASE("what others have written reaches a terminal without its escapes") {
  Driver driver(R"({"exit": {"seed: 2": 2}})");
  CATCH_REQUIRE(driver.sweep().code == 1);
  const std::string evil = "\x1b]0;owned\x07\x1b[2J";
  const auto results = driver.results().string();
  for (const auto& entry : fs::directory_iterator(driver.results() / "runs")) {
    const RunDirectory run{entry.path()};
    write_file_atomically(run.log(), evil + "\n");
    if (read_file(run.status()).find("impossible") == std::string::npos) continue;
    write_file_atomically(run.status(), Json{{"state", "failed"}, {"message", evil}}.dump());
  }
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"logs", results},
                                             {"runs", "--columns=id,message"},
                                             {"status", driver.output()},
                                             {"watch", "--once", driver.output()},
                                             {"config", "tiny", "model=" + evil},
                                             {"plot", "tiny"}}) {
    CATCH_INFO(words.front());
    const auto text = on_terminal(words);
    CATCH_CHECK(text.find('\x1b') == std::string::npos);
    CATCH_CHECK(text.find('\x07') == std::string::npos);
    CATCH_CHECK_FALSE(text.empty());
  }
}

}  // namespace
}  // namespace difflab
