#include "report/mark/heatmap.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "statistics/share.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kGap = 12;            // pixels between panels
constexpr int kAroundPanels = 112;  // pixels for the axis on the left and the colour scale
constexpr int kWidestPanel = 190;
constexpr int kLegibleCell = 20;  // a narrower cell shows no number
constexpr int kOutlinedCell = 8;  // a smaller cell is all colour, and not each has a label
constexpr int kTallestPanel = 400;
constexpr int kLowestCell = 3;
constexpr double kDarkTextAbove = 0.62;
constexpr double kDarkTextWithin = 0.6;  // of a difference map's largest value

// ".95", "1.0": the shortest text with two digits.
std::string cell_text(double value) {
  const std::string text = format_number(value, 2);
  if (text == "1.00") return "1.0";
  return text.starts_with("0") ? text.substr(1) : text;
}

// "+.12", "−.05", "0".
std::string difference_text(double value) {
  const std::string size = cell_text(std::abs(value));
  if (size == ".00") return "0";
  return (value > 0 ? "+" : "\u2212") + size;
}

struct HeatmapPlan {
  const HeatmapConfig& config;
  Metric metric;
  std::vector<Series> panels;
  std::vector<Group> groups;
  std::vector<double> chance;
  double reach;          // of the colour scale: 1, or the largest difference
  std::string left_out;  // sentence, or empty
  const Style& style;

  bool is_difference() const { return !config.against.empty(); }
};

int distinct(const HeatmapPlan& plan, std::size_t key) {
  std::set<std::string> values;
  for (const Group& group : plan.groups) values.insert(key_text(group.keys[key]));
  return static_cast<int>(std::max<std::size_t>(values.size(), 1));
}

Json data_of(const HeatmapPlan& plan) {
  Json values = Json::array();
  for (const Group& group : plan.groups) {
    values.push_back(Json{
        {"panel", label_of(group.keys[0], plan.panels, plan.style.labels)},
        {"y", group.keys[1]},
        {"x", group.keys[2]},
        {"value", group.average},
        {"text", plan.is_difference() ? difference_text(group.average) : cell_text(group.average)},
        {"answers", group.answers > 0 ? concat(group.right, " of ", group.answers) : ""},
        {"runs", group.n()}});
  }
  return values;
}

// Contexts of whole kibi-tokens are as narrow as their cells: 2K.
constexpr const char* kShortLabel =
    "isNumber(datum.value) && datum.value >= 1024 && datum.value % 1024 === 0 "
    "? datum.value / 1024 + 'K' : datum.label";

// A place of `room` pixels for each value.
Json axis_channel(const HeatmapPlan& plan, const std::string& key, const char* field,
                  std::size_t index, int room) {
  const bool numeric = std::ranges::all_of(
      plan.groups, [&](const Group& group) { return group.keys[index].is_number(); });
  Json axis = {{"labelAngle", 0}, {"ticks", false}, {"domain", false}, {"labelExpr", kShortLabel}};
  if (room < kOutlinedCell) axis["labelOverlap"] = "greedy";
  return {{"field", field},
          {"type", "ordinal"},
          {"title", plan.style.labels.axis_title(metric_of(key))},
          {"sort", numeric ? Json("ascending") : Json(nullptr)},
          {"axis", std::move(axis)}};
}

struct PanelSize {
  int across, width, height, cell_width, cell_height;
};

PanelSize panel_size(const HeatmapPlan& plan) {
  const int most = plan.config.width == ColumnWidth::kSingle ? 2 : 4;
  PanelSize size{};
  size.across = plan.config.columns > 0
                    ? static_cast<int>(plan.config.columns)
                    : panels_across(static_cast<std::size_t>(distinct(plan, 0)), most);
  const int room = pixels(plan.config.width) - kAroundPanels - kGap * (size.across - 1);
  size.width = std::clamp(room / size.across, 20, kWidestPanel);
  size.cell_width = size.width / distinct(plan, 2);
  const int rows = distinct(plan, 1);
  size.cell_height = std::clamp(size.cell_width * 3 / 4, 15, 26);
  if (size.cell_height * rows > kTallestPanel) {
    size.cell_height = std::max(kTallestPanel / rows, kLowestCell);
  }
  size.height = size.cell_height * rows;
  return size;
}

Json color_channel(const HeatmapPlan& plan, const PanelSize& size) {
  Json scale = {{"domain", Json::array({0, 1})}, {"scheme", "viridis"}, {"clamp", true}};
  Json legend = {
      {"gradientLength", std::max(size.height, 70)}, {"gradientThickness", 9}, {"tickCount", 5}};
  std::string title = plan.style.labels.heading(plan.metric);
  if (plan.is_difference()) {
    scale = Json{{"domain", Json::array({-plan.reach, 0, plan.reach})},
                 {"scheme", "blueorange"},
                 {"reverse", true},
                 {"clamp", true}};
    legend["values"] = scale["domain"];
    title = "difference";
  }
  return {{"field", "value"},
          {"type", "quantitative"},
          {"title", title},
          {"scale", std::move(scale)},
          {"legend", std::move(legend)}};
}

Json layers(const HeatmapPlan& plan, const PanelSize& size) {
  const Labels& labels = plan.style.labels;
  const Json x = axis_channel(plan, plan.config.x, "x", 2, size.cell_width);
  const Json y = axis_channel(plan, plan.config.y, "y", 1, size.cell_height);
  const std::string panel = plan.config.facet.empty() ? "" : labels.axis(plan.config.facet);
  const Json tooltip = Json::array(
      {told_field("panel", panel), told_field("x", x["title"]), told_field("y", y["title"]),
       told_field("value", labels.heading(plan.metric), ".3f"),
       told_field("answers", "right answers"), told_field("runs", "runs")});
  const bool outlined = std::min(size.cell_width, size.cell_height) >= kOutlinedCell;
  Json result = Json::array();
  result.push_back(
      Json{{"mark", outlined ? Json{{"type", "rect"}, {"stroke", kPaper}, {"strokeWidth", 0.6}}
                             : Json{{"type", "rect"}}},
           {"encoding",
            Json{{"x", x}, {"y", y}, {"color", color_channel(plan, size)}, {"tooltip", tooltip}}}});
  if (size.cell_width < kLegibleCell || !outlined) return result;
  const std::string legible_black =
      plan.is_difference() ? concat("abs(datum.value) < ", kDarkTextWithin * plan.reach)
                           : concat("datum.value > ", kDarkTextAbove);
  const Json ink = {{"condition", Json{{"test", legible_black}, {"value", "black"}}},
                    {"value", "white"}};
  result.push_back(Json{
      {"mark", Json{{"type", "text"}, {"fontSize", size.cell_width >= 26 ? 9 : 8}}},
      {"encoding", Json{{"x", x}, {"y", y}, {"text", Json{{"field", "text"}}}, {"color", ink}}}});
  return result;
}

std::vector<std::string> subtitle_of(const HeatmapPlan& plan, const Frame& frame) {
  const Labels& labels = plan.style.labels;
  std::vector<std::string> parts = {describe_spread(plan.groups, /*shows_interval=*/false)};
  if (plan.is_difference()) {
    parts[0] = concat("Minus ", labels.value(plan.config.against), " on equal seeds. ", parts[0]);
  }
  for (const auto& [key, text] : plan.config.where.entries) {
    parts.push_back(concat(labels.heading(metric_of(key)), " = ", labels.value(text)));
  }
  if (plan.is_difference()) {
    // A difference has no chance level.
  } else if (plan.chance.size() == 1) {
    parts.push_back("chance level " + plan.metric.text(plan.chance[0]));
  } else if (!plan.chance.empty()) {
    parts.push_back(describe_chance(plan.chance));
  }
  return {join(parts, "; "), describe_gaps(frame, plan.config.facet, plan.config.where, labels),
          plan.left_out};
}

// Leaves out the rows of runs that never got to the event, and says so.
std::string keep_reached(const std::string& event, const Labels& labels,
                         std::vector<Observation>& rows) {
  if (event.empty()) return "";
  std::set<const FrameRun*> all, late;
  for (const auto& row : rows) {
    all.insert(row.run);
    if (!row.run->metric(event)) late.insert(row.run);
  }
  std::erase_if(rows, [&](const Observation& row) { return late.count(row.run) > 0; });
  return concat(all.size() - late.size(), " of ", all.size(), " runs; the others never got there (",
                labels.heading(metric_of(event)), ")");
}

void add_pooled_csv(const HeatmapPlan& plan, Drawing& drawing) {
  drawing.columns.insert(drawing.columns.end(),
                         {"right_answers", "answers", "wilson_low", "wilson_high"});
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const Group& group = plan.groups[i];
    const auto wilson = wilson_interval(group.right, group.answers);
    auto& row = drawing.rows[i];
    row.push_back(wilson ? concat(group.right) : "");
    row.push_back(wilson ? concat(group.answers) : "");
    add_ends(wilson, row);
  }
}

void lay_out(const HeatmapPlan& plan, Json& spec) {
  const PanelSize size = panel_size(plan);
  Json panel = {{"width", size.width}, {"height", size.height}, {"layer", layers(plan, size)}};
  if (plan.config.facet.empty()) {
    spec.update(panel);
    return;
  }
  split_into_panels(spec, plan.panels, plan.config.facet, plan.style.labels, size.across,
                    std::move(panel));
  spec["spacing"] = kGap;
}

double reach_of(const std::vector<Group>& groups) {
  double reach = 0.1;  // smaller differences shall not look large
  for (const Group& group : groups) reach = std::max(reach, std::abs(group.average));
  return std::ceil(reach * 10 - 1e-9) / 10;
}

}  // namespace

Drawing HeatmapConfig::draw(const Frame& frame, const Style& style) const {
  const std::vector<std::string> keys = {facet, y, x};
  auto rows = frame.observations(source, false, where);
  auto left_out = keep_reached(reached, style.labels, rows);
  auto groups = aggregate(frame, rows, keys, value);
  if (!against.empty()) groups = differences(frame, groups, keys, facet, against, metric_of(value));
  auto panels = style.series(frame, rows, facet);
  std::erase_if(panels, [&](const Series& one) { return is_same_value(one.value, against); });
  const HeatmapPlan plan{.config = *this,
                         .metric = metric_of(value),
                         .panels = panels,
                         .groups = groups,
                         .chance = chance_levels(rows, value),
                         .reach = against.empty() ? 1 : reach_of(groups),
                         .left_out = std::move(left_out),
                         .style = style};

  Drawing drawing;
  drawing.spec = style.start(
      *this,
      concat(style.labels.heading(plan.metric), " by ", style.labels.heading(metric_of(y)), " and ",
             style.labels.heading(metric_of(x))),
      subtitle_of(plan, frame));
  drawing.spec["data"] = Json{{"values", data_of(plan)}};
  lay_out(plan, drawing.spec);
  add_csv(drawing, keys, against.empty() ? value : concat(value, kDifferenceSuffix), plan.groups);
  if (against.empty()) add_pooled_csv(plan, drawing);
  return drawing;
}

}  // namespace difflab::report
