#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "record/run_directory.h"

namespace difflab {

/// Who works on a run. Every holder has a number, its epoch, one higher than that of the holder
/// before, and a file RUN/claims/EPOCH that only one process can create (O_EXCL), on one machine or
/// on many that share the folder. It counts up a number in the file as long as it lives. A run is
/// free again when its last holder has said so, when the kernel says that the process is gone (on
/// the same machine), or when the number has stood still for `silence` of the observer's own
/// monotonic clock; no two machines' clocks are ever compared.
///
/// A holder that was only stopped, and continues after another has taken over, sees the higher
/// epoch before it writes anything (require_held), and cannot publish its result: for that it must
/// create the next epoch itself.
struct LeaseTimes {
  std::chrono::milliseconds beat{5'000};
  std::chrono::milliseconds silence{30'000};

  /// $DIFFLAB_LEASE_SECONDS, if it is set, is the silence; the beat is a sixth of it.
  static LeaseTimes from_environment();
};

/// Another process has taken the run over: stop, and write nothing more.
class LeaseLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Observes the holders of runs for as long as it lives.
class LeaseWatch {
 public:
  explicit LeaseWatch(LeaseTimes times = LeaseTimes::from_environment()) : times_(times) {}

  /// True if a process holds the run. A holder that was silent for too long is shut out by this
  /// call (it creates the next epoch) and no longer counts.
  bool taken(const RunDirectory& run) { return !free_after(run); }
  /// The epoch after which the run is free: only who creates the next one has it.
  std::optional<std::uint64_t> free_after(const RunDirectory& run);

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    std::uint64_t epoch = 0;
    std::string content;
    Clock::time_point since;
  };
  LeaseTimes times_;
  std::map<std::string, Seen> seen_;
};

/// True if a process seems to hold the run, as far as one look can tell: a holder on another
/// machine counts if its file was changed within minutes. For display; LeaseWatch decides.
bool looks_taken(const RunDirectory& run);

/// The process that is at the run, if it is on this machine and alive; else 0.
pid_t holder_here(const RunDirectory& run);

/// Who is at the run for all that is known, "process 12 on HOST"; empty if nobody is.
std::string holder_of(const RunDirectory& run);

/// The right to write into a run's folder, kept alive by a thread of its own.
class Lease {
 public:
  /// Waits until the run is free and takes it; empty if `stop_requested` while waiting. Removes
  /// temporary files that a killed holder left. @throws UserError if the folder cannot be written.
  static std::unique_ptr<Lease> acquire(const RunDirectory& run,
                                        const std::function<bool()>& stop_requested,
                                        LeaseTimes times = LeaseTimes::from_environment());
  /// Takes it if nobody is at it now, else empty; a holder elsewhere counts until a LeaseWatch has
  /// shut it out.
  static std::unique_ptr<Lease> acquire_if_free(const RunDirectory& run,
                                                LeaseTimes times = LeaseTimes::from_environment());
  /// Gives the run back, if it was not lost.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  std::uint64_t epoch() const { return epoch_; }
  bool held() const;
  /// @throws LeaseLost if another process has taken over. To be called before every write.
  void require_held() const;

  /// Writes result.json, which completes the run, exactly once whoever else tries.
  /// @throws LeaseLost if another process has taken over; UserError if it cannot be written.
  void publish_result(std::string_view text);

 private:
  static std::unique_ptr<Lease> take_after(const RunDirectory& run, std::uint64_t last,
                                           LeaseTimes times);
  Lease(const RunDirectory& run, std::uint64_t epoch, int descriptor, LeaseTimes times);
  void keep_alive();
  void stop_beating();

  RunDirectory run_;
  std::uint64_t epoch_;
  int descriptor_;
  LeaseTimes times_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Removes the temporary files of writers that were killed, if nobody is at the run.
void remove_leftovers(const RunDirectory& run);

}  // namespace difflab
