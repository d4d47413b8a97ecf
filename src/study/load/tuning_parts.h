#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
#include "report/settings/report_config.h"
#include "study/load/load.h"
#include "study/study.h"
#include "study/study_config.h"
#include "sweep/plan/plan.h"
#include "util/text.h"

namespace difflab::study {

/// The values of a grid that may grow.
class Grid {
 public:
  /// @param whole values are whole numbers
  Grid(std::vector<double> values, bool whole) : values_(std::move(values)), whole_(whole) {}

  const std::vector<double>& values() const { return values_; }
  bool is_beyond(double value) const { return value < values_.front() || value > values_.back(); }
  bool is_edge(double value) const { return value == values_.front() || value == values_.back(); }

  /// The value beyond an edge; empty if it has grown there as often as it may, or there is none.
  /// 1, 3, 10 goes on with 30: by the ratio before the last one.
  std::optional<double> beyond(double edge) const {
    const auto n = values_.size();
    const bool up = edge == values_.back();
    if ((up ? above_ : below_) >= kMostGrown) return std::nullopt;
    const double next = up ? rounded(values_[n - 1] * (values_[n - 2] / values_[n - 3]))
                           : rounded(values_[0] * (values_[1] / values_[2]));
    const bool is_new = up ? next > values_.back() : next < values_.front() && next > 0;
    return is_new ? std::optional(next) : std::nullopt;
  }
  void add(double value) {
    const bool up = value > values_.back();
    ++(up ? above_ : below_);
    values_.insert(up ? values_.end() : values_.begin(), value);
  }

 private:
  double rounded(double value) const {
    if (whole_) return std::round(value);
    const double unit = std::pow(10, std::floor(std::log10(value)) - 5);
    return std::stod(concat(std::round(value / unit) * unit));
  }

  std::vector<double> values_;
  bool whole_;
  int above_ = 0, below_ = 0;
};

/// A number of a grid as the configuration writes it: whole where the key is. @param as what it
/// has, or null
config::Value number_like(const config::Value* as, double value);

/// True if all of these runs have ended.
bool have_ended(const std::vector<sweep::Run>& runs);

/// One combination of all axes but the seed.
struct Variant {
  Axes axes;
  config::Point run;                                     ///< as composed, of its first seed
  Grid grid;                                             ///< its values by now
  bool is_longer = false;                                ///< its runs have tune.longer steps
  std::map<double, std::vector<sweep::Run>> tried = {};  ///< of all seeds
  std::map<double, std::size_t> seeds = {};  ///< of a value, how many of these are needed by now
  bool is_complete = false;                  ///< these have ended, and no more are needed
  std::map<double, std::vector<sweep::Run>> again = {};  ///< further runs of those that went on
  std::vector<double> finalists = {};                    ///< of these the best, better first

  std::vector<sweep::Run> needed(double value) const;
  /// With the further ones.
  std::vector<sweep::Run> all_needed(double value) const;
  bool have_ended() const;  ///< all that are needed, but for the further ones
};

/// Result of one run of a tuning that has ended.
struct Said {
  bool is_finished = false;      ///< trained to the end
  bool has_learned = false;      ///< and got there, where the metric is a time
  std::optional<double> metric;  ///< or the bound that it exceeds
};

/// Joint result of the runs of one value.
struct Tried {
  int learned = 0;
  double metric =
      0;  ///< mean over its seeds, that of logarithms if it is geometric; smaller is better

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

  /// True if the means are geometric: of times, where finalists go on to more seeds.
  bool is_geometric() const;
  /// True if a run may train to its end without learning or reaching the event.
  bool seeds_may_fail() const;
  /// True if one run can show that its value is not the best, as some learn and some do not; false
  /// with tune.every_seed.
  bool leave_seeds_out() const;

 private:
  bool is_event() const;

  const StudyConfig& study_;
  std::string name_;
  mutable std::map<std::string, Said> said_;  // by id
};

/// Reports what would make the tuning of a study another than the one that is meant: a key that
/// the sweep varies or an axis refers to, or that is no number; steps that it sets itself; seeds
/// that are reported, too.
/// @param points as composed, one for each of the study's
void check_tuning(const std::vector<config::Point>& points, const Study& study,
                  config::Problems& problems);

/// The table and figures of a tuning: a row for each value of each variant, and a line for each
/// variant, of which there is at least one.
report::ReportConfig report_of_tuning(const StudyConfig& study,
                                      const std::vector<Variant>& variants);

}  // namespace difflab::study
