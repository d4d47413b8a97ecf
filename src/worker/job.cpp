#include "worker/job.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "experiment/run_experiment.h"
#include "experiment/saved_run.h"
#include "record/lease.h"
#include "record/log/event_log.h"
#include "record/status.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/process.h"

namespace difflab {
namespace {

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

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : kStopSignals) {
    sigaction(signal, &action, nullptr);
  }
}

bool stop_is_requested() { return stop != 0; }

int run_job(const std::filesystem::path& directory, int cores, WhenTaken when_taken) {
  const RunDirectory run{std::filesystem::absolute(directory).lexically_normal()};
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
    if (std::filesystem::exists(run.result())) return kDone;
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

}  // namespace difflab
