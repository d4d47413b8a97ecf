#pragma once
// The fakes that stand in for the programs of batch systems and for ssh in the contract of all
// launchers (tests/sweep/launcher_contract_test.cpp).

#include "support/fake_slurm.h"
#include "support/fake_ssh.h"
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

/// While it exists, the system's programs are fakes, and this process may seem to be a task.
template <>
struct FakeOf<sweep::SlurmLauncher> {
  FakeOf() = default;
  ~FakeOf() {
    for (const char* name : kOfTask) ::unsetenv(name);
  }
  FakeOf(const FakeOf&) = delete;
  FakeOf& operator=(const FakeOf&) = delete;

  /// Takes `arrays` more arrays, then refuses in these words.
  void accept_only(int arrays, const std::string& words) const {
    slurm_.set(
        "limit",
        std::to_string(slurm_.calls("sbatch").size() + static_cast<std::size_t>(arrays)) + "\n");
    slurm_.set("limit_words", words + "\n");
  }
  /// The queue has one task, of this array, that waits for this reason.
  void hold(const sweep::Submission& array, int index, const std::string& reason) const {
    slurm_.set("queue",
               array.name + "|" + array.job + "|" + std::to_string(index) + "|PENDING|" + reason);
  }
  /// The queue answers with these words and nothing else.
  void fall_silent(const std::string& words) const { slurm_.set("silence", words + "\n"); }

  /// The numbers of the arrays that were cancelled.
  std::vector<std::string> cancelled() const {
    std::vector<std::string> jobs;
    for (const auto& call : slurm_.calls("scancel")) {
      jobs.insert(jobs.end(), call.begin(), call.end());
    }
    return jobs;
  }

  /// To cancel is refused in these words.
  void refuse_to_cancel(const std::string& words) const { slurm_.set("no_cancel", words + "\n"); }
  /// What is accepted is executed at once.
  void execute() const { slurm_.set("execute", ""); }

  /// From now on this process is a task that was started again so often.
  void become_task(const sweep::Submission& array, int index, int restarts) const {
    ::setenv(kOfTask[0], array.job.c_str(), 1);
    ::setenv(kOfTask[1], std::to_string(index).c_str(), 1);
    ::setenv(kOfTask[2], std::to_string(restarts).c_str(), 1);
  }
  /// How often a task was put back into the queue.
  std::size_t requeues() const { return slurm_.calls("scontrol").size(); }
  /// Whether the last time it was this task alone.
  bool requeued_only(const sweep::Submission& array, int index) const {
    return slurm_.calls("scontrol").back().back() == array.job + "_" + std::to_string(index);
  }

 private:
  static constexpr const char* kOfTask[] = {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
                                            "SLURM_RESTART_COUNT"};
  FakeSlurm slurm_;
};

}  // namespace difflab::testing
