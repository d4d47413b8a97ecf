#include "sweep/launcher/local.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "record/provenance.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxWorkers = 1024;

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

class LocalWorkers : public Launcher {
 public:
  LocalWorkers(fs::path worker, int capacity, int cores_per_run)
      : worker_(std::move(worker)), capacity_(capacity), cores_per_run_(cores_per_run) {}

  int capacity() const override { return capacity_; }

  void submit(const fs::path& directory) override {
    if (!server_) {
      hand_on_source_state(worker_);
      server_.emplace(
          std::vector<std::string>{worker_.string(), "serve", std::to_string(cores_per_run_)});
      ends_of_server_ = 0;
    }
    in_flight_.insert(directory.string());
    server_->send(concat(directory.string(), "\n"));  // if it is gone, wait() finds out
  }

  std::vector<JobEnd> wait(std::chrono::milliseconds timeout) override {
    std::vector<JobEnd> ends;
    if (!server_) return ends;
    for (const auto& line : server_->read_lines(timeout)) {
      auto end = parse_end(line);
      if (!end || in_flight_.erase(end->directory.string()) == 0) continue;
      ++ends_of_server_;
      ends.push_back(std::move(*end));
    }
    if (!server_->output_open()) lose_server(ends);
    return ends;
  }

  void interrupt() override {
    stopping_ = true;
    if (server_) server_->kill(SIGTERM);
  }

  void kill() override {
    stopping_ = true;
    if (server_) server_->kill_group(SIGKILL);
  }

 private:
  void lose_server(std::vector<JobEnd>& ends) {
    const ExitStatus status = server_->wait();
    const std::string said = server_->error_tail();
    server_.reset();
    // One that gives up by itself before it has finished anything will do so again.
    if (!stopping_ && !in_flight_.empty() && status.signal == 0 && ends_of_server_ == 0) {
      throw UserError(concat("the worker program ", worker_.string(), " does not start (",
                             status.text(), ")", said.empty() ? "" : concat(":\n", said)));
    }
    for (const auto& directory : std::exchange(in_flight_, {})) {
      ends.push_back({.directory = directory,
                      .how = JobEnd::How::kLost,
                      .reason = concat("the worker program ended: ", status.text(),
                                       said.empty() ? "" : concat(": ", last_line(said)))});
    }
  }

  fs::path worker_;
  int capacity_;
  int cores_per_run_;
  std::optional<Process> server_;
  std::set<std::string> in_flight_;
  int ends_of_server_ = 0;
  bool stopping_ = false;
};

// Bytes of memory of this machine, cut to the limit of its container.
double memory_of_machine() {
  struct sysinfo info {};
  double bytes = ::sysinfo(&info) == 0
                     ? static_cast<double>(info.totalram) * static_cast<double>(info.mem_unit)
                     : 1e18;
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max" or bytes
  if (double most = 0; limit >> most) bytes = std::min(bytes, most);
  return bytes;
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int cores =
      ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : ::get_nprocs();
  std::ifstream quota("/sys/fs/cgroup/cpu.max");  // "max 100000" or "150000 100000"
  double microseconds = 0, period = 0;
  if (quota >> microseconds >> period && period > 0) {
    cores = std::min(cores, std::max(1, static_cast<int>(std::lround(microseconds / period))));
  }
  return cores;
}

int WorkerCount::resolve(int threads_per_run) const {
  return number.value_or(std::max(1, usable_cores() / std::max(1, threads_per_run)));
}

std::optional<WorkerCount> WorkerCount::from_value(const config::Value& value) {
  if (value.is_string() && value.as_string() == "auto") return WorkerCount{};
  if (!value.is_int() || value.as_int() < 1 || value.as_int() > kMaxWorkers) return std::nullopt;
  return WorkerCount{static_cast<int>(value.as_int())};
}

config::Value WorkerCount::to_value() const {
  return number ? config::Value(*number) : config::Value("auto");
}

double LocalLauncher::memory_of_run() const {
  const double limit = static_cast<double>(memory_mb) * (1 << 20);
  return limit > 0 ? std::min(limit, memory_of_machine()) : memory_of_machine();
}

std::unique_ptr<Launcher> LocalLauncher::build(const fs::path& worker, int threads_per_run,
                                               std::size_t runs) const {
  const int capacity = workers.resolve(threads_per_run);
  const int at_once = std::clamp(static_cast<int>(runs), 1, capacity);
  // Who gave a number of workers has said how many cores are theirs.
  const int cores = workers.number ? capacity * threads_per_run : usable_cores();
  return std::make_unique<LocalWorkers>(worker, capacity, std::max(1, cores / at_once));
}

}  // namespace difflab::sweep
