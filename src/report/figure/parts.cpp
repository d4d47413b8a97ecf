#include "report/figure/parts.h"

#include <algorithm>
#include <set>

#include "report/data/format.h"
#include "util/text.h"

namespace difflab::report {

std::string key_text(const Json& key) { return key.is_null() ? "" : text_of(key); }

std::string label_of(const Json& key, const std::vector<Series>& series, const Labels& labels) {
  for (const Series& one : series) {
    const auto number = parse_number(one.value);
    const bool is_it = key_text(key) == one.value || (number && key.is_number() && key == *number);
    if (is_it) return one.label;
  }
  return labels.value(key_text(key));
}

Json legend_title(const std::vector<Series>& series, const std::string& axis,
                  const Labels& labels) {
  const bool numbers = std::ranges::all_of(
      series, [](const Series& one) { return parse_number(one.label).has_value(); });
  return numbers ? Json(labels.axis(axis)) : Json(nullptr);
}

int legend_columns(const std::vector<Series>& series) {
  const bool are_long =
      std::ranges::any_of(series, [](const Series& one) { return display_width(one.label) > 30; });
  return are_long ? 1 : 2;
}

std::vector<double> chance_levels(const std::vector<Observation>& rows,
                                  const std::string& measure) {
  const std::string key = measure == "accuracy" ? "chance" : measure + "_chance";
  std::set<double> levels;
  for (const Observation& row : rows) {
    const auto level = row.measured(key);
    if (level && row.measured(measure)) levels.insert(*level);
  }
  if (!levels.empty()) return {levels.begin(), levels.end()};
  std::vector<const FrameRun*> drawn;  // of other runs the level may be another
  for (const Observation& row : rows) drawn.push_back(row.run);
  return chance_in(drawn, measure);
}

std::string describe_chance(const std::vector<double>& levels) {
  if (levels.empty()) return "";
  if (levels.size() == 1) return "dashed: chance";
  const Metric share = metric_of("accuracy");
  return concat("chance ", share.text(levels.front()), " to ", share.text(levels.back()));
}

Json rule_at(const char* name, const Json& value, const char* channel, Json mark) {
  Json layer = {{"data", Json{{"values", Json::array({Json{{name, value}}})}}},
                {"mark", std::move(mark)}};
  layer["encoding"][channel] = Json{{"field", name}, {"type", "quantitative"}};
  return layer;
}

Json chance_rules(const std::vector<double>& levels, const char* channel) {
  Json layers = Json::array();
  if (levels.size() > 1) return layers;
  for (const double level : levels) {
    layers.push_back(rule_at("chance", level, channel,
                             {{"type", "rule"},
                              {"strokeDash", Json::array({3, 3})},
                              {"color", kMutedInk},
                              {"strokeWidth", 0.8}}));
  }
  return layers;
}

Json spread_fields(const Group& group) {
  Json fields = {{"mean", group.average}, {"low", nullptr}, {"high", nullptr}, {"n", group.n()}};
  if (group.interval) {
    fields["low"] = group.interval->low;
    fields["high"] = group.interval->high;
  }
  return fields;
}

std::size_t drop_intervals_at_zero(Json& values) {
  std::size_t dropped = 0;
  for (Json& row : values) {
    if (!row.at("low").is_number() || row["low"].get<double>() > 0) continue;
    row["low"] = row["high"] = nullptr;
    ++dropped;
  }
  return dropped;
}

std::string describe_dropped(std::size_t intervals) {
  return intervals == 0
             ? ""
             : concat(intervals, intervals == 1 ? " interval reaches 0 and is not shown"
                                                : " intervals reach 0 and are not shown");
}

void add_csv(Drawing& drawing, const std::vector<std::string>& keys, const std::string& measure,
             const std::vector<Group>& groups) {
  for (const std::string& key : keys) {
    if (!key.empty()) drawing.columns.push_back(key);
  }
  for (const char* part : {"mean_", "low_", "high_"}) drawing.columns.push_back(part + measure);
  drawing.columns.emplace_back("n");
  for (const Group& group : groups) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!keys[i].empty()) row.push_back(key_text(group.keys[i]));
    }
    row.push_back(plain_number(group.average));
    add_ends(group.interval, row);
    row.push_back(concat(group.n()));
    drawing.rows.push_back(std::move(row));
  }
}

Json number_axis(Json axis) {
  // A logarithmic scale leaves most of its ticks unlabelled.
  axis["labelExpr"] = "datum.label === '' ? '' : format(datum.value, ',.6~r')";
  return axis;
}

Json number_channel(const char* field, const Json& title, const Json& scale, const Json& axis) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", scale},
          {"axis", axis.is_null() ? axis : number_axis(axis)}};
}

Json name_channel(const char* field, const Json& title, const Json& scale, const Json& legend) {
  return {{"field", field},
          {"type", "nominal"},
          {"title", title},
          {"scale", scale},
          {"legend", legend}};
}

int panels_across(std::size_t panels, int most) {
  const int number = std::max(static_cast<int>(panels), 1);
  const int rows = (number + most - 1) / most;
  for (int across = (number + rows - 1) / rows; across > 1; --across) {
    if (number % across != 1) return across;
  }
  return number <= 3 ? 1 : std::min(number, most);  // three below each other, never more
}

bool has_gap(const std::vector<Series>& panels, int columns) {
  return panels.size() % static_cast<std::size_t>(columns) != 0;
}

void split_into_panels(Json& spec, const std::vector<Series>& panels, const std::string& axis,
                       const Labels& labels, int columns, Json panel) {
  constexpr double kLetter = 4.9;  // pixels of a heading's letter
  const std::string name = axis == "model" ? "" : labels.axis(axis) + ": ";
  const auto letters = static_cast<std::size_t>((panel["width"].get<int>() + kPanelGap) / kLetter);
  Json order = Json::array();
  Json headings = Json::object();
  std::ptrdiff_t lines = 1;
  for (const Series& one : panels) {
    const auto& heading = headings[one.label] = wrap(name + one.label, letters);
    order.push_back(heading);
    const auto& text = heading.get_ref<const std::string&>();
    lines = std::max(lines, 1 + std::ranges::count(text, '\n'));
  }
  // Vega-Lite heeds no labelExpr where panels wrap. The name is a string of the expression, too.
  const std::string told =
      lines == 1 ? Json(name).dump() + " + datum.panel" : headings.dump() + "[datum.panel]";
  spec["transform"] = Json::array({{{"calculate", told}, {"as", "heading"}}});
  if (lines > 1) spec["config"]["lineBreak"] = "\n";
  spec["facet"] =
      Json{{"field", "heading"}, {"type", "nominal"}, {"title", nullptr}, {"sort", order}};
  spec["columns"] = columns;
  // Otherwise the axis of a column stands in the last row, also where that has no panel.
  if (has_gap(panels, columns)) spec["resolve"] = Json{{"axis", Json{{"x", "independent"}}}};
  spec["spacing"] = Json{{"row", 14 + 12 * lines}, {"column", kPanelGap}};
  spec["spec"] = std::move(panel);
}

void lay_out_plot(Json& spec, const Plot& plot, Json layers) {
  constexpr int kHeight = 175, kPanelHeight = 110;  // pixels of one with its axis
  constexpr int kLegendRow = 13, kLegendWidth = 140, kAxisWidth = 45;
  const auto& style = plot.style.config;
  const bool single = plot.figure.width == ColumnWidth::kSingle;
  const bool beside = style.has_legend_beside(!single);
  if (plot.panels.empty()) {
    const int rows = beside ? plot.rows_beside : static_cast<int>(plot.lines.size() + 1) / 2;
    fit_into(spec, plot.figure, plot.style, style.height_of(kHeight) + kLegendRow * rows);
    spec["layer"] = std::move(layers);
    return;
  }
  const int columns = panels_across(plot.panels.size(), single ? 2 : 3);
  const int legend = !beside || plot.lines.size() < 2 ? 0 : kLegendWidth;
  split_into_panels(
      spec, plot.panels, plot.facet, plot.style.labels, columns,
      Json{{"width", (pixels(plot.figure.width) - legend - kAxisWidth) / columns - plot.gap},
           {"height", style.height_of(kPanelHeight)},
           {"layer", std::move(layers)}});
}

Json told_field(const char* field, const Json& title, const char* format) {
  Json told = {{"field", field}, {"title", title}};
  if (format != nullptr) told["format"] = format;
  return told;
}

void fit_into(Json& spec, const FigureCommon& figure, const Style& style, int height) {
  const Json& title = spec["title"];
  const double lines = 14. * static_cast<double>(title["text"].size()) +
                       12. * static_cast<double>(title["subtitle"].size());
  spec["width"] = pixels(figure.width);
  spec["height"] = height + 10 + static_cast<int>(style.config.text_scale() * lines);
  spec["autosize"] = Json{{"type", "fit"}, {"contains", "padding"}};
}

}  // namespace difflab::report
