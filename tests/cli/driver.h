#pragma once
// Runs the real driver in a project of its own, with fake workers.

#include <csignal>

#include "support/catch.h"
#include "support/fake_runs.h"
#include "util/process.h"

namespace difflab::testing {

struct Answer {
  int code = 0;
  std::string out, err;
};

class Driver {
 public:
  /// @param knobs of its workers
  explicit Driver(const std::string& knobs = "{}") {
    workers.set(knobs);
    fs::create_directories(project());
    fs::copy(fs::path(DIFFLAB_ROOT) / "configs", project() / "configs",
             fs::copy_options::recursive);
    write("experiments/tiny.yaml", kTiny);
    ::setenv("DIFFLAB_ROOT", project().c_str(), 1);
  }

  std::filesystem::path project() const { return workers.folder() / "a project"; }
  std::filesystem::path results() const { return project() / "results"; }
  std::filesystem::path output() const { return results() / "tiny" / "default"; }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((project() / file).parent_path());
    write_file_atomically(project() / file, text);
  }

  std::unique_ptr<Process> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), DIFFLAB_BUILD "/difflab");
    return std::make_unique<Process>(arguments);
  }
  /// @param code that the command must end with, if one is given
  static Answer finish(Process& process, std::optional<int> code = {}) {
    Answer answer;
    while (process.output_open()) {
      for (const auto& line : process.read_lines(std::chrono::seconds(60))) {
        answer.out += line + "\n";
      }
    }
    const auto ended = process.wait();
    answer.code = ended.signal == 0 ? ended.code : 128 + ended.signal;  // as a shell tells it
    answer.err = process.error_tail();
    CATCH_INFO(answer.out << answer.err);
    if (code) CATCH_CHECK(answer.code == *code);
    return answer;
  }
  Answer call(const std::vector<std::string>& arguments, std::optional<int> code = {}) const {
    return finish(*start(arguments), code);
  }
  Answer sweep(std::optional<int> code = {}) const { return call({"sweep", "tiny"}, code); }
  /// Starts a command for each number and ends it, by SIGKILL and by SIGINT in turn, when as many
  /// runs have ended.
  void kill_after(const std::vector<std::size_t>& ends,
                  const std::vector<std::string>& arguments) const {
    int signal = SIGKILL;
    for (const std::size_t number : ends) {
      auto driver = start(arguments);
      CATCH_REQUIRE(eventually([&] { return workers.ends().size() >= number; }));
      driver->kill(std::exchange(signal, signal == SIGKILL ? SIGINT : SIGKILL));
      finish(*driver);
    }
  }

  /// The bytes of every table file.
  std::string tables() const {
    std::string bytes;
    for (const char* file : {"table.md", "table.csv", "table.tex"}) {
      bytes += read_file(output() / file);
    }
    return bytes;
  }

  FakeWorkers workers;

 private:
  static constexpr const char* kTiny = R"(# @package _global_
title: Does the sweep work?
question: Do six runs end with the same table whatever happens to them?
baseline: transformer
sweep:
  model: [transformer, diff]
  seed: range(3)
tables:
  - name: table
    rows: model
    columns: [parameters, needle_accuracy, valid_loss]
presets:
  default: {}
  more: {sweep: {seed: range(4)}}
)";
};

}  // namespace difflab::testing
