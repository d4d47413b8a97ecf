#pragma once

#include <optional>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab::report {

class Frame;
struct FrameRun;
struct Study;

/// The settings that all runs with a result share. It keeps which of those it was asked for differ.
class SharedSettings {
 public:
  explicit SharedSettings(const Frame& frame);

  const std::vector<const FrameRun*>& runs() const { return runs_; }  ///< that have a result
  const std::vector<std::string>& differing() const { return differing_; }

  /// Null if the runs differ in it, or none has it.
  const Json* get(const std::string& path);
  std::optional<double> number(const std::string& path);
  std::string text(const std::string& path);  ///< "" if there is none

 private:
  const Json* differs(const std::string& path);

  std::vector<const FrameRun*> runs_;
  std::vector<std::string> differing_;
};

/// "1 layer", "4,000 steps".
std::string counted(double number, const std::string& one, const std::string& many);

/// "a, b and c"; "a; b, c; d" where an item has a comma of its own.
std::string enumerated(const std::vector<std::string>& items);

/// Optimizer, batches, rate, steps, loss, and when a run ends, in sentences.
std::string training_methods(const Study& study, SharedSettings& settings);

}  // namespace difflab::report
