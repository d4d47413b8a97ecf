// A worker without LibTorch for the tests of sweeps. It speaks the protocol of `difflab-worker
// serve` (src/worker/main.cpp), counts steps where that one trains, saves its step as a
// checkpoint, and takes its results from a hash of the configuration, so that they are the same
// whenever and however often a run was interrupted.
//
// Like that, `run DIR` does one run in this process.
//
// What it shall do beside counting says the JSON file $FAKE_WORKER:
//   {"steps": 10, "step_ms": 1, "journal": FILE,
//    "exit": {TEXT: CODE}, "signal": {TEXT: SIGNAL}, "hang": [TEXT], "idle": [TEXT],
//    "no_start": CODE, "memory_mb": {TEXT: NUMBER}, "loss": {TEXT: NUMBER},
//    "swing": {TEXT: NUMBER}, "live_metrics": true, "room": NUMBER}
// where TEXT picks the runs whose config.yaml contains it. "signal" kills only as long as the file
// DIR/tries has fewer lines than "signal_times" (default: always). "loss" is added to valid_loss
// of the result and of the curve, and so is "swing", with the other sign for odd seeds. Every start
// and end of a run is a line "start ID PID PARENT" or "end ID" of the journal. Metrics are written
// at the end, or with "live_metrics" at every step. "room" is how many processes there can
// be. What hangs listens to no signal, what is idle ends when it is asked to.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record/lease.h"
#include "record/log/event_log.h"
#include "record/run_directory.h"
#include "record/status.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace {

using namespace difflab;

std::atomic<bool> stop_requested{false};

struct Knobs {
  Json json = Json::object();

  static Knobs load() {
    const char* path = std::getenv("FAKE_WORKER");
    return path == nullptr ? Knobs{} : Knobs{Json::parse(read_file(path))};
  }
  int number(const char* name, int otherwise) const { return json.value(name, otherwise); }
  std::optional<int> for_config(const char* name, const std::string& config) const {
    if (!json.contains(name)) return std::nullopt;
    for (const auto& [text, value] : json[name].items()) {
      if (config.find(text) != config.npos) return value.get<int>();
    }
    return std::nullopt;
  }
  // What is added to the losses of a run. A swing is up for even seeds and down for odd ones, so
  // that an even number of them has the mean that they would have without it.
  int planted_loss(const std::string& config) const {
    const auto swing = for_config("swing", config).value_or(0);
    const auto seed = config.find("\nseed: ");
    const bool odd = seed != config.npos && std::stoi(config.substr(seed + 7)) % 2 == 1;
    return for_config("loss", config).value_or(0) + (odd ? -swing : swing);
  }
  bool names(const char* what, const std::string& config) const {
    if (!json.contains(what)) return false;
    for (const auto& text : json[what]) {
      if (config.find(text.get<std::string>()) != config.npos) return true;
    }
    return false;
  }
  void note(const std::string& line) const {
    if (!json.contains("journal")) return;
    const int file = ::open(json["journal"].get<std::string>().c_str(),
                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const std::string text = line + "\n";
    [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
    ::close(file);
  }
};

int lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

void misbehave(const Knobs& knobs, const RunDirectory& run, const std::string& config) {
  if (const auto signal = knobs.for_config("signal", config)) {
    if (lines_of(run.path / "tries") < knobs.number("signal_times", 1 << 30)) {
      std::ofstream(run.path / "tries", std::ios::app) << "killed\n";
      std::signal(*signal, SIG_DFL);  // the sanitizers would turn it into an exit
      ::kill(::getpid(), *signal);
    }
  }
  if (const auto code = knobs.for_config("exit", config)) {
    std::cout << "the fake run gives up" << std::endl;
    if (*code == 2) {
      write_status(run, RunState::kFailed, {}, "the fake task is impossible");
      note_event(run, "failure", {{"message", "the fake task is impossible"}});
    }
    std::exit(*code);
  }
  if (const auto megabytes = knobs.for_config("memory_mb", config)) {
    static std::vector<char> memory;
    memory.assign(static_cast<std::size_t>(*megabytes) << 20, 'x');
  }
  while (knobs.names("hang", config)) ::pause();
  while (knobs.names("idle", config) && !stop_requested) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// In one piece but not synced to disk: what the tests kill are processes, not the machine.
void save_step(const RunDirectory& run, int step) {
  const auto temporary = run.path / ".checkpoint.tmp";
  std::filesystem::remove(temporary);  // a link there would lead elsewhere
  std::ofstream(temporary) << step << std::flush;
  std::filesystem::rename(temporary, run.checkpoint());
}

Json metrics_of(const std::string& config, int steps) {
  const double value = std::stoi(sha256_hex(config).substr(0, 6), nullptr, 16) / double(1 << 24);
  return {{"parameters", 1000},  {"steps", steps},           {"valid_loss", 1 + value},
          {"train_loss", value}, {"needle_accuracy", value}, {"train_seconds", 0.5 + value}};
}

// What metrics.jsonl holds after `steps` steps.
std::string metric_lines(const Knobs& knobs, const std::string& config, int steps) {
  std::string lines;
  for (int i = 1; i <= steps; ++i) {
    Json line = metrics_of(config + std::to_string(i), i);
    line["step"] = i;
    line["valid_loss"] = line["valid_loss"].get<double>() + knobs.planted_loss(config);
    lines += line.dump() + "\n";
  }
  return lines;
}

int run(const Knobs& knobs, const RunDirectory& directory) {
  const auto lease = Lease::acquire(directory, [] { return stop_requested.load(); });
  if (!lease) return 75;
  if (std::filesystem::exists(directory.result())) return 0;
  const std::string config = read_file(directory.config());
  const std::string id = directory.path.filename();
  knobs.note(concat("start ", id, " ", ::getpid(), " ", ::getppid()));
  const int steps = knobs.number("steps", 5);
  int step = 0;
  note_event(directory, "start", {{"epoch", lease->epoch()}});
  if (std::ifstream(directory.checkpoint()) >> step) {
    note_event(directory, "resume", {{"step", step}});
  }
  write_status(directory, RunState::kRunning, {.step = step, .steps = steps});
  misbehave(knobs, directory, config);
  for (; step < steps; ++step) {
    if (stop_requested) {
      write_status(directory, RunState::kInterrupted, {.step = step, .steps = steps});
      note_event(directory, "signal", {{"signal", SIGTERM}});
      return 75;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(knobs.number("step_ms", 1)));
    lease->require_held();
    save_step(directory, step + 1);
    if (knobs.json.contains("live_metrics")) {
      std::ofstream(directory.metrics()) << metric_lines(knobs, config, step + 1);
    }
    note_event(directory, "checkpoint", {{"step", step + 1}});
    write_status(directory, RunState::kRunning, {.step = step + 1, .steps = steps});
  }
  ::prctl(PR_SET_PDEATHSIG, 0);  // from here on there is a result and its line, or neither
  lease->require_held();
  write_file_atomically(directory.metrics(), metric_lines(knobs, config, steps));
  Json metrics = metrics_of(config, steps);
  metrics["valid_loss"] = metrics["valid_loss"].get<double>() + knobs.planted_loss(config);
  const Json result = {{"schema", kResultSchema},    {"id", id},
                       {"status", "finished"},       {"metrics", metrics},
                       {"censored", Json::object()}, {"evaluations", Json::object()}};
  lease->publish_result(result.dump(1) + "\n");
  write_status(directory, RunState::kFinished, {.step = steps, .steps = steps});
  note_event(directory, "finish", {{"state", "finished"}, {"step", steps}});
  note_time(directory, {.training = knobs.number("training_ms", 0) / 1000.0});
  knobs.note("end " + id);
  return 0;
}

int run_or_say_why(const std::string& directory) {
  int code = 70;
  try {
    code = run(Knobs::load(), {directory});
  } catch (const LeaseLost& lost) {
    std::cout << lost.what() << std::endl;
    code = 76;
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
  }
  return code;
}

pid_t fork_run(const std::string& directory, pid_t server) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(1);
  const int log =
      ::open((directory + "/log.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
  if (log < 0) ::_exit(2);
  ::dup2(log, 1);
  ::dup2(log, 2);
  const int code = run_or_say_why(directory);
  ::_exit(code);
}

void report_ends(std::map<pid_t, std::string>& children) {
  int status = 0;
  for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (WIFSIGNALED(status)) {
      std::cout << "killed " << WTERMSIG(status) << ' ' << children[child] << std::endl;
    } else {
      std::cout << "done " << WEXITSTATUS(status) << ' ' << children[child] << std::endl;
    }
    children.erase(child);
  }
}

int serve() {
  const auto room = static_cast<std::size_t>(Knobs::load().number("room", 1 << 20));
  std::map<pid_t, std::string> children;
  std::string pending;
  std::cout << "ready" << std::endl;
  bool open = true, forwarded = false;
  while (open || !children.empty()) {
    pollfd input{open ? 0 : -1, POLLIN, 0};
    if (::poll(&input, 1, 5) > 0) {
      std::array<char, 4096> buffer{};
      const auto count = ::read(0, buffer.data(), buffer.size());
      open = count > 0;
      if (count > 0) pending.append(buffer.data(), static_cast<std::size_t>(count));
    }
    for (auto end = pending.find('\n'); end != pending.npos; end = pending.find('\n')) {
      const std::string directory = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (children.size() >= room) {
        std::cout << "refused " << EAGAIN << ' ' << directory << std::endl;
        continue;
      }
      const pid_t child = fork_run(directory, ::getpid());
      if (child < 0) return 70;  // -1 must never become a process to be signalled
      children[child] = directory;
    }
    if ((stop_requested || !open) && !forwarded) {
      for (const auto& [child, directory] : children) ::kill(child, SIGTERM);
      forwarded = true;
      open = false;
    }
    report_ends(children);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto knobs = Knobs::load();
  if (const int code = knobs.number("no_start", 0); code != 0) {
    std::cerr << "cannot load the library of the fake worker\n";
    return code;
  }
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action {};
    action.sa_handler = [](int) { stop_requested = true; };
    ::sigaction(signal, &action, nullptr);
  }
  if (argc == 3 && std::string(argv[1]) == "run") return run_or_say_why(argv[2]);
  return serve();
}
