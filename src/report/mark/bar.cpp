#include "report/mark/bar.h"

#include <algorithm>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kBarStep = 19;         // pixels from one lying bar to the next
constexpr int kAxisHeight = 38;      // pixels of the axis with its title
constexpr int kBarPlotHeight = 160;  // pixels of standing bars
constexpr int kBarPanelHeight = 110;
constexpr int kNamesWidth = 130;
constexpr int kBarLegendWidth = 140;

// Bars lie down where each has a name of its own, and stand where they are grouped.
struct BarLayout {
  bool lying;
  const char* category;  // channel of the names
  const char* length;    // channel of the values
  const char* length2;
};
constexpr BarLayout kLying = {true, "y", "x", "x2"};
constexpr BarLayout kStanding = {false, "x", "y", "y2"};

struct BarPlan {
  const BarConfig& config;
  const BarLayout& layout;
  Metric metric;
  std::vector<Series> looks;  // of the colour axis
  std::vector<Series> names;  // of the x axis, if it is one
  std::vector<Series> panels;
  std::string category_title;
  std::vector<double> chance;
  const Style& style;
};

Json data_of(const std::vector<Group>& groups, const BarPlan& plan) {
  Json values = Json::array();
  for (const Group& group : groups) {
    Json row = {{"panel", label_of(group.keys[0], plan.panels, plan.style.labels)},
                {"category", label_of(group.keys[1], plan.names, plan.style.labels)},
                {"series", label_of(group.keys.back(), plan.looks, plan.style.labels)}};
    row.update(spread_fields(group));
    row["values"] = group.values;
    values.push_back(std::move(row));
  }
  return values;
}

// All names of the x axis, also those without a result, then whatever else the data hold.
Json categories(const BarPlan& plan, const Json& values) {
  Json order = label_list(plan.names);
  for (const Json& row : values) {
    if (std::find(order.begin(), order.end(), row["category"]) == order.end()) {
      order.push_back(row["category"]);
    }
  }
  return order;
}

Json positions(const BarPlan& plan, const Json& order, const char* field) {
  Json scale = Json::object();
  if (plan.metric.is_share) scale["domain"] = Json::array({0, 1});
  Json channels = Json::object();
  channels[plan.layout.category] =
      Json{{"field", "category"},
           {"type", "nominal"},
           {"sort", order},
           {"title", plan.layout.lying ? Json(nullptr) : Json(plan.category_title)},
           {"scale", Json{{"domain", order}, {"paddingInner", 0.25}, {"paddingOuter", 0.15}}},
           {"axis", Json{{"labelAngle", 0},
                         {"ticks", false},
                         {"labelLimit", 200},
                         {"grid", false},
                         {"domain", !plan.layout.lying}}}};
  channels[plan.layout.length] = Json{{"field", field},
                                      {"type", "quantitative"},
                                      {"title", plan.style.labels.axis_title(plan.metric)},
                                      {"scale", std::move(scale)},
                                      {"axis", number_axis(Json{{"tickCount", 5}})}};
  if (!plan.layout.lying) {
    channels["xOffset"] = Json{{"field", "series"},
                               {"sort", label_list(plan.looks)},
                               {"scale", Json{{"domain", label_list(plan.looks)}}}};
  }
  return channels;
}

Json color_channel(const BarPlan& plan) {
  Json legend = {{"orient", "right"}};
  if (plan.config.width == ColumnWidth::kSingle)
    legend = Json{{"orient", "bottom"}, {"columns", 2}};
  return {{"field", "series"},
          {"type", "nominal"},
          {"title", legend_title(plan.looks, plan.config.color, plan.style.labels)},
          {"scale", color_scale(plan.looks)},
          {"legend", plan.layout.lying ? Json(nullptr) : legend}};
}

Json bar_layer(const BarPlan& plan, const Json& order) {
  const auto number = [](const char* field, const std::string& title) {
    return Json{{"field", field}, {"title", title}, {"format", ".4~f"}};
  };
  Json encoding = positions(plan, order, "mean");
  encoding["color"] = color_channel(plan);
  encoding["tooltip"] =
      Json::array({Json{{"field", "category"}, {"title", plan.category_title}},
                   Json{{"field", "series"}, {"title", "bar"}},
                   number("mean", plan.style.labels.heading(plan.metric)),
                   number("low", "95 % from"), number("high", "95 % to"), Json{{"field", "n"}}});
  return {{"mark", Json{{"type", "bar"}, {"fillOpacity", 0.78}}},
          {"encoding", std::move(encoding)}};
}

Json error_layer(const BarPlan& plan, const Json& order) {
  Json encoding = positions(plan, order, "low");
  encoding[plan.layout.length2] = Json{{"field", "high"}};
  return {{"transform", Json::array({Json{{"filter", "isValid(datum.low)"}}})},
          {"mark", Json{{"type", "rule"}, {"clip", true}, {"color", kInk}, {"strokeWidth", 1.1}}},
          {"encoding", std::move(encoding)}};
}

Json point_layer(const BarPlan& plan, const Json& order) {
  return {
      {"transform",
       Json::array({Json{{"flatten", Json::array({"values"})}, {"as", Json::array({"value"})}}})},
      {"mark", Json{{"type", "point"},
                    {"filled", true},
                    {"fill", kPaper},
                    {"stroke", kInk},
                    {"strokeWidth", 0.7},
                    {"size", plan.layout.lying ? 15 : 9},
                    {"opacity", 0.9}}},
      {"encoding", positions(plan, order, "value")}};
}

std::vector<std::string> subtitle_of(const BarPlan& plan, const Frame& frame,
                                     const std::vector<Group>& groups) {
  std::vector<std::string> lines = {describe_spread(groups, /*shows_interval=*/true)};
  if (plan.config.points) lines[0] += " (points)";
  if (!plan.chance.empty()) lines[0] += "; " + describe_chance(plan.chance);
  const std::string& axis = plan.layout.lying ? plan.config.x : plan.config.color;
  const std::string gaps = describe_gaps(frame, axis, plan.config.where, plan.style.labels);
  if (!gaps.empty()) lines.push_back(gaps);
  return lines;
}

BarPlan make_plan(const BarConfig& config, const Frame& frame, const std::vector<Observation>& rows,
                  const Style& style, bool same_axis) {
  auto names = style.series(frame, rows, config.x);
  return {.config = config,
          .layout = same_axis ? kLying : kStanding,
          .metric = metric_of(config.y),
          .looks = same_axis ? names : style.series(frame, rows, config.color),
          .names = names,
          .panels = style.panels(frame, rows, config.facet),
          .category_title = frame.has_axis(config.x) ? style.labels.axis(config.x)
                                                     : style.labels.axis_title(metric_of(config.x)),
          .chance = {},
          .style = style};
}

int height_of(const BarPlan& plan, std::size_t bars) {
  if (plan.layout.lying) return kAxisHeight + kBarStep * static_cast<int>(bars);
  const bool below = plan.config.width == ColumnWidth::kSingle;
  const auto rows = below ? static_cast<int>(plan.looks.size() + 1) / 2 : 0;
  return kAxisHeight + kBarPlotHeight + 13 * rows;
}

void lay_out(const BarPlan& plan, const Json& order, Json& spec) {
  Json layers = Json::array({bar_layer(plan, order)});
  for (const Json& rule : chance_rules(plan.chance, plan.layout.length)) layers.push_back(rule);
  layers.push_back(error_layer(plan, order));
  if (plan.config.points) layers.push_back(point_layer(plan, order));
  const int width = pixels(plan.config.width);
  if (plan.panels.empty()) {
    fit_into(spec, width, height_of(plan, order.size()) + heading_height(spec));
    spec["layer"] = std::move(layers);
    return;
  }
  const bool single = plan.config.width == ColumnWidth::kSingle;
  const int columns = panels_across(plan.panels.size(), single ? 2 : 3);
  const int legend = plan.layout.lying || single ? 0 : kBarLegendWidth;
  const int names = plan.layout.lying ? kNamesWidth : kAxisHeight;
  split_into_panels(spec, plan.panels, plan.config.facet, plan.style.labels, columns,
                    Json{{"width", std::max((width - legend - names) / columns - kPanelGap, 40)},
                         {"height", plan.layout.lying ? kBarStep * static_cast<int>(order.size())
                                                      : kBarPanelHeight},
                         {"layer", std::move(layers)}});
}

}  // namespace

Drawing BarConfig::draw(const Frame& frame, const Style& style) const {
  const bool same_axis = color.empty() || color == x;
  std::vector<std::string> keys = {facet, x};
  if (!same_axis) keys.push_back(color);
  const auto rows = frame.observations(source, false, where);
  const auto groups = aggregate(frame, rows, keys, y);
  BarPlan plan = make_plan(*this, frame, rows, style, same_axis);
  plan.chance = chance_levels(rows, y);

  std::string what = style.labels.heading(plan.metric);
  if (!same_axis) {
    what += " by " + (frame.has_axis(x) ? plan.category_title : style.labels.heading(metric_of(x)));
  }
  Drawing drawing;
  drawing.spec = style.start(*this, what, subtitle_of(plan, frame, groups));
  const Json values = data_of(groups, plan);
  const Json order = categories(plan, values);
  drawing.spec["data"] = Json{{"values", values}};
  lay_out(plan, order, drawing.spec);

  add_csv(drawing, keys, y, groups);
  drawing.columns.push_back("values_" + y);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> runs;
    for (const double value : groups[i].values) runs.push_back(plain_number(value));
    drawing.rows[i].push_back(join(runs, " "));
  }
  return drawing;
}

}  // namespace difflab::report
