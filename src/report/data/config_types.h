#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"

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

/// Fields of metrics that are derived from metrics of the runs' results.
struct OfMetric {
  static inline const std::string source;  ///< none: no cells
  static inline const TextMap where;

  std::string name;
  std::string value;
};

/// Visits the texts of a figure or derived metric whose description begins with `kind` ("axis").
template <class Use>
struct EachKey {
  std::string_view kind;
  Use use;  ///< takes the key and the name that it has

  void operator()(auto key, const std::string& name, const auto& about, const auto&...) {
    if (std::string_view(about).starts_with(kind)) use(key, name);
  }
  void operator()(auto, const auto&, const auto&...) {}
};
template <class Use>
EachKey(std::string_view, Use) -> EachKey<Use>;

/// One name or a list of names: `rows: model`, `rows: [model, task.needles]`.
struct NameList {
  std::vector<std::string> names;

  static std::optional<NameList> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "a name or a list of names"; }
  bool operator==(const NameList&) const = default;
};

/// A share as a text with a per cent sign, or as a number: `10 %`, `0.1`.
struct Share {
  double value = 0;

  static std::optional<Share> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "a share from 0 to below 1, e.g. 10 % or 0.1"; }
  bool operator==(const Share&) const = default;
};

enum class Compared { kDifferences, kRatios };

/// How times to an event are compared, in all claims and tables of a study.
struct TimesConfig {
  Compared compare = Compared::kDifferences;
  Share margin = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("compare", compare, "by differences of means, or as ratios of geometric means");
    visit("margin", margin,
          "of ratios: the variants are equivalent if neither takes longer by more, for claims that "
          "expect it, e.g. 10 %");
  }
  void validate(config::Check& check) const;
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::Compared> = names("differences",
                                                                                 "ratios");
