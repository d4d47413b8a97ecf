#pragma once

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "record/log/event_log.h"
#include "sweep/estimate.h"
#include "sweep/execute.h"
#include "util/terminal/terminal.h"

namespace difflab::sweep {

/// Shows a sweep to a person: on a terminal one line that is rewritten in place, elsewhere (a log,
/// CI) plain lines when runs start and end, at most about one a second, and a sign of life every
/// minute. Retries and failures are always said.
class Progress : public Observer {
 public:
  struct Settings {
    bool live = false;  ///< whether `out` is a terminal
    int width = 80;
    std::chrono::steady_clock::duration between_signs =
        std::chrono::minutes(1);  ///< of life, in a log
  };
  /// `runs`: all that shall be executed; those complete by now count as done.
  Progress(std::ostream& out, const std::vector<Run>& runs, Settings settings);

  void started(const Run& run) override;
  void completed(const Run& run, RunState state) override;
  void failed(const Run& run, const std::string& message) override;
  void retried(const Run& run, const std::string& reason, int attempt, int most) override;
  void waiting(std::size_t runs, const std::string& holder, double silence) override;
  void unreachable(const std::string& reason) override;
  void stopping() override;
  void tick(const std::vector<const Run*>& running) override;

 private:
  using Clock = std::chrono::steady_clock;
  /// Finished part of one run or of several: training steps tell how fast it goes, operations how
  /// long the rest takes where runs are of different sizes.
  struct Done {
    double share = 0, work = 0, effort = 0;
    void add(const Run& run, double of_it) {
      share += of_it;
      work += of_it * static_cast<double>(run.work);
      effort += of_it * run.effort();
    }
  };
  static Done all_of(const std::vector<Run>& runs);
  void say(const std::string& line, bool important);
  void ended(const Run& run, const std::string& how, bool important);
  std::string position() const;  ///< "3/16", "3/16 at most"
  std::string status_text(const std::vector<const Run*>& running) const;
  double seconds() const;

  std::ostream& out_;
  Settings settings_;
  StatusLine line_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_line_, next_look_, next_sign_;
  std::map<std::string, Clock::time_point> started_;  // by run id
  std::map<std::string, Done> partial_;               // of runs that are not complete, by run id
  int total_ = 0, done_ = 0, failed_ = 0;
  Done finished_;
  bool in_steps_ = true;  ///< work is training steps, not just runs
  bool stopping_ = false;
  Estimate speed_, estimate_;  // in work, in effort
};

/// Where the time of a sweep went.
struct SweepTime {
  double runs = 0;     ///< wall-clock seconds until the last run ended
  int workers = 0;     ///< runs at once
  TimeSpent by_runs;   ///< of all workers together
  double report = 0;   ///< wall-clock seconds of tables, figures and page
  double figures = 0;  ///< of them, drawing
};

/// "4m 12s: runs 4m 03s (2 at once: training 71 %, event checks 9 %, …, other 4 %), tables and
/// page 0.4s, figures 8.1s". "Other" is what no session noted: starting, reading, writing, waiting
/// for the last run, and runs that were killed.
std::string time_text(const SweepTime& time);

}  // namespace difflab::sweep
