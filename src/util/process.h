#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/files.h"

namespace difflab {

/// Signals that end a program which does not expect them, and are no bug of it: those of people,
/// batch systems and limits.
inline constexpr std::array kStopSignals = {SIGINT,  SIGTERM, SIGHUP,    SIGUSR1, SIGUSR2,
                                            SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGPWR};

/// While one exists, kStopSignals do not end the program but are counted, so that it can stop at a
/// place of its own choice. Waits (poll, sleep) return early when one arrives.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// How many arrived since the object was made; 0 while there is none.
  static int count();
  /// True if SIGUSR1 was among them, by which a batch system warns that the time is nearly over.
  static bool time_is_short();

 private:
  std::vector<std::pair<int, struct sigaction>> previous_;
};

/// While one exists, signals to its thread wait; threads that it starts take none at all.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

/// How a process ended: its exit code, or the signal that killed it.
struct ExitStatus {
  int code = 0;
  int signal = 0;  ///< 0 if it exited

  bool success() const { return code == 0 && signal == 0; }
  /// "exit code 3", or "killed by signal 9 (Killed)".
  std::string text() const;
};

/// A child program with pipes to its standard streams. It starts in a process group of its own, so
/// that Ctrl-C reaches only us, and the kernel kills it when we die, however that happens.
/// No shell is involved: `argv` is handed over as it is, argv[0] is a path, not searched for.
class Process {
 public:
  /// @throws UserError if the program cannot be started, with the system's reason.
  explicit Process(const std::vector<std::string>& argv);
  /// Kills the child and its group if it still runs, and reaps it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }

  /// Writes to the child's standard input; false if it no longer reads.
  bool send(std::string_view bytes);
  void close_input() { input_.close(); }

  /// The complete lines that the child printed, without their line ends. Waits for the first one
  /// up to `timeout`; comes back earlier with nothing when the child closes its output or a signal
  /// arrives.
  std::vector<std::string> read_lines(std::chrono::milliseconds timeout);
  /// Output of the child after the last complete line.
  const std::string& partial_line() const { return partial_line_; }
  /// False once the child has closed its standard output, which it does at the latest by ending.
  bool output_open() const { return output_.is_open(); }
  /// The end of what it wrote to standard error, at most 4 KiB.
  const std::string& error_tail() const { return error_tail_; }

  /// Sends a signal to the child; `kill_group` also to the children it has.
  void kill(int signal) const;
  void kill_group(int signal) const;
  /// Waits for the end and collects what is left of standard error.
  ExitStatus wait();

 private:
  void read_errors();

  pid_t pid_ = -1;
  Descriptor input_, output_, errors_;
  std::string partial_line_, error_tail_;
  std::optional<ExitStatus> status_;
};

/// Exit status and output of a program that has ended.
struct Printed {
  ExitStatus status;
  std::string output;  ///< with a line end after every line
  std::string errors;  ///< the end of it, at most 4 KiB
};

/// How to treat a program when a stop signal (StopSignals) comes while it is waited for.
enum class OnStop { kWait, kKill };

/// Runs a program that is searched for in PATH, without input, and waits for its end.
/// @throws UserError if it cannot be started; a program that PATH lacks has exit code 127.
Printed run_program(const std::vector<std::string>& argv, OnStop on_stop = OnStop::kWait);

/// A variable of the environment; empty if it is not set.
std::string environment(const char* name);

/// The interpreter whose pip installed this program, which it sets; empty in a checkout.
inline std::string installing_python() { return environment("DIFFLAB_PYTHON"); }

/// The program as a person calls it: "difflab" where pip installed it, else "./difflab".
inline std::string program_name() { return installing_python().empty() ? "./difflab" : "difflab"; }

/// This machine's name in the network, "unknown" if it has none.
std::string host_name();

/// Another one each time that this machine starts; empty if the system does not tell.
std::string boot_id();

/// Eight hexadecimal digits for where process numbers mean the same: this machine since it started,
/// and the container on it that the process is in.
const std::string& process_space();

/// The path of the running program itself.
std::filesystem::path executable_path();

}  // namespace difflab
