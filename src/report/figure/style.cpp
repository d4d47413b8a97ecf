#include "report/figure/style.h"

#include <algorithm>
#include <set>

#include "report/data/format.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr const char* kFont = "Liberation Sans, Arial, Helvetica, sans-serif";

Json theme() {
  return Json::parse(R"json({
    "font": "FONT",
    "background": "PAPER",
    "padding": 4,
    "view": {"stroke": null},
    "title": {"anchor": "start", "frame": "bounds", "fontSize": 11, "fontWeight": "bold",
              "color": "INK", "subtitleFontSize": 9, "subtitleColor": "MUTED",
              "subtitlePadding": 3, "offset": 8},
    "axis": {"labelFontSize": 9, "titleFontSize": 10, "titleFontWeight": "normal",
             "labelColor": "INK", "titleColor": "INK", "domainColor": "INK", "tickColor": "INK",
             "domainWidth": 0.7, "tickWidth": 0.7, "tickSize": 3, "gridColor": "GRID",
             "gridWidth": 0.6, "labelFlush": false, "labelSeparation": 4, "titlePadding": 6, "labelPadding": 3},
    "legend": {"labelFontSize": 9, "titleFontSize": 9, "titleFontWeight": "normal",
               "labelColor": "INK", "titleColor": "INK", "labelLimit": 240, "symbolSize": 36,
               "symbolStrokeWidth": 1.4, "symbolOpacity": 1, "rowPadding": 2, "columnPadding": 12},
    "header": {"labelFontSize": 9.5, "titleFontSize": 10, "labelColor": "INK",
               "titleColor": "INK", "labelPadding": 4}
  })json");
}

void replace_text(Json& json, const std::string& from, std::string_view to) {
  if (json.is_string() && json.get<std::string>() == from) json = to;
  if (json.is_object() || json.is_array()) {
    for (auto& inner : json) replace_text(inner, from, to);
  }
}

// The text in lines of at most `letters` letters.
Json text_lines(const std::string& text, double letters) {
  return split(wrap(text, static_cast<std::size_t>(letters)), '\n');
}

std::vector<Series> series_of(const std::vector<std::string>& values, const std::string& baseline,
                              const Style& style) {
  const auto looks = looks_of(values, baseline);
  std::vector<Series> series;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string label = style.labels.value(values[i]);
    if (!taken.insert(label).second) label = values[i];
    const auto& palette = style.config.palette;
    const auto& color = palette.empty() ? looks[i].color : palette[i % palette.size()];
    series.push_back({values[i], label, color, looks[i].shape, looks[i].dash});
  }
  return series;
}

Json scale_of(const std::vector<Series>& series, const auto& look) {
  Json range = Json::array();
  for (const Series& one : series) range.push_back(look(one));
  return Json{{"domain", label_list(series)}, {"range", std::move(range)}};
}

}  // namespace

std::string Drawing::csv() const {
  std::string out = csv_line(columns);
  for (const auto& row : rows) out += csv_line(row);
  return out;
}

std::vector<Series> Style::series(const Frame& frame, const std::string& axis) const {
  return series_of(frame.values(axis), frame.baseline(), *this);
}

std::vector<Series> Style::series(const Frame& frame, const std::vector<Observation>& rows,
                                  const std::string& key) const {
  if (key.empty()) return {};
  if (frame.has_axis(key)) return series(frame, key);
  std::vector<std::string> values;
  for (const Observation& row : rows) add_new(values, row.text(key));
  const bool numbers = std::ranges::all_of(
      values, [](const std::string& text) { return parse_number(text).has_value(); });
  if (numbers) {
    std::ranges::sort(values, [](const std::string& a, const std::string& b) {
      return *parse_number(a) < *parse_number(b);
    });
  }
  return series_of(values, frame.baseline(), *this);
}

std::vector<Series> Style::lines(const Frame& frame, const std::vector<Observation>& rows,
                                 const std::string& key) const {
  if (key.empty()) return {{"", "all", std::string(kInk), "circle", Json::array({1, 0})}};
  return series(frame, rows, key);
}

std::vector<Series> Style::panels(const Frame& frame, const std::vector<Observation>& rows,
                                  const std::string& key) const {
  auto found = series(frame, rows, key);
  std::erase_if(found, [&](const Series& one) {
    return std::ranges::none_of(
        rows, [&](const Observation& row) { return is_same_value(row.text(key), one.value); });
  });
  return found;
}

Json Style::start(const FigureCommon& figure, const std::string& fallback,
                  std::vector<std::string> subtitle) const {
  std::erase(subtitle, "");
  const std::string heading = capital(figure.title.empty() ? fallback : figure.title);
  Json look = theme();
  replace_text(look, "FONT", kFont);
  replace_text(look, "PAPER", kPaper);
  replace_text(look, "INK", kInk);
  replace_text(look, "MUTED", kMutedInk);
  replace_text(look, "GRID", kGridLine);
  // Generous mean advances of a bold 11-pixel and a plain 9-pixel letter: browsers may lack the
  // font.
  const double room = (pixels(figure.width) - 8) / config.text_scale();
  const Json title = text_lines(heading, room / 6.2);
  Json lines = Json::array();
  for (const std::string& line : subtitle) {
    for (const Json& part : text_lines(line, room / 4.7)) lines.push_back(part);
  }
  return Json{{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
              {"description", heading + (subtitle.empty() ? "" : ". " + join(subtitle, ". "))},
              {"title", Json{{"text", title}, {"subtitle", std::move(lines)}}},
              {"config", std::move(look)}};
}

int pixels(ColumnWidth width) {
  return width == ColumnWidth::kSingle ? 317 : 653;  // 3.3 and 6.8 inches
}

Json color_scale(const std::vector<Series>& series) {
  return scale_of(series, [](const Series& one) { return Json(one.color); });
}
Json shape_scale(const std::vector<Series>& series) {
  return scale_of(series, [](const Series& one) { return Json(one.shape); });
}
Json dash_scale(const std::vector<Series>& series) {
  return scale_of(series, [](const Series& one) { return one.dash; });
}
Json label_list(const std::vector<Series>& series) {
  Json labels = Json::array();
  for (const Series& one : series) labels.push_back(one.label);
  return labels;
}

}  // namespace difflab::report
