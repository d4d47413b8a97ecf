#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace difflab::config {
class Value;
}

namespace difflab::report {

/// A free-form map of names to texts that keeps its order, e.g. labels: {diff: DIFF V1}.
struct TextMap {
  std::vector<std::pair<std::string, std::string>> entries;

  std::optional<std::string> find(std::string_view name) const;

  static std::optional<TextMap> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "a map of names to texts"; }
  bool operator==(const TextMap&) const = default;
};

/// One name or a list of names: `rows: model`, `rows: [model, task.needles]`.
struct NameList {
  std::vector<std::string> names;

  static std::optional<NameList> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "a name or a list of names"; }
  bool operator==(const NameList&) const = default;
};

}  // namespace difflab::report
