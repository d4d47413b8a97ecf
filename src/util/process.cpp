#include "util/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "util/error.h"
#include "util/exit_code.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::size_t kErrorTail = 4096;
std::atomic<int> stop_count{0};
std::atomic<bool> short_of_time{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not take a lock");

void count_stop(int signal) {
  // The kernel repeats this one every second, and a second stop means haste.
  if (signal == SIGXCPU && stop_count > 0) return;
  ++stop_count;
  if (signal == SIGUSR1) short_of_time = true;
}

struct Pipe {
  Descriptor read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw UserError(concat("cannot create a pipe: ", std::strerror(errno)));
    }
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

// Runs in the child between fork and exec: only calls that are safe there. It never returns.
[[noreturn]] void become(char* const* argv, int input, int output, int errors, int exec_error,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kFailed);  // it died before the line above
  for (const int signal : kStopSignals) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(errors, 2) >= 0) {
    ::execv(argv[0], argv);
  }
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(exec_error, &error, sizeof error);
  ::_exit(kNoSuchProgram);
}

// Appends what can be read now; false at the end of the stream.
bool read_available(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

StopSignals::StopSignals() {
  stop_count = 0;
  short_of_time = false;
  for (const int signal : kStopSignals) {
    struct sigaction action {};
    action.sa_handler = count_stop;  // without SA_RESTART: waits come back
    struct sigaction previous {};
    ::sigaction(signal, &action, &previous);
    previous_.emplace_back(signal, previous);
    // Under nohup the end of the terminal is no reason to stop.
    if (signal == SIGHUP && previous.sa_handler == SIG_IGN) ::signal(SIGHUP, SIG_IGN);
  }
}

StopSignals::~StopSignals() {
  for (const auto& [signal, previous] : previous_) ::sigaction(signal, &previous, nullptr);
  stop_count = 0;
}

int StopSignals::count() { return stop_count; }

bool StopSignals::time_is_short() { return short_of_time; }

std::string ExitStatus::text() const {
  if (signal != 0) return concat("killed by signal ", signal, " (", ::strsignal(signal), ")");
  return concat("exit code ", code);
}

Process::Process(const std::vector<std::string>& argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that is gone shows as EPIPE
  std::vector<char*> arguments;
  for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Pipe input, output, errors, exec_error;
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw UserError(concat("cannot start ", argv.at(0), ": ", std::strerror(errno)));
  if (pid_ == 0) {
    become(arguments.data(), input.read.get(), output.write.get(), errors.write.get(),
           exec_error.write.get(), parent);
  }
  ::setpgid(pid_, pid_);  // in both, whichever comes first
  exec_error.write.close();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(exec_error.read.get(), &error,
                   sizeof error);  // ends with nothing when exec succeeds
  } while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    ::waitpid(pid_, nullptr, 0);
    throw UserError(concat("cannot start ", argv[0], ": ", std::strerror(error)));
  }
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
}

Process::~Process() {
  if (status_) return;
  kill_group(SIGKILL);
  errors_.close();  // do not wait for a grandchild that still holds it
  wait();
}

bool Process::send(std::string_view bytes) {
  while (input_.is_open() && !bytes.empty()) {
    const ssize_t count = ::write(input_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return bytes.empty();
}

void Process::read_errors() {
  if (!read_available(errors_.get(), error_tail_)) errors_.close();
  if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
}

std::vector<std::string> Process::read_lines(std::chrono::milliseconds timeout) {
  std::vector<std::string> lines;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (lines.empty() && output_open()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> streams = {{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
    const int ready = ::poll(streams.data(), streams.size(),
                             static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready <= 0) break;  // the time is over, or a signal came
    if (streams[1].revents != 0) read_errors();
    if (streams[0].revents == 0) continue;
    if (!read_available(output_.get(), partial_line_)) output_.close();
    for (auto end = partial_line_.find('\n'); end != partial_line_.npos;
         end = partial_line_.find('\n')) {
      lines.push_back(partial_line_.substr(0, end));
      partial_line_.erase(0, end + 1);
    }
  }
  return lines;
}

// Once the child was reaped, its number may be somebody else's.
void Process::kill(int signal) const {
  if (!status_) ::kill(pid_, signal);
}

void Process::kill_group(int signal) const {
  if (!status_) ::kill(-pid_, signal);
}

ExitStatus Process::wait() {
  while (!status_) {
    // Reads the last of standard error, until the child ends or closes the stream.
    while (errors_.is_open()) {
      pollfd stream{errors_.get(), POLLIN, 0};
      if (::poll(&stream, 1, 20) > 0) read_errors();
      siginfo_t ended{};
      if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          ended.si_pid == pid_ && stream.revents == 0) {
        break;
      }
    }
    int status = 0;
    if (::waitpid(pid_, &status, 0) < 0) {
      if (errno == EINTR) continue;
      throw std::logic_error(concat("waitpid: ", std::strerror(errno)));
    }
    status_ = WIFSIGNALED(status) ? ExitStatus{.signal = WTERMSIG(status)}
                                  : ExitStatus{.code = WEXITSTATUS(status)};
  }
  return *status_;
}

Printed run_program(const std::vector<std::string>& argv, OnStop on_stop) {
  const int stops = StopSignals::count();
  std::vector<std::string> with_path{"/usr/bin/env", "--"};
  with_path.insert(with_path.end(), argv.begin(), argv.end());
  Process program(with_path);
  program.close_input();
  Printed printed;
  while (program.output_open()) {
    if (on_stop == OnStop::kKill && StopSignals::count() != stops) program.kill_group(SIGKILL);
    for (const auto& line : program.read_lines(std::chrono::seconds(10))) {
      printed.output += line + "\n";
    }
  }
  if (!program.partial_line().empty()) printed.output += program.partial_line() + "\n";
  printed.status = program.wait();
  printed.errors = program.error_tail();
  return printed;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "unknown";
}

std::string boot_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

const std::string& process_space() {
  static const std::string space = [] {
    std::error_code none;
    const auto container = std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
    return sha256_hex(concat(host_name(), " ", boot_id(), " ", container)).substr(0, 8);
  }();
  return space;
}

std::filesystem::path executable_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace difflab
