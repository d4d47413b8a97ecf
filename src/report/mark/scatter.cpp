#include "report/mark/scatter.h"

#include <algorithm>
#include <map>

#include "report/data/format.h"
#include "report/data/learned.h"
#include "report/figure/parts.h"
#include "statistics/describe.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kScatterPlotHeight = 190;
constexpr int kScatterLegendRow = 13;

struct Point {
  const FrameRun* run;
  double x;
  double y;  // nothing where it is a time that never came
};

struct ScatterLine {
  Series look;
  std::vector<Point> points;
  std::vector<Point> unreached = {};  // whose y, a time, never came
};

struct ScatterPlan {
  const ScatterConfig& config;
  std::vector<ScatterLine> lines;  // with points
  const Style& style;
};

std::vector<ScatterLine> lines_of(const ScatterConfig& config, const Frame& frame,
                                  const Style& style) {
  const auto rows = frame.observations(config.source, false, config.where);
  const Metric metric = metric_of(config.y);
  std::vector<ScatterLine> lines;
  for (Series& look : style.lines(frame, rows, config.color)) {
    lines.push_back({.look = std::move(look), .points = {}});
  }
  for (const Observation& row : rows) {
    const Json x = row.value(config.x);
    const auto y = row.measured(config.y);
    const bool never_came = !y && config.source.empty() && row.run->censored_above(config.y);
    if (!x.is_number() || !(y || never_came) || is_unlearned(*row.run, metric)) continue;
    for (ScatterLine& line : lines) {
      if (row.run->axis(config.color) != line.look.value) continue;
      (never_came ? line.unreached : line.points)
          .push_back({.run = row.run, .x = x.get<double>(), .y = y.value_or(0)});
    }
  }
  std::erase_if(
      lines, [](const ScatterLine& line) { return line.points.empty() && line.unreached.empty(); });
  return lines;
}

Json data_of(const ScatterPlan& plan) {
  Json values = Json::array();
  for (const ScatterLine& line : plan.lines) {
    for (const Point& point : line.points) {
      values.push_back(Json{{"series", line.look.label},
                            {"x", point.x},
                            {"y", point.y},
                            {"run", point.run->plan.id}});
    }
  }
  return values;
}

Json line_data(const ScatterPlan& plan) {
  Json values = Json::array();
  for (const ScatterLine& line : plan.lines) {
    if (!line.unreached.empty()) continue;  // a mean of those that got there is not one of all
    std::map<double, std::vector<double>> by_x;
    for (const Point& point : line.points) by_x[point.x].push_back(point.y);
    for (const auto& [x, ys] : by_x) {
      values.push_back(Json{{"series", line.look.label}, {"x", x}, {"y", mean(ys)}});
    }
  }
  return values;
}

Json layers(const ScatterPlan& plan) {
  std::vector<Series> looks;
  for (const ScatterLine& line : plan.lines) looks.push_back(line.look);
  const auto channel = [&](const char* field, const std::string& key, AxisScale scale,
                           double Point::*place) {
    // On a log axis a value of 0 would take all others with it.
    const bool has_log = std::ranges::none_of(plan.lines, [&](const auto& line) {
      return std::ranges::any_of(line.points,
                                 [&](const Point& point) { return point.*place <= 0; });
    });
    Json shape = {{"zero", false}, {"padding", 8}};
    if (scale == AxisScale::kLog && has_log)
      shape = Json{{"type", "log"}, {"nice", false}, {"padding", 8}};
    return number_channel(field, plan.style.labels.axis_title(metric_of(key)), shape,
                          Json{{"tickCount", 5}, {"labelOverlap", true}});
  };
  const Json x = channel("x", plan.config.x, plan.config.x_scale, &Point::x);
  const Json y = channel("y", plan.config.y, plan.config.y_scale, &Point::y);
  const Json legend = looks.size() < 2 ? Json(nullptr)
                      : plan.config.width == ColumnWidth::kSingle
                          ? Json{{"orient", "bottom"}, {"columns", legend_columns(looks)}}
                          : Json{{"orient", "right"}};
  const auto look = [&](const Json& scale) {
    return name_channel("series", nullptr, scale, legend);
  };
  const Json tooltip = Json::array({told_field("series", "line"), told_field("x", x["title"]),
                                    told_field("y", y["title"]), told_field("run", "run")});
  Json result = Json::array();
  // A browser complains of a layer without data.
  const Json means = line_data(plan);
  if (plan.config.line == Through::kMeans && !means.empty()) {
    result.push_back(Json{{"data", Json{{"values", means}}},
                          {"mark", Json{{"type", "line"}, {"strokeWidth", 1.3}}},
                          {"encoding", Json{{"x", x},
                                            {"y", y},
                                            {"color", look(color_scale(looks))},
                                            {"strokeDash", look(dash_scale(looks))}}}});
  }
  result.push_back(
      Json{{"mark", Json{{"type", "point"}, {"filled", true}, {"size", 30}, {"opacity", 0.8}}},
           {"encoding", Json{{"x", x},
                             {"y", y},
                             {"color", look(color_scale(looks))},
                             {"shape", look(shape_scale(looks))},
                             {"tooltip", tooltip}}}});
  return result;
}

void add_csv(const ScatterPlan& plan, Drawing& drawing) {
  const ScatterConfig& config = plan.config;
  drawing.columns = {config.color.empty() ? "series" : config.color, "run", config.x, config.y};
  for (const ScatterLine& line : plan.lines) {
    for (const Point& point : line.points) {
      drawing.rows.push_back(
          {line.look.value, point.run->plan.id, plain_number(point.x), plain_number(point.y)});
    }
    for (const auto& [run, x, never] : line.unreached) {  // their y is empty
      drawing.rows.push_back({line.look.value, run->plan.id, plain_number(x), ""});
    }
  }
}

// "2 of 10 runs of DIFF never got there and are not drawn".
std::string describe_unreached(const ScatterPlan& plan, const ScatterLine& line) {
  if (line.unreached.empty()) return "";
  const auto all = line.points.size() + line.unreached.size();
  const auto whose = line.look.value.empty() ? "" : concat(" of ", line.look.label);
  const auto without = plan.config.line == Through::kMeans ? ", so there is no line of means" : "";
  return concat("Not drawn: ", line.unreached.size(), " of ", all, " runs", whose,
                " never got there", without);
}

}  // namespace

Drawing ScatterConfig::draw(const Frame& frame, const Style& style) const {
  const ScatterPlan plan{.config = *this, .lines = lines_of(*this, frame, style), .style = style};
  std::size_t runs = 0, without = 0;
  for (const ScatterLine& one : plan.lines) {
    runs += one.points.size();
    without += one.unreached.size();
  }
  std::vector<std::string> subtitle = {runs + without == 0
                                           ? "No finished run has this metric"
                                           : concat("Every run is a point (n = ", runs, ")")};
  for (const ScatterLine& one : plan.lines) subtitle.push_back(describe_unreached(plan, one));
  subtitle.push_back(describe_gaps(frame, color, where, style.labels));
  Drawing drawing;
  drawing.spec = style.start(
      *this, concat(style.labels.heading(metric_of(y)), " by ", style.labels.heading(metric_of(x))),
      subtitle);
  drawing.spec["data"] = Json{{"values", data_of(plan)}};
  const bool below = width == ColumnWidth::kSingle && plan.lines.size() > 1;
  const int legend_rows = below ? static_cast<int>(plan.lines.size() + 1) / 2 : 0;
  fit_into(drawing.spec, *this, style,
           style.config.height_of(kScatterPlotHeight) + kScatterLegendRow * legend_rows);
  drawing.spec["layer"] = layers(plan);
  add_csv(plan, drawing);
  return drawing;
}

}  // namespace difflab::report
