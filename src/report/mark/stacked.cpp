#include "report/mark/stacked.h"

#include <algorithm>
#include <map>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kStackedPanelHeight = 130;
constexpr int kAxisWidth = 55;
constexpr int kStackedLegendWidth = 110;
constexpr double kLegiblePart = 0.07;  // a lower part shows no number

struct StackedPlan {
  const StackedConfig& config;
  std::vector<Series> panels;
  std::vector<std::string> parts;  // in the order of the cells
  std::vector<Group> groups;       // part by part, as they are stacked
  const Style& style;
};

std::size_t place_of(const std::vector<std::string>& parts, const Json& part) {
  return static_cast<std::size_t>(std::find(parts.begin(), parts.end(), key_text(part)) -
                                  parts.begin());
}

// The names of the parts in the order in which the cells bring them.
std::vector<std::string> parts_of(const std::vector<Observation>& rows, const std::string& key) {
  std::vector<std::string> parts;
  for (const Observation& row : rows) {
    const Json part = row.value(key);
    if (!part.is_null() && place_of(parts, part) == parts.size()) parts.push_back(key_text(part));
  }
  return parts;
}

// Where each part begins and ends in its bar.
Json data_of(const StackedPlan& plan) {
  struct Ends {
    double up = 0;
    double down = 0;
  };
  std::map<std::vector<std::string>, Ends> bars;
  Json values = Json::array();
  for (const Group& group : plan.groups) {
    Ends& ends = bars[{key_text(group.keys[0]), key_text(group.keys[1])}];
    double& end = group.average < 0 ? ends.down : ends.up;
    Json row = {{"panel", label_of(group.keys[0], plan.panels, plan.style.labels)},
                {"x", group.keys[1]},
                {"part", plan.style.labels.value(key_text(group.keys[2]))},
                {"from", end},
                {"to", end + group.average}};
    end += group.average;
    row.update(spread_fields(group));
    values.push_back(std::move(row));
  }
  return values;
}

Json legend_scale(const StackedPlan& plan) {
  Json domain = Json::array();
  Json range = Json::array();
  for (std::size_t part = 0; part < plan.parts.size(); ++part) {
    domain.push_back(plan.style.labels.value(plan.parts[part]));
    range.push_back(part_color(part));
  }
  return {{"domain", domain}, {"range", range}};
}

// The values of x in their order: an axis in sweep order, numbers ascending.
Json order_of(const Json& values) {
  Json order = Json::array();
  bool numbers = true;
  for (const Json& row : values) {
    numbers = numbers && row["x"].is_number();
    add_new(order, row["x"]);
  }
  if (numbers) std::sort(order.begin(), order.end());
  return order;
}

Json layers(const StackedPlan& plan, const Json& values, double bar_width) {
  const Labels& labels = plan.style.labels;
  const std::string total = labels.axis_title(metric_of(plan.config.y));
  const Json x = {{"field", "x"},
                  {"type", "ordinal"},
                  {"sort", order_of(values)},
                  {"title", labels.axis_title(metric_of(plan.config.x))},
                  {"axis", Json{{"labelAngle", 0}, {"ticks", false}, {"grid", false}}}};
  const Json y = {{"field", "from"},
                  {"type", "quantitative"},
                  {"title", total},
                  {"axis", number_axis(Json{{"tickCount", 5}})}};
  const auto number = [](const char* field, const std::string& title) {
    return Json{{"field", field}, {"title", title}, {"format", ".4~f"}};
  };
  const Json tooltip =
      Json::array({Json{{"field", "part"}, {"title", "part"}},
                   Json{{"field", "x"}, {"title", x["title"]}}, number("mean", total),
                   number("low", "95 % from"), number("high", "95 % to"), Json{{"field", "n"}}});
  const Json color = {
      {"field", "part"},
      {"type", "nominal"},
      {"title", nullptr},
      {"scale", legend_scale(plan)},
      {"legend", Json{{"orient", plan.config.width == ColumnWidth::kDouble ? "right" : "bottom"},
                      {"columns", plan.config.width == ColumnWidth::kDouble ? 1 : 3},
                      {"symbolType", "square"},
                      {"symbolSize", 70}}}};
  Json result =
      Json::array({Json{{"mark", Json{{"type", "bar"}, {"stroke", kPaper}, {"strokeWidth", 0.6}}},
                        {"encoding", Json{{"x", x},
                                          {"y", y},
                                          {"y2", Json{{"field", "to"}}},
                                          {"color", color},
                                          {"tooltip", tooltip}}}}});
  if (bar_width < 18) return result;
  Json middle = y;
  middle["field"] = "middle";
  result.push_back(
      Json{{"transform",
            Json::array({Json{{"filter", concat("abs(datum.mean) >= ", kLegiblePart)}},
                         Json{{"calculate", "(datum.from + datum.to) / 2"}, {"as", "middle"}}})},
           {"mark", Json{{"type", "text"}, {"fontSize", 8}, {"color", "black"}}},
           {"encoding",
            Json{{"x", x}, {"y", middle}, {"text", Json{{"field", "mean"}, {"format", ".2f"}}}}}});
  return result;
}

void lay_out(const StackedPlan& plan, const Json& values, Json& spec) {
  const bool single = plan.config.width == ColumnWidth::kSingle;
  const int columns = panels_across(plan.panels.size(), single ? 2 : 4);
  const int room = pixels(plan.config.width) - kAxisWidth - (single ? 0 : kStackedLegendWidth);
  const int width = room / columns - kPanelGap;
  Json panel = {
      {"width", width},
      {"height", kStackedPanelHeight},
      {"layer",
       layers(plan, values,
              width / static_cast<double>(std::max<std::size_t>(order_of(values).size(), 1)))}};
  if (plan.panels.empty()) {
    spec.update(panel);
  } else {
    split_into_panels(spec, plan.panels, plan.config.facet, plan.style.labels, columns,
                      std::move(panel));
  }
}

}  // namespace

Drawing StackedConfig::draw(const Frame& frame, const Style& style) const {
  const auto rows = frame.observations(source, false, where);
  const std::vector<std::string> keys = {facet, x, part};
  StackedPlan plan{.config = *this,
                   .panels = style.panels(frame, rows, facet),
                   .parts = parts_of(rows, part),
                   .groups = aggregate(frame, rows, keys, y),
                   .style = style};
  std::stable_sort(plan.groups.begin(), plan.groups.end(), [&](const Group& a, const Group& b) {
    return place_of(plan.parts, a.keys[2]) < place_of(plan.parts, b.keys[2]);
  });
  Drawing drawing;
  drawing.spec = style.start(
      *this, concat(style.labels.heading(metric_of(y)), " by ", style.labels.heading(metric_of(x))),
      {describe_spread(plan.groups, /*shows_interval=*/false),
       describe_gaps(frame, facet, where, style.labels)});
  const Json values = data_of(plan);
  drawing.spec["data"] = Json{{"values", values}};
  lay_out(plan, values, drawing.spec);
  add_csv(drawing, keys, y, plan.groups);
  return drawing;
}

}  // namespace difflab::report
