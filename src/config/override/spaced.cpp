#include "config/override/spaced.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::int64_t kMaxValues = 100'000;

/// To 15 digits: what a calculation in long double leaves behind them is debris.
double rounded(long double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.14Le", number);
  return std::strtod(text, nullptr);
}

std::vector<Value> values_of(std::vector<double> numbers, bool whole_limits) {
  const bool whole = whole_limits && std::all_of(numbers.begin(), numbers.end(), [](double n) {
                       return n == std::floor(n) && std::abs(n) < 0x1p53;
                     });
  std::vector<Value> values;
  for (const double number : numbers) {
    if (!std::isfinite(number)) throw UserError(concat("has ", number, ", no finite number"));
    values.push_back(whole ? Value(static_cast<std::int64_t>(number)) : Value(number));
  }
  return values;
}

/// `at(i)` for i = 0 … count − 1, with the limits themselves at the ends.
std::vector<double> between(double first, double last, std::int64_t count,
                            const std::function<long double(long double)>& at) {
  if (count < 1 || count > kMaxValues) {
    throw UserError(concat("has a count of ", count, "; expected 1 to ", kMaxValues));
  }
  std::vector<double> numbers{first};
  for (std::int64_t i = 1; i + 1 < count; ++i) {
    numbers.push_back(rounded(at(static_cast<long double>(i) / (count - 1))));
  }
  if (count > 1) numbers.push_back(last);
  return numbers;
}

}  // namespace

std::vector<Value> linspace(const Value& start, const Value& stop, std::int64_t count) {
  const long double a = start.as_double(), b = stop.as_double();
  return values_of(between(start.as_double(), stop.as_double(), count,
                           [&](long double part) { return a + (b - a) * part; }),
                   start.is_int() && stop.is_int());
}

std::vector<Value> geomspace(const Value& start, const Value& stop, std::int64_t count) {
  const long double a = start.as_double(), b = stop.as_double();
  if (!(a * b > 0)) throw UserError("has limits without a ratio; expected both above or below 0");
  return values_of(between(start.as_double(), stop.as_double(), count,
                           [&](long double part) { return a * std::pow(b / a, part); }),
                   start.is_int() && stop.is_int());
}

std::vector<Value> logspace(const Value& start, const Value& stop, std::int64_t count,
                            const Value& base) {
  const long double a = start.as_double(), b = stop.as_double(), root = base.as_double();
  if (!(root > 0)) throw UserError(concat("has base ", base.as_string(), "; expected above 0"));
  const auto power = [&](long double exponent) { return std::pow(root, exponent); };
  return values_of(between(rounded(power(a)), rounded(power(b)), count,
                           [&](long double part) { return power(a + (b - a) * part); }),
                   start.is_int() && stop.is_int() && base.is_int());
}

std::vector<Value> geomrange(const Value& start, const Value& stop, const Value& factor) {
  const long double first = start.as_double(), end = stop.as_double(), by = factor.as_double();
  if (!(by > 0) || by == 1 || !(first * end > 0)) {
    throw UserError("has no end; expected a factor above 0 that is not 1, and limits of one sign");
  }
  std::vector<double> numbers;
  const bool away = by > 1;  // from zero
  for (std::int64_t i = 0;; ++i) {
    const double number = rounded(first * std::pow(by, static_cast<long double>(i)));
    if (away ? std::abs(number) >= std::abs(end) : std::abs(number) <= std::abs(end)) break;
    if (i >= kMaxValues) throw UserError("has more than 100,000 numbers");
    numbers.push_back(number);
  }
  return values_of(std::move(numbers), start.is_int() && factor.is_int());
}

}  // namespace difflab::config
