#pragma once
// The fakes that stand in for the programs of batch systems and for ssh in the contract of all
// launchers (tests/sweep/launcher_contract_test.cpp).

#include "support/fake_pbs.h"
#include "support/fake_slurm.h"
#include "support/fake_ssh.h"
#include "sweep/launcher/pbs.h"
#include "sweep/launcher/slurm.h"
#include "sweep/launcher/ssh.h"

namespace difflab::testing {

/// The fake of a kind of launcher. A kind with batch() needs a specialisation like the one below.
template <class Kind>
struct FakeOf {
  static_assert(
      !requires(const Kind& kind) { kind.batch(); },
      "a batch system is tried with a fake of its programs: say here which one");
  Kind config;
};

/// A machine that is this one.
template <>
struct FakeOf<sweep::SshLauncher> {
  FakeSsh ssh;
  sweep::SshLauncher config{.hosts = {"red"}, .workers = 2};
};

/// A queue whose programs are fakes while it exists.
template <class Programs>
class FakeQueue {
 public:
  /// Takes `arrays` more arrays, then refuses in these words.
  void accept_only(int arrays, const std::string& words) const {
    const auto so_far = programs_.calls(submit_).size();
    programs_.set("limit", std::to_string(so_far + static_cast<std::size_t>(arrays)) + "\n");
    programs_.set("limit_words", words + "\n");
  }
  /// The queue answers with these words and nothing else.
  void fall_silent(const std::string& words) const { programs_.set("silence", words + "\n"); }
  /// To cancel is refused in these words.
  void refuse_to_cancel(const std::string& words) const {
    programs_.set("no_cancel", words + "\n");
  }
  /// What is accepted is executed at once.
  void execute() const { programs_.set("execute", ""); }
  /// The numbers of the arrays that were cancelled.
  std::vector<std::string> cancelled() const {
    std::vector<std::string> jobs;
    for (const auto& call : programs_.calls(cancel_)) {
      jobs.insert(jobs.end(), call.begin(), call.end());
    }
    return jobs;
  }

 protected:
  FakeQueue(const char* submit, const char* cancel, std::vector<const char*> of_task)
      : submit_(submit), cancel_(cancel), of_task_(std::move(of_task)) {}
  ~FakeQueue() {
    for (const char* name : of_task_) ::unsetenv(name);
  }
  FakeQueue(const FakeQueue&) = delete;
  FakeQueue& operator=(const FakeQueue&) = delete;

  /// Sets the variables by which this process seems to be a task.
  void set_task(const std::vector<std::string>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) ::setenv(of_task_[i], values[i].c_str(), 1);
  }

  Programs programs_;

 private:
  const char *submit_, *cancel_;
  std::vector<const char*> of_task_;
};

template <>
struct FakeOf<sweep::SlurmLauncher> : FakeQueue<FakeSlurm> {
  FakeOf()
      : FakeQueue("sbatch", "scancel",
                  {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT"}) {}

  /// The queue has one task, of this array, that waits for this reason.
  void hold(const sweep::Submission& array, int index, const std::string& reason) const {
    programs_.set(
        "queue", array.name + "|" + array.job + "|" + std::to_string(index) + "|PENDING|" + reason);
  }
  /// From now on this process is a task that was started again so often.
  void become_task(const sweep::Submission& array, int index, int restarts) const {
    set_task({array.job, std::to_string(index), std::to_string(restarts)});
  }
  /// How often a task was put back into the queue.
  std::size_t requeues() const { return programs_.calls("scontrol").size(); }
  /// Whether the last time it was this task alone.
  bool requeued_only(const sweep::Submission& array, int index) const {
    return programs_.calls("scontrol").back().back() == array.job + "_" + std::to_string(index);
  }
};

template <>
struct FakeOf<sweep::PbsLauncher> : FakeQueue<FakePbs> {
  FakeOf()
      : FakeQueue("qsub", "qdel",
                  {"PBS_JOBID", "DIFFLAB_ARRAY", "DIFFLAB_TASK", "DIFFLAB_RESTARTS"}) {}

  void hold(const sweep::Submission& array, int index, const std::string& reason) const {
    auto id = array.job;  // 4711[].fake of an array, else 4711.fake
    if (const auto bracket = id.find(']'); bracket != id.npos) {
      id.insert(bracket, std::to_string(index));
    }
    programs_.set("queue", id + "|" + array.name + "|Q|" + reason + "\n");
  }
  void become_task(const sweep::Submission& array, int index, int restarts) const {
    set_task({array.job, array.folder.string(), std::to_string(index), std::to_string(restarts)});
  }
  std::size_t requeues() const { return requeued().size(); }
  bool requeued_only(const sweep::Submission& array, int index) const {
    return requeued().back() == array.name + "." + std::to_string(index);
  }

 private:
  // The names of jobs that are no arrays and say which task they continue.
  std::vector<std::string> requeued() const {
    std::vector<std::string> names;
    for (const auto& call : programs_.calls("qsub")) {
      const auto name = std::ranges::find(call, "-N")[1];
      const bool is_array = std::ranges::find(call, "-J") != call.end();
      if (!is_array && name.find('.') != name.npos) names.push_back(name);
    }
    return names;
  }
};

}  // namespace difflab::testing
