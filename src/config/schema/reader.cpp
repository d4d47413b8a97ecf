#include "config/schema/reader.h"

#include <array>
#include <limits>

#include "config/value/scalar.h"

namespace difflab::config {
namespace {

/// 64 needs no point, 0.5 does.
std::string limit_text(double limit) {
  std::string text = number_text(limit);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

const Source& nearest_source(const Value& map, std::string_view path) {
  if (const Value* value = map.find_path(path)) return value->source;
  const auto end = path.find_last_of(".[");
  return end == std::string_view::npos ? map.source : nearest_source(map, path.substr(0, end));
}

std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : concat(path, ".", key);
}

void add_unexpected(const Value& value, const std::string& path, std::string_view expected,
                    Problems& problems) {
  if (value.is_missing()) {
    problems.add(value.source, path, concat(path, " is ???, which must be given: ", expected));
    return;
  }
  const std::string name = path.empty() ? "the configuration" : path;
  problems.add(value.source, path, concat(name, " is ", describe(value), "; expected ", expected));
}

void Reader::finish() const {
  // A sweep over kinds asks each for keys that another one has.
  const bool has_kinds = is_among("kind", known_);
  const Value* kind = has_kinds ? map_.find("kind") : nullptr;
  const auto whose = kind && kind->is_string() ? " of " + kind->as_string() : "";
  for (const Value::Entry& entry : map_.entries()) {
    if (is_among(entry.key, known_)) continue;
    const std::string path = join_path(path_, entry.key);
    const std::string hint = known_.empty()            ? "; expected no keys here"
                             : entry.key == "_target_" ? "; kind: NAME picks a C++ class"
                                                       : suggestion(entry.key, known_);
    problems_.add(entry.source, path, concat("unknown key ", path, whose, hint));
  }
}

void PlacedCheck::problem(std::string_view key, std::string_view message) {
  const std::string path = join_path(path_, key);
  problems_.add(nearest_source(map_, key), path, concat(path, " ", message));
}

namespace detail {

std::optional<bool> to_bool(const Value& value) {
  if (value.is_bool()) return value.as_bool();
  if (!value.is_string()) return std::nullopt;
  static constexpr std::array<std::string_view, 6> kWords{"false", "no",  "off",
                                                          "true",  "yes", "on"};
  const auto word = std::ranges::find(kWords, lower_case(value.as_string()));
  return word == kWords.end() ? std::nullopt : std::optional(word - kWords.begin() >= 3);
}

std::optional<std::int64_t> to_int(const Value& value) {
  if (value.is_int()) return value.as_int();
  if (value.is_string()) return parse_int(value.as_string());
  if (!value.is_double()) return std::nullopt;
  // 1e4 is a number in YAML, and a whole one to everybody else. Beyond 2^53 it may be rounded.
  const double number = value.as_double();
  const bool whole = number == std::floor(number) && std::abs(number) <= 0x1p53;
  return whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

std::optional<double> to_double(const Value& value) {
  if (value.is_number()) return value.as_double();
  return value.is_string() ? parse_float(value.as_string()) : std::nullopt;
}

std::string expected_number(std::string_view noun, Range range) {
  const bool low = range.low != -std::numeric_limits<double>::infinity();
  const bool high = range.high != std::numeric_limits<double>::infinity();
  if (low && high) {
    return concat(noun, " from ", limit_text(range.low), " to ", limit_text(range.high));
  }
  if (low) return concat(noun, " of at least ", limit_text(range.low));
  if (high) return concat(noun, " of at most ", limit_text(range.high));
  return std::string(noun);
}

}  // namespace detail

}  // namespace difflab::config
