#include "cli/worker_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "cli/worker_job.h"
#include "record/run_directory.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void redirect_output(const fs::path& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
  if (file < 0) {
    std::cerr << "cannot open " << log.string() << ": " << std::strerror(errno) << std::endl;
    _exit(kJobUserError);
  }
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
}

class Server {
 public:
  explicit Server(const std::function<int(const fs::path&)>& run_job) : run_job_(run_job) {
    const sigset_t set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &original_);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  }

  int run() {
    while (open_ || !children_.empty()) {
      std::array<pollfd, 2> sources{
          {{signals_, POLLIN, 0}, {open_ ? STDIN_FILENO : -1, POLLIN, 0}}};
      if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return kJobFailed;
      if (sources[0].revents != 0) read_signal();
      if (sources[1].revents != 0) read_jobs();
    }
    return 0;
  }

 private:
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
    if (count <= 0) return stop();
    input_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = input_.find('\n'); end != input_.npos; end = input_.find('\n')) {
      start(input_.substr(0, end));
      input_.erase(0, end + 1);
    }
  }

  void start(const std::string& directory) {
    std::cout.flush();
    const pid_t server = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return report(concat("done ", kJobFailed), directory);
    if (child > 0) {
      children_[child] = directory;
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) _exit(kJobFailed);  // it died before the line above
    ::close(signals_);
    redirect_output(RunDirectory{directory}.log());
    install_stop_signals();
    sigprocmask(SIG_SETMASK, &original_, nullptr);
    const int code = run_job_(directory);
    std::cout.flush();
    _exit(code);
  }

  void reap() {
    int status = 0;
    for (pid_t child = ::waitpid(-1, &status, WNOHANG); child > 0;
         child = ::waitpid(-1, &status, WNOHANG)) {
      const auto found = children_.find(child);
      if (found == children_.end()) continue;
      report(WIFSIGNALED(status) ? concat("killed ", WTERMSIG(status))
                                 : concat("done ", WEXITSTATUS(status)),
             found->second);
      children_.erase(found);
    }
  }

  static void report(const std::string& what, const std::string& directory) {
    std::cout << what << ' ' << directory << std::endl;
  }

  void stop() {
    open_ = false;
    for (const auto& [child, directory] : children_) ::kill(child, SIGTERM);
  }

  const std::function<int(const fs::path&)>& run_job_;
  sigset_t original_{};
  int signals_ = -1;
  bool open_ = true;
  std::string input_;
  std::map<pid_t, std::string> children_;
};

}  // namespace

int serve_jobs(const std::function<int(const fs::path&)>& run_job) { return Server(run_job).run(); }

}  // namespace difflab
