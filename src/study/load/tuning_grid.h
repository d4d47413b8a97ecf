#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/load/tuning.h"
#include "util/text.h"

namespace difflab::cli {

/// The values of a grid that may grow.
class Grid {
 public:
  /// @param whole values are whole numbers
  Grid(std::vector<double> values, bool whole) : values_(std::move(values)), whole_(whole) {}

  const std::vector<double>& values() const { return values_; }
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

}  // namespace difflab::cli
