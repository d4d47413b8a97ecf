#pragma once

#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/figure/figure.h"
#include "report/figure/style_config.h"
#include "util/json.h"

namespace difflab::report {

/// A figure as data: the specification that draws it and the table it was drawn from.
struct Drawing {
  Json spec;  ///< Vega-Lite 5 with its data inside
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  std::string csv() const;
};

/// How one variant is drawn: colour, marker and dash all differ between the looks, so that people
/// with any common colour blindness and print in grey tell them apart.
struct Look {
  std::string color;
  std::string shape;  ///< Vega symbol
  Json dash;          ///< stroke dash lengths
};

/// The looks of an axis' values, in their order. A value keeps its look whichever other values are
/// swept and in whatever order: the models of configs/model have theirs by name, the Transformer's
/// is ink; any other value is led to one by its name. Where two would share a look the later one
/// in the sweep takes the next that is free. A baseline that is no model of ours gets the ink if it
/// is free.
std::vector<Look> looks_of(const std::vector<std::string>& values, const std::string& baseline);

/// How an axis value looks in every figure of a study.
struct Series {
  std::string value;  ///< axis value
  std::string label;  ///< as printed
  std::string color;
  std::string shape;  ///< Vega symbol
  Json dash;          ///< stroke dash lengths
};

/// The look that all figures share.
struct Style {
  const Labels& labels;
  StyleConfig config = {};

  /// The values of an axis in sweep order with their looks.
  std::vector<Series> series(const Frame& frame, const std::string& axis) const;

  /// The same of an axis or of a key of the rows: its values there, numbers ascending, others in
  /// the order of the rows. None for an empty key.
  std::vector<Series> series(const Frame& frame, const std::vector<Observation>& rows,
                             const std::string& key) const;

  /// The same, but one look for all rows without a key.
  std::vector<Series> lines(const Frame& frame, const std::vector<Observation>& rows,
                            const std::string& key) const;

  /// The series without values that no row has, whose panels would be empty.
  std::vector<Series> panels(const Frame& frame, const std::vector<Observation>& rows,
                             const std::string& key) const;

  /// The frame of a specification: schema, title (`fallback` unless the figure has its own),
  /// fonts, sizes; no data, no marks. Empty lines of the subtitle are left out.
  Json start(const FigureCommon& figure, const std::string& fallback,
             std::vector<std::string> subtitle) const;
};

/// Pixels of 1/96 inch.
int pixels(ColumnWidth width);

/// Colours that the page swaps in dark mode.
constexpr std::string_view kInk = "#1a1a1a";
constexpr std::string_view kMutedInk = "#595959";
constexpr std::string_view kGridLine = "#e4e4e4";
constexpr std::string_view kPaper = "#ffffff";

/// {"domain": labels, "range": looks} for the colour, shape and dash channels.
Json color_scale(const std::vector<Series>& series);
Json shape_scale(const std::vector<Series>& series);
Json dash_scale(const std::vector<Series>& series);
Json label_list(const std::vector<Series>& series);

}  // namespace difflab::report
