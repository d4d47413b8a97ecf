#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/value/value.h"

namespace difflab {

/// The steps of a training whose checkpoints are kept.
class KeptSteps {
 public:
  KeptSteps() = default;  ///< none
  explicit KeptSteps(std::vector<std::int64_t> steps) : choice_(std::move(steps)) {}
  static KeptSteps every(std::int64_t steps);
  static KeptSteps powers();  ///< 1, 2, 4, 8 …

  bool keeps(std::int64_t step) const;
  /// "100, 200, 300", those up to `steps`; "none" if there are none.
  std::string text(std::int64_t steps) const;

  static std::optional<KeptSteps> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "none, powers, 'every N' or a list of steps"; }

 private:
  struct Every {
    std::int64_t steps;
  };
  struct Powers {};
  std::variant<std::vector<std::int64_t>, Every, Powers> choice_;
};

}  // namespace difflab
