#include "worker/job.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/run_experiment.h"
#include "experiment/saved_run.h"
#include "record/lease.h"
#include "record/log/event_log.h"
#include "record/status.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop = 0;
volatile std::sig_atomic_t interrupts = 0;

void on_signal(int signal) {
  stop = signal;
  if (signal != SIGINT) return;
  if (interrupts > 0) _exit(kInterrupted);
  interrupts = 1;
}

int fail(const RunDirectory& run, const std::string& message, int code) {
  std::cerr << (code == kUserError ? "error: " : "internal error (please report it): ") << message
            << std::endl;
  write_status(run, RunState::kFailed, {}, message);
  note_event(run, "failure", {{"message", message}});
  return code;
}

constexpr auto kGrace = std::chrono::seconds(60);

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : kStopSignals) sigaddset(&set, signal);
  return set;
}

void redirect_output(const fs::path& log) {
  const Descriptor file(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, kNewFileMode));
  if (!file.is_open()) {
    std::cerr << "cannot open " << log.string() << ": " << std::strerror(errno) << std::endl;
    _exit(kUserError);
  }
  ::dup2(file.get(), STDOUT_FILENO);
  ::dup2(file.get(), STDERR_FILENO);
  const Descriptor nothing(::open("/dev/null", O_RDONLY));
  ::dup2(nothing.get(), STDIN_FILENO);
}

// The two ends of what server and child tell each other.
std::pair<Descriptor, Descriptor> connection() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) ends = {-1, -1};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// The child's side: the first job, and those that follow it while the process is young.
class Child {
 public:
  Child(int cores, int server) : cores_(cores), server_(server) {}

  [[noreturn]] void run(std::string directory) {
    while (true) {
      redirect_output(RunDirectory{directory}.log());
      const int code = run_job(directory, cores_, WhenTaken::kGiveUp);
      std::cout.flush();
      // A signal that came too late for this run is not meant for the next one.
      if (code != kDone || stop != 0 || Clock::now() - born_ > kYoung) _exit(code);
      ::malloc_trim(0);
      if (!say_complete()) _exit(code);
      directory = next();
    }
  }

 private:
  static constexpr auto kYoung = std::chrono::seconds(2);

  bool say_complete() const { return ::send(server_, "", 1, MSG_NOSIGNAL) == 1; }

  // Waits until the server gives another job, or lets go.
  std::string next() const {
    std::array<char, PATH_MAX> buffer{};
    const ssize_t count = ::recv(server_, buffer.data(), buffer.size(), 0);
    if (count <= 0) _exit(kDone);  // also on a signal: there is nothing to save
    return {buffer.data(), static_cast<std::size_t>(count)};
  }

  const int cores_, server_;
  const Clock::time_point born_ = Clock::now();
};

class Server {
 public:
  explicit Server(int cores) : cores_(cores) {
    const sigset_t set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &original_);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  }

  int run() {
    // Who asked may be gone when a child ends, which must not take the others with it.
    ::signal(SIGPIPE, SIG_IGN);
    std::cout << "ready" << std::endl;
    while (open_ || !children_.empty()) {
      std::vector<pollfd> sources{{signals_, POLLIN, 0}, {open_ ? STDIN_FILENO : -1, POLLIN, 0}};
      std::vector<pid_t> speakers;
      for (const auto& [process, child] : children_) {
        sources.push_back({child.socket.get(), POLLIN, 0});
        speakers.push_back(process);
      }
      const int patience = last_moment_ ? 1'000 : -1;
      if (::poll(sources.data(), sources.size(), patience) < 0 && errno != EINTR) return kFailed;
      if (last_moment_ && Clock::now() > *last_moment_) kill_children();
      for (std::size_t i = 0; i < speakers.size(); ++i) {
        if (sources[2 + i].revents != 0) listen(speakers[i]);
      }
      if (sources[0].revents != 0) read_signal();
      if (open_ && sources[1].revents != 0) read_jobs();  // a signal may have closed it
    }
    return 0;
  }

 private:
  struct Worker {
    Descriptor socket;      // closed when the child has closed its end
    std::string directory;  // empty: it waits for a job
  };

  void read_signal() {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo == SIGCHLD) {
      reap();
    } else {
      stop();
    }
  }

  void read_jobs() {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
      last_moment_ = Clock::now() + kGrace;
      return stop();
    }
    input_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = input_.find('\n'); end != input_.npos; end = input_.find('\n')) {
      start(input_.substr(0, end));
      input_.erase(0, end + 1);
    }
  }

  // A child has completed its job and waits, or has closed its end and will be reaped.
  void listen(pid_t process) {
    auto& child = children_.at(process);
    char word = 0;
    if (::recv(child.socket.get(), &word, 1, MSG_DONTWAIT) == 1) {
      report(concat("done ", kDone), std::exchange(child.directory, {}));
      if (open_) return;
    }
    child.socket.close();
  }

  bool give_to_waiting(const std::string& directory) {
    for (auto& [process, child] : children_) {
      if (!child.directory.empty() || !child.socket.is_open()) continue;
      const auto sent = ::send(child.socket.get(), directory.data(), directory.size(),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent != static_cast<ssize_t>(directory.size())) continue;
      child.directory = directory;
      return true;
    }
    return false;
  }

  void start(const std::string& directory) {
    if (give_to_waiting(directory)) return;
    std::cout.flush();
    auto [own, of_child] = connection();
    const pid_t server = ::getpid();
    const pid_t process = own.is_open() ? ::fork() : -1;
    if (process < 0) return report(concat("refused ", errno), directory);
    if (process > 0) {
      children_[process] = {std::move(own), directory};
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) _exit(kFailed);  // it died before the line above
    ::close(signals_);
    own.close();
    // Its brothers shall see when the server lets go of them.
    for (auto& [other, child] : children_) child.socket.close();
    install_stop_signals();
    sigprocmask(SIG_SETMASK, &original_, nullptr);
    Child(cores_, of_child.get()).run(directory);
  }

  void reap() {
    int status = 0;
    for (pid_t process = ::waitpid(-1, &status, WNOHANG); process > 0;
         process = ::waitpid(-1, &status, WNOHANG)) {
      const auto found = children_.find(process);
      if (found == children_.end()) continue;
      const auto child = std::move(found->second);
      children_.erase(found);
      if (child.directory.empty()) continue;
      report(WIFSIGNALED(status) ? concat("killed ", WTERMSIG(status))
                                 : concat("done ", WEXITSTATUS(status)),
             child.directory);
    }
  }

  static void report(const std::string& what, const std::string& directory) {
    std::cout << what << ' ' << directory << std::endl;
  }

  void stop() {
    open_ = false;
    for (auto& [process, child] : children_) {
      if (!child.directory.empty()) {
        ::kill(process, SIGTERM);
      } else {
        child.socket.close();
      }
    }
  }

  // As a driver does that is still there.
  void kill_children() const {
    for (const auto& [process, child] : children_) ::kill(process, SIGKILL);
  }

  const int cores_;
  std::optional<Clock::time_point> last_moment_;  ///< of the children, once nobody asks any more
  sigset_t original_{};
  int signals_ = -1;
  bool open_ = true;
  std::string input_;
  std::map<pid_t, Worker> children_;
};

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : kStopSignals) {
    sigaction(signal, &action, nullptr);
  }
}

int run_job(const fs::path& directory, int cores, WhenTaken when_taken) {
  const RunDirectory run{fs::absolute(directory).lexically_normal()};
  std::unique_ptr<Lease> lease;
  // Who has lost the run has also lost its temporary files, and may fail with anything.
  const auto fail_unless_overtaken = [&](const std::string& message, int code) {
    if (!lease || lease->held()) return fail(run, message, code);
    std::cerr << "another process has taken this run over" << std::endl;
    return static_cast<int>(kRunOvertaken);
  };
  try {
    const auto stop_requested = [] { return stop != 0; };
    const bool gives_up = when_taken == WhenTaken::kGiveUp;
    lease = gives_up ? Lease::acquire_if_free(run) : Lease::acquire(run, stop_requested);
    if (!lease && !gives_up) return kRunStopped;
    if (fs::exists(run.result())) return kDone;
    if (!lease) return kRunOvertaken;
    note_event(run, "start", {{"epoch", lease->epoch()}});
    const auto end = run_experiment(read_run_config(run), run, stop_requested, lease.get(), cores);
    if (end == RunEnd::kComplete) return kDone;
    note_event(run, "signal", {{"signal", static_cast<int>(stop)}});
    return kRunStopped;
  } catch (const UserError& error) {
    return fail_unless_overtaken(error.what(), kUserError);
  } catch (const c10::Error& error) {
    return fail_unless_overtaken(error.what_without_backtrace(), kFailed);
  } catch (const std::exception& error) {  // LeaseLost among them
    return fail_unless_overtaken(error.what(), kFailed);
  }
}

int serve_jobs(int cores) { return Server(cores).run(); }

}  // namespace difflab
