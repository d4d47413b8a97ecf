#include "cli/worker_job.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

#include "experiment/run_experiment.h"
#include "experiment/saved_run.h"
#include "record/status.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

volatile std::sig_atomic_t stop = 0;
volatile std::sig_atomic_t interrupts = 0;

void on_signal(int signal) {
  stop = 1;
  if (signal != SIGINT) return;
  if (interrupts > 0) _exit(130);
  interrupts = 1;
}

int fail(const RunDirectory& run, const std::string& message, int code) {
  std::cerr << (code == kJobUserError ? "error: " : "internal error (please report it): ")
            << message << std::endl;
  write_status(run, RunState::kFailed, 0, 0, message);
  return code;
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    sigaction(signal, &action, nullptr);
  }
}

int run_job(const std::filesystem::path& directory) {
  const RunDirectory run{std::filesystem::absolute(directory).lexically_normal()};
  try {
    const auto lock = FileLock::acquire(run.lock());
    if (std::filesystem::exists(run.result())) return kJobComplete;
    const auto end = run_experiment(read_run_config(run), run, [] { return stop != 0; });
    return end == RunEnd::kComplete ? kJobComplete : kJobInterrupted;
  } catch (const UserError& error) {
    return fail(run, error.what(), kJobUserError);
  } catch (const c10::Error& error) {
    return fail(run, error.what_without_backtrace(), kJobFailed);
  } catch (const std::exception& error) {
    return fail(run, error.what(), kJobFailed);
  }
}

}  // namespace difflab
