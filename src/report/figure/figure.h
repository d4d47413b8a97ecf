#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "report/data/config_types.h"

namespace difflab::report {

class Frame;
struct Style;
struct Drawing;

/// Width of a figure on paper.
enum class ColumnWidth {
  kSingle,  ///< one column of a two-column page, 3.3 inches
  kDouble   ///< the whole text width, 6.8 inches
};

enum class AxisScale { kLinear, kLog };

/// Refuses a logarithmic scale of differences.
inline void check_linear(std::string_view key, AxisScale scale, const std::string& against,
                         config::Check& check) {
  if (against.empty() || scale != AxisScale::kLog) return;
  check.problem(key, "is log with against; expected linear, because differences may be negative");
}

/// Fields that every kind of figure has.
struct FigureCommon {
  static constexpr std::string_view kKindKey = "mark";  ///< the YAML key that picks the kind

  std::string name;    ///< file name without extension
  std::string title;   ///< empty: made from the metric
  std::string source;  ///< evaluation whose cells are drawn; empty: see the kind
  TextMap where;       ///< keeps only cells with these values, e.g. {needles: 4, queries: 1}
  ColumnWidth width = ColumnWidth::kSingle;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "file name without extension");
    visit("title", title, "heading; empty: made from the metric");
    visit("source", source, "evaluation of result.json whose cells are drawn; empty: the metrics");
    visit("where", where, "keep only cells with these values, e.g. {needles: 4, queries: 1}");
    visit("width", width, "single or double column of a paper");
  }
};

/// Rules for the names in a figure's fields, which the figure states in `check_names`; who asks
/// overrides those that it knows more of.
class FigureRules {
 public:
  virtual ~FigureRules() = default;
  virtual void must_be_axis(std::string_view /*key*/, const std::string& /*name*/) {}
  virtual void may_be_axis(const std::string& /*name*/) {}
  virtual void may_use_any_axis() {}
  virtual void must_be_value(std::string_view /*key*/, const std::string& /*axis*/,
                             const std::string& /*value*/) {}
  virtual void must_be_metric(std::string_view /*key*/, const std::string& /*name*/) {}
  virtual void must_be_curve(std::string_view /*key*/, const std::string& /*name*/) {}
  /// A metric, an axis, or a path in the configuration.
  virtual void must_be_known(std::string_view /*key*/, const std::string& /*name*/) {}

  /// An axis, or a key of the cells where there are any.
  void must_vary(std::string_view key, const std::string& name, const FigureCommon& figure) {
    if (figure.source.empty()) {
      must_be_axis(key, name);
    } else {
      may_be_axis(name);
    }
  }
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::ColumnWidth> = names("single",
                                                                                    "double");

template <>
inline constexpr auto difflab::config::kNames<difflab::report::AxisScale> = names("linear", "log");
