#pragma once

#include <cstdint>
#include <vector>

#include "config/value/value.h"

namespace difflab::config {

// Numbers between two limits for sweeps, as numpy names and counts them: both limits are among
// them. Without rounding debris: geomspace(1e-4,1e-1,4) holds 0.001. Whole limits give whole
// numbers where all of them are whole.
// All throw UserError for a count below 1 or above 100,000 and for limits without a ratio.

/// start, …, stop with equal differences.
std::vector<Value> linspace(const Value& start, const Value& stop, std::int64_t count);
/// start, …, stop with equal ratios.
std::vector<Value> geomspace(const Value& start, const Value& stop, std::int64_t count);
/// base^start, …, base^stop with equal ratios.
std::vector<Value> logspace(const Value& start, const Value& stop, std::int64_t count,
                            const Value& base);
/// start, start·factor, start·factor², … before stop: a range() that multiplies.
std::vector<Value> geomrange(const Value& start, const Value& stop, const Value& factor);

}  // namespace difflab::config
