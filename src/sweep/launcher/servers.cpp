#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "record/lease.h"
#include "sweep/launcher/launcher.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kReady = "ready";
constexpr auto kToBeReady = std::chrono::minutes(2);

// Reads "done EXITCODE DIR", "killed SIGNAL DIR" or "refused ERRNO DIR"; nothing for any other
// line.
std::optional<JobEnd> parse_end(std::string_view line) {
  JobEnd end{};
  const auto first = line.find(' ');
  const auto second = line.find(' ', first == line.npos ? first : first + 1);
  if (second == line.npos) return std::nullopt;
  static const std::map<std::string_view, JobEnd::How> kWords{
      {"done", JobEnd::How::kExited},
      {"killed", JobEnd::How::kKilled},
      {"refused", JobEnd::How::kRefused},
  };
  const auto word = kWords.find(line.substr(0, first));
  if (word == kWords.end()) return std::nullopt;
  end.how = word->second;
  const auto code = parse_whole<int>(line.substr(first + 1, second - first - 1));
  if (!code) return std::nullopt;
  end.code = *code;
  if (end.how == JobEnd::How::kRefused) {
    end.reason = concat("cannot start a process: ", std::strerror(std::exchange(end.code, 0)));
  }
  end.directory = line.substr(second + 1);
  return end;
}

struct Server {
  ServerPlace place;
  std::unique_ptr<Process> process = {};
  std::set<std::string> in_flight = {};
  Clock::time_point started = {};
  bool is_ready = false;        ///< the process has begun to take runs
  Clock::time_point rest = {};  ///< until then it gets no run
  std::string program = {};     ///< that the last process ran here
  std::string failure = {};     ///< why a process ended before it took runs

  int free() const {
    return Clock::now() < rest ? 0 : place.capacity - static_cast<int>(in_flight.size());
  }
};

class Servers : public Launcher {
 public:
  explicit Servers(std::vector<ServerPlace> places) {
    for (auto& place : places) servers_.push_back({.place = std::move(place)});
  }

  int capacity() const override {
    int runs = 0;
    for (const auto& server : servers_) {
      runs += static_cast<int>(server.in_flight.size()) + std::max(0, server.free());
    }
    return runs;
  }

  void submit(const fs::path& directory) override {
    auto& server = *std::ranges::max_element(servers_, {}, &Server::free);
    if (!server.process) {
      const auto command = server.place.command(directory);
      server.program = command.front();
      server.process = std::make_unique<Process>(command);
      server.started = Clock::now();
      server.is_ready = false;
    }
    server.in_flight.insert(directory.string());
    server.process->send(concat(directory.string(), "\n"));  // if it is gone, wait() finds out
  }

  std::vector<JobEnd> wait(std::chrono::milliseconds timeout) override {
    std::vector<JobEnd> ends;
    const auto active = std::ranges::count_if(
        servers_, [](const Server& server) { return server.process != nullptr; });
    for (auto& server : servers_) {
      if (!server.process) continue;
      const auto patience = ends.empty() ? timeout / active : std::chrono::milliseconds(0);
      for (const auto& line : server.process->read_lines(patience)) {
        if (line == kReady) was_ready_ = server.is_ready = true;
        auto end = parse_end(line);
        if (!end || server.in_flight.erase(end->directory.string()) == 0) continue;
        ends.push_back(std::move(*end));
      }
      const bool is_late = !server.place.host.empty() && !server.is_ready &&
                           Clock::now() - server.started > kToBeReady;
      if (is_late) server.process->kill_group(SIGKILL);
      if (is_late || !server.process->output_open()) lose(server, ends);
    }
    return ends;
  }

  // A host's runs save their state when their server's input ends.
  void interrupt() override {
    stopping_ = true;
    for (auto& server : servers_) {
      if (!server.process) continue;
      if (server.place.host.empty()) {
        server.process->kill(SIGTERM);
      } else {
        server.process->close_input();
      }
    }
  }

  void kill() override {
    stopping_ = true;
    for (auto& server : servers_) {
      if (server.process) server.process->kill_group(SIGKILL);
    }
  }

 private:
  void lose(Server& server, std::vector<JobEnd>& ends) {
    const ExitStatus status = server.process->wait();
    const std::string said = server.process->error_tail();
    server.process.reset();
    const auto& host = server.place.host;
    const auto why = concat(host.empty() ? "the worker program ended" : host, ": ", status.text(),
                            said.empty() ? "" : concat(": ", last_line(said)));
    // Its runs are free again when their leases have run out.
    if (!host.empty()) server.rest = Clock::now() + LeaseTimes::from_environment().silence;
    // One that gives up by itself before it takes runs will do so again.
    const bool is_lost = stopping_ || server.is_ready || (host.empty() && status.signal != 0);
    if (!is_lost) {
      server.failure = why;
      if (host.empty()) {
        throw UserError(concat("the worker program ", server.program, " does not start (",
                               status.text(), ")", said.empty() ? "" : concat(":\n", said)));
      }
      require_a_start();
    }
    for (const auto& directory : std::exchange(server.in_flight, {})) {
      ends.push_back({.directory = directory,
                      .how = is_lost ? JobEnd::How::kLost : JobEnd::How::kUnreachable,
                      .reason = why});
    }
  }

  // @throws UserError if no host has ever started its server.
  void require_a_start() const {
    std::vector<std::string> failures;
    for (const auto& server : servers_) {
      if (was_ready_ || server.failure.empty()) return;
      failures.push_back(server.failure);
    }
    throw UserError(join(failures, "\n"));
  }

  std::vector<Server> servers_;
  bool stopping_ = false, was_ready_ = false;
};

}  // namespace

std::unique_ptr<Launcher> launch_in(std::vector<ServerPlace> places) {
  return std::make_unique<Servers>(std::move(places));
}

}  // namespace difflab::sweep
