#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/study_config.h"
#include "sweep/plan/run.h"

namespace difflab::cli {

/// What one run of a tuning that has ended says.
struct Said {
  bool is_finished = false;      ///< trained to the end
  bool has_learned = false;      ///< and got there, where the metric is a time
  std::optional<double> metric;  ///< or the bound that it exceeds
};

/// What the runs of one value say.
struct Tried {
  int learned = 0;
  double metric = 0;  ///< mean over its seeds, smaller is better

  bool is_better_than(const Tried& other) const {
    return learned != other.learned ? learned > other.learned : metric < other.metric;
  }
};

/// The runs of a tuning, read once however often they are asked.
class Trials {
 public:
  Trials(const StudyConfig& study, std::string name) : study_(study), name_(std::move(name)) {}

  const Said& said_by(const sweep::Run& run) const;

  /// Empty if the value does not work: a run diverged, or none learned.
  /// @param runs of one value, each of which has ended
  std::optional<Tried> read(const std::vector<sweep::Run>& runs) const;

  /// Whether a run may train to its end and still not get there.
  bool seeds_may_fail() const;
  /// Whether a run alone can say that its value is not the best: where some runs learn and some
  /// not.
  bool leave_seeds_out() const;

 private:
  const StudyConfig& study_;
  std::string name_;
  mutable std::map<std::string, Said> said_;  // by id
};

}  // namespace difflab::cli
