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

/// A figure that shows differences to one value of an axis; the value is empty if it shows none.
struct Difference {
  std::string axis, against;
};

/// Fields that every kind of figure has, and a default that a kind overrides by declaring the same.
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

  Difference difference() const { return {}; }
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::ColumnWidth> = names("single",
                                                                                    "double");

template <>
inline constexpr auto difflab::config::kNames<difflab::report::AxisScale> = names("linear", "log");
