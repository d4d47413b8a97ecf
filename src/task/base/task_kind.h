#pragma once

// Includes and checks that the header of every kind of task needs.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "task/base/lengths.h"
#include "task/base/symbols.h"
#include "util/text.h"

namespace difflab {

class Task;

constexpr std::string_view kAboutRecallShare = "share of each batch that is cyclic repetition";

/// A number of a configuration under its key.
struct KeyedNumber {
  std::string_view key;
  std::int64_t value;
};

/// The problem of a number that another one bounds, if it has one.
inline void check_at_most(const KeyedNumber& number, const KeyedNumber& most,
                          config::Check& check) {
  if (number.value <= most.value) return;
  check.problem(number.key,
                concat("is ", number.value, "; expected at most ", most.key, ", ", most.value));
}
inline void check_at_least(const KeyedNumber& number, const KeyedNumber& least,
                           std::string_view why, config::Check& check) {
  if (number.value >= least.value) return;
  check.problem(number.key, concat("is ", number.value, "; expected at least ", least.key, ", ",
                                   least.value, ", ", why));
}

}  // namespace difflab
