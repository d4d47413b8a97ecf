#pragma once

#include <optional>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab::report {

class Frame;
class Labels;
struct FrameRun;
struct Study;

/// The settings that all of some configurations share. It keeps which of those it was asked for
/// differ.
class SharedSettings {
 public:
  explicit SharedSettings(std::vector<const Json*> configs) : configs_(std::move(configs)) {}

  const std::vector<std::string>& differing() const { return differing_; }  ///< their paths

  /// Null if they differ in it, or none has it.
  const Json* get(const std::string& path);
  std::optional<double> number(const std::string& path);
  std::string text(const std::string& path);  ///< "" if there is none

 private:
  const Json* differs(const std::string& path);

  std::vector<const Json*> configs_;
  std::vector<std::string> differing_;
};

/// The runs of a study that have a result, and what their configurations share.
struct Described {
  explicit Described(const Frame& frame);

  std::vector<const FrameRun*> runs;
  SharedSettings settings;

  /// Distinct values of an axis among these runs, in sweep order.
  std::vector<std::string> values(const Frame& frame, const std::string& axis) const;
};

/// "1 layer", "4,000 steps".
std::string counted(double number, const std::string& one, const std::string& many);

/// "a, b and c"; "a; b, c; d" where an item has a comma of its own.
std::string enumerated(const std::vector<std::string>& items);

/// " Text." with a blank before it and a full stop behind it, whether it has one or not; "" of "".
std::string sentence(const std::string& text);

/// "64 and 128", of the task or of the needles that it has beside another part; "" if it is not
/// the same in all.
std::string sequence_lengths(SharedSettings& settings);

/// What comes before the run's own training; "" if nothing does.
std::string stage_methods(const Described& described);

/// Optimizer, batches, rate, steps, loss, and when a run ends, in sentences.
std::string training_methods(const Study& study, SharedSettings& settings);

/// Grid, runs and criterion of a tuning, without the values that were taken.
std::string tuning_methods(const Study& study, const Labels& labels, const Described& described);

/// How many seeds a setting has, and what a seed fixes.
std::string seed_methods(const Study& study, Described& described);

/// How claims are judged; "" without one.
std::string statistics_methods(const Study& study, const Labels& labels,
                               const Described& described);

}  // namespace difflab::report
