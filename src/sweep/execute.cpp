#include "sweep/execute.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "record/lease.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kTick = 100ms;
constexpr auto kBetweenLimits = 500ms;
constexpr auto kBetweenStarts = 1s;  // of processes where the machine allows no more

struct Job {
  const Run* run;
  int attempts = 0;
  Clock::time_point started = {};
  std::string broken = {};       // the limit that it broke, which ended it
  Clock::time_point asked = {};  // to end, because it broke one
  bool told = false;             // that it has started
  std::uint64_t noted = 0;       // bytes of the event log before this attempt
};

// Why the run failed, in its own words if it left some.
std::string reason_of(const Run& run, const JobEnd& end) {
  const auto status = read_status(run.directory).value_or(Json::object());
  if (const auto message = string_at(status, "message");
      string_at(status, "state") == name_of(RunState::kFailed) && !message.empty()) {
    return message;
  }
  const auto log = run.directory.log();
  const std::string said = std::filesystem::exists(log) ? last_line(read_file(log)) : "";
  return said.empty() ? end.text() : concat(end.text(), ": ", said);
}

// Memory that belongs to this process alone: what is resident without files and what is shared, of
// which LibTorch's code is most.
std::int64_t own_memory_mb(pid_t process) {
  std::ifstream file(concat("/proc/", process, "/statm"));
  std::int64_t size = 0, resident = 0, shared = 0;
  if (!(file >> size >> resident >> shared)) return 0;
  return (resident - shared) * ::sysconf(_SC_PAGESIZE) / (1 << 20);
}

// The process at the run, if this one has started it: other sweeps see to their own.
pid_t own_process_at(const Run& run) {
  const pid_t holder = holder_here(run.directory);
  for (pid_t process = holder; process > 1;) {
    if (process == ::getpid()) return holder;
    std::ifstream file(concat("/proc/", process, "/status"));
    process = 0;
    for (std::string word; file >> word;) {
      if (word == "PPid:") file >> process;
    }
  }
  return 0;
}

// True if the process waits for another one that trains a stage of the run. Stages that it trains
// itself may wait in the same way.
bool waits_for_stage(RunDirectory run, pid_t process) {
  constexpr int kDeepest = 16;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto status = read_status(run);
    const auto name = string_at(status.value_or(Json::object()), "stage");
    if (name.empty()) return false;
    run = {(run.path / name).lexically_normal()};
    if (holder_here(run) != process) return looks_taken(run);
  }
  return false;
}

class Execution {
 public:
  Execution(const std::vector<Run>& runs, Launcher& launcher, Observer& observer,
            const Policy& policy)
      : launcher_(launcher), observer_(observer), policy_(policy) {
    const auto states = states_of(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (is_complete(states[i])) {
        remove_leftovers(runs[i].directory);  // of a run that was killed after its last word
        trained_.insert(runs[i].training);
      } else {
        waiting_.push_back({&runs[i]});
      }
    }
    if (policy_.order != RunOrder::kListed) {
      const double sign = policy_.order == RunOrder::kLongest ? -1 : 1;
      waiting_.sort([sign](const Job& a, const Job& b) {
        return sign * a.run->effort() < sign * b.run->effort();
      });
    }
    order_ = &runs;
  }

  SweepOutcome run() {
    while (!running_.empty() || (!waiting_.empty() && stops_ == 0)) {
      obey_stop_signals();
      if (stops_ == 0) hand_out();
      for (const auto& end : wait()) handle(end);
      hold_to_limits();
      std::vector<const Run*> now;
      for (const auto& [directory, job] : running_) now.push_back(job.run);
      observer_.tick(now);
    }
    outcome_.interrupted = StopSignals::count() > 0;
    outcome_.unfinished += static_cast<int>(waiting_.size());
    for (const auto& run : *order_) {
      const auto failed = failures_.find(&run);
      if (failed != failures_.end()) outcome_.failures.push_back({run, failed->second});
    }
    return outcome_;
  }

 private:
  void obey_stop_signals() {
    const int signals = StopSignals::count();
    if (signals > 0 && stops_ == 0) stop();
    if (stops_ == 1 && (signals > 1 || Clock::now() > deadline_)) {
      stops_ = 2;
      launcher_.kill();
    }
  }

  void stop() {
    stops_ = 1;
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(policy_.stop_grace_seconds));
    observer_.stopping();
    launcher_.interrupt();
  }

  // Runs that only ask other things of one trained model find it when the first of them has ended.
  bool is_being_trained(const Run& run) const {
    return !run.training.empty() && trained_.count(run.training) == 0 &&
           std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
             return entry.second.run->training == run.training;
           });
  }

  // @throws UserError if the run's folder cannot be used.
  bool must_wait(const Run& run) {
    return watch_.taken(run.directory) ||  // by another sweep
           is_being_trained(run);
  }

  // A run over its time is asked to save its state and then killed, one over its memory is killed.
  // Time for which it waits for another process that trains its stage is not its own.
  void hold_to_limits() {
    const auto now = Clock::now();
    if (now < next_limits_) return;
    const auto since = std::exchange(last_limits_, now);
    next_limits_ = now + kBetweenLimits;
    for (auto& [directory, job] : running_) {
      if (policy_.timeout_seconds > 0 &&
          waits_for_stage(job.run->directory, own_process_at(*job.run))) {
        job.started += now - std::max(since, job.started);
      }
      const std::chrono::duration<double> took = now - job.started;
      const bool late = policy_.timeout_seconds > 0 && took.count() > policy_.timeout_seconds;
      if (!late && policy_.memory_mb <= 0) continue;
      const pid_t process = own_process_at(*job.run);
      if (process <= 0) continue;
      const auto memory = own_memory_mb(process);
      if (policy_.memory_mb > 0 && memory > policy_.memory_mb) {
        job.broken = concat("used ", memory, " MiB of memory; launcher.memory_mb allows ",
                            policy_.memory_mb);
        ::kill(process, SIGKILL);
      } else if (late) {
        const bool is_asked = !job.broken.empty();
        job.broken = concat("took longer than launcher.timeout_seconds, ", policy_.timeout_seconds,
                            "; the same command continues it");
        if (!is_asked) {
          job.asked = now;
          ::kill(process, SIGTERM);
        }
        const std::chrono::duration<double> silent = now - job.asked;
        if (silent.count() > policy_.late_grace_seconds) ::kill(process, SIGKILL);
      }
    }
  }

  void hand_out() {
    if (Clock::now() < next_start_) return;
    for (auto job = waiting_.begin(); job != waiting_.end() && stops_ == 0 &&
                                      static_cast<int>(running_.size()) < launcher_.capacity();) {
      bool is_open = false;
      try {
        if (must_wait(*job->run)) {
          ++job;
          continue;
        }
        is_open = take(*job->run);
      } catch (const UserError& error) {
        fail(*job->run, error.what());
      }
      const Job taken = *job;
      job = waiting_.erase(job);
      if (is_open) start(taken);  // where that cannot be, nothing can be executed
    }
  }

  // Prepares a run's folder. False if complete: another sweep may have run it since we looked.
  // @throws UserError if the run's folder cannot be used.
  bool take(const Run& run) {
    const auto state = state_of(run.directory);
    if (is_complete(state)) {
      complete(run, state);
      return false;
    }
    require_own_files(run.directory);
    write_config(run.directory, run.config_text);
    return true;
  }

  void start(Job job) {
    ++job.attempts;
    job.started = Clock::now();
    job.noted = length_of_events(job.run->directory);
    const bool is_news = !std::exchange(job.told, true);
    running_.emplace(job.run->directory.path.string(), job);
    launcher_.submit(job.run->directory.path);
    if (is_news) observer_.started(*job.run);
  }

  std::vector<JobEnd> wait() {
    if (!running_.empty()) return launcher_.wait(kTick);
    if (!waiting_.empty() && stops_ == 0) {
      say_what_is_waited_for();
      std::this_thread::sleep_for(kTick);
    }
    return {};
  }

  // All that is left is in the hands of another sweep.
  void say_what_is_waited_for() {
    const auto holder = holder_of(waiting_.front().run->directory);
    if (holder.empty() || !told_holders_.insert(holder).second) return;
    const std::chrono::duration<double> silence = LeaseTimes::from_environment().silence;
    observer_.waiting(waiting_.size(), holder, silence.count());
  }

  void handle(const JobEnd& end) {
    const auto found = running_.find(end.directory.string());
    if (found == running_.end()) return;
    Job job = found->second;
    running_.erase(found);
    const Run& run = *job.run;
    if (end.how == JobEnd::How::kLost) told_reasons_.clear();
    if (end.how != JobEnd::How::kExited || end.code != kRunOvertaken) {
      outcome_.spent += time_spent(run.directory, job.noted);
    }
    // The result decides, however the process ended: it is written last and in one piece.
    try {
      if (const auto result = read_result(run.directory)) {
        return complete(run, state_of(run.directory));
      }
    } catch (const UserError& error) {
      return fail(run, error.what());
    }
    if (!job.broken.empty()) return fail(run, job.broken);
    if (end.how == JobEnd::How::kRefused) {
      next_start_ = Clock::now() + kBetweenStarts;
      if (!running_.empty() && stops_ == 0) {  // there will be room when one of these ends
        --job.attempts;
        waiting_.push_front(job);
        return;
      }
    }
    if (end.how == JobEnd::How::kUnreachable && stops_ == 0) {
      if (told_reasons_.insert(end.reason).second) observer_.unreachable(end.reason);
      --job.attempts;  // other machines take it, or this one when it answers again
      waiting_.push_front(job);
      return;
    }
    if (end.how == JobEnd::How::kExited && end.code == kRunOvertaken) {
      job.attempts = 0;  // whoever has the run now will finish it, or it comes back to us
      waiting_.push_back(job);
      return;
    }
    const bool own_fault = end.how == JobEnd::How::kExited && end.code != kRunStopped;
    if (stops_ > 0 && !own_fault) {
      ++outcome_.unfinished;
    } else if (own_fault && end.code == 0) {
      fail(run, "ended without a result");
    } else if (own_fault) {
      fail(run, reason_of(run, end));
    } else if (job.attempts > policy_.retries) {
      fail(run, concat(end.text(), ", ", job.attempts, " times"));
    } else {
      note_event(run.directory, "retry",
                 {{"message", end.text()}, {"attempt", job.attempts}, {"most", policy_.retries}});
      observer_.retried(run, end.text(), job.attempts, policy_.retries);
      waiting_.push_front(job);
    }
  }

  void complete(const Run& run, RunState state) {
    remove_leftovers(run.directory);
    trained_.insert(run.training);
    ++outcome_.completed;
    observer_.completed(run, state);
  }

  void fail(const Run& run, const std::string& message) {
    // The process of a run may die a moment after the one that started it, and looks busy until
    // then.
    const auto patience = Clock::now() + 1s;
    while (holder_here(run.directory) != 0 && Clock::now() < patience) {
      std::this_thread::sleep_for(10ms);
    }
    if (note_in_status(run.directory, message)) {
      note_event(run.directory, "failure", {{"message", message}});
    }
    failures_.emplace(&run, message);
    observer_.failed(run, message);
    if (policy_.fail_fast && stops_ == 0) stop();
  }

  Launcher& launcher_;
  Observer& observer_;
  const Policy policy_;
  LeaseWatch watch_;
  const std::vector<Run>* order_;
  std::list<Job> waiting_;
  std::map<std::string, Job> running_;  // by run directory
  std::set<std::string> trained_;       // trainings of runs that are complete
  std::set<std::string> told_holders_;  // that they are waited for
  std::set<std::string> told_reasons_;  // why machines do not answer
  std::map<const Run*, std::string> failures_;
  SweepOutcome outcome_;
  int stops_ = 0;  // 1: asked to stop, 2: killed
  Clock::time_point deadline_, last_limits_, next_limits_, next_start_;
};

}  // namespace

SweepOutcome execute(const std::vector<Run>& runs, Launcher& launcher, Observer& observer,
                     const Policy& policy) {
  return Execution(runs, launcher, observer, policy).run();
}

}  // namespace difflab::sweep
