#pragma once
// What tests of sweeps share: the knobs and the journal of tests/support/fake_worker.cpp.

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"
#include "util/files.h"
#include "util/json.h"

namespace difflab::testing {

/// Waits for a condition; false if it does not come true within a generous time.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// A folder with the knobs of fake workers started from now on, and what they did.
class FakeWorkers {
 public:
  FakeWorkers() {
    if (const char* previous = std::getenv("FAKE_WORKER")) previous_ = previous;
    ::setenv("FAKE_WORKER", knobs_file().c_str(), 1);
    ::setenv("DIFFLAB_WORKER", program().c_str(), 1);
    set("{}");
  }

  ~FakeWorkers() { ::setenv("FAKE_WORKER", previous_.c_str(), 1); }
  FakeWorkers(const FakeWorkers&) = delete;
  FakeWorkers& operator=(const FakeWorkers&) = delete;

  static std::string program() { return DIFFLAB_BUILD "/tests/fake_worker"; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  void set(const std::string& json) {
    Json knobs = Json::parse(json);
    knobs["journal"] = journal_file();
    write_file_atomically(knobs_file(), knobs.dump());
  }

  struct Start {
    std::string id;
    int pid, server;
  };
  /// The starts of runs so far, in order.
  std::vector<Start> starts() const {
    std::vector<Start> found;
    std::ifstream file(journal_file());
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string what;
      Start start{};
      if (words >> what >> start.id >> start.pid >> start.server) found.push_back(start);
    }
    return found;
  }
  /// How often each run came to its end.
  std::map<std::string, int> ends() const {
    std::map<std::string, int> found;
    std::ifstream file(journal_file());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("end ")) ++found[line.substr(4)];
    }
    return found;
  }
  void forget() const { std::filesystem::remove(journal_file()); }

 private:
  std::string knobs_file() const { return (folder_.path() / "knobs.json").string(); }
  std::string journal_file() const { return (folder_.path() / "journal").string(); }

  TemporaryFolder folder_;
  std::string previous_;  // the knobs of a bench around this one
};

}  // namespace difflab::testing
