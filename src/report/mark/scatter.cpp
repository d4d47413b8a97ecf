#include "report/mark/scatter.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "statistics/power_fit.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kScatterPlotHeight = 190;
constexpr int kScatterLegendRow = 13;
constexpr int kLineSteps = 40;  // a power law is straight on logarithmic axes only

struct Point {
  const FrameRun* run;
  double x;
  double y;
};

struct ScatterLine {
  Series look;
  std::vector<Point> points;
  std::optional<PowerFit> fit;

  double least_x() const { return extreme(false); }
  double most_x() const { return extreme(true); }

 private:
  double extreme(bool most) const {
    double found = points.front().x;
    for (const Point& point : points) {
      found = most ? std::max(found, point.x) : std::min(found, point.x);
    }
    return found;
  }
};

struct ScatterPlan {
  const ScatterConfig& config;
  std::vector<ScatterLine> lines;  // with points
  const Style& style;
};

std::vector<ScatterLine> lines_of(const ScatterConfig& config, const Frame& frame,
                                  const Style& style) {
  const Series alone{"", "all", std::string(kInk), "circle", Json::array({1, 0})};
  const auto looks =
      config.color.empty() ? std::vector<Series>{alone} : style.series(frame, config.color);
  std::vector<ScatterLine> lines;
  for (const Series& look : looks) lines.push_back({.look = look, .points = {}, .fit = {}});
  for (const Observation& row : frame.observations(config.source, false, config.where)) {
    const Json x = row.value(config.x);
    const auto y = row.measured(config.y);
    if (!x.is_number() || !y) continue;
    for (ScatterLine& line : lines) {
      if (row.run->axis(config.color) == line.look.value) {
        line.points.push_back({.run = row.run, .x = x.get<double>(), .y = *y});
      }
    }
  }
  std::erase_if(lines, [](const ScatterLine& line) { return line.points.empty(); });
  if (config.fit == Fit::kNone) return lines;
  for (ScatterLine& line : lines) {
    std::vector<double> x;
    std::vector<double> y;
    for (const Point& point : line.points) {
      x.push_back(point.x);
      y.push_back(point.y);
    }
    line.fit = fit_power(x, y);
  }
  return lines;
}

const ScatterLine* baseline_of(const ScatterPlan& plan, const Frame& frame) {
  const auto found = std::find_if(
      plan.lines.begin(), plan.lines.end(),
      [&](const ScatterLine& line) { return line.fit && line.look.value == frame.baseline(); });
  return found == plan.lines.end() ? nullptr : &*found;
}

// The x at which a line has the y that the baseline reaches with its largest x, as a share of that.
std::optional<double> ratio_at_equal_y(const ScatterLine& line, const ScatterLine* baseline) {
  if (baseline == nullptr || &line == baseline || !line.fit || !(line.fit->b > 0)) {
    return std::nullopt;
  }
  const double ratio = line.fit->x_at(baseline->fit->at(baseline->most_x())) / baseline->most_x();
  return std::isfinite(ratio) ? std::optional(ratio) : std::nullopt;
}

Metric four_digits() { return {}; }

// "DIFF: 8.576·x^−0.111 ± 0.034; 62 % of Transformer's parameters at equal test loss".
std::string describe(const ScatterPlan& plan, const ScatterLine& line,
                     const ScatterLine* baseline) {
  const PowerFit& fit = *line.fit;
  std::string text =
      concat(line.look.label, ": ", four_digits().text(fit.a), "·x^", format_number(-fit.b, 3));
  if (fit.b_interval) text += " ± " + format_number((fit.b_interval->high - fit.b), 3);
  if (const auto ratio = ratio_at_equal_y(line, baseline)) {
    const Labels& labels = plan.style.labels;
    const double needed = *ratio * baseline->most_x();
    const bool outside = needed < line.least_x() || needed > line.most_x();
    text +=
        concat("; ", format_number(100 * *ratio, *ratio < 0.1 ? 1 : 0), " % of ",
               baseline->look.label, "'s ", labels.heading(metric_of(plan.config.x)), " at equal ",
               labels.heading(metric_of(plan.config.y)), outside ? " (extrapolated)" : "");
  }
  return text;
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

Json fit_data(const ScatterPlan& plan) {
  Json values = Json::array();
  for (const ScatterLine& line : plan.lines) {
    if (!line.fit || !(line.least_x() > 0)) continue;
    const double stretch = line.most_x() / line.least_x();
    for (int i = 0; i <= kLineSteps; ++i) {
      const double x = line.least_x() * std::pow(stretch, i / static_cast<double>(kLineSteps));
      values.push_back(Json{{"series", line.look.label}, {"x", x}, {"y", line.fit->at(x)}});
    }
  }
  return values;
}

Json layers(const ScatterPlan& plan) {
  std::vector<Series> looks;
  for (const ScatterLine& line : plan.lines) looks.push_back(line.look);
  const auto channel = [&](const char* field, const std::string& key, AxisScale scale) {
    Json shape = {{"zero", false}, {"padding", 8}};
    if (scale == AxisScale::kLog) shape = Json{{"type", "log"}, {"nice", false}, {"padding", 8}};
    return Json{{"field", field},
                {"type", "quantitative"},
                {"title", plan.style.labels.axis_title(metric_of(key))},
                {"scale", shape},
                {"axis", number_axis(Json{{"tickCount", 5}, {"labelOverlap", true}})}};
  };
  const Json x = channel("x", plan.config.x, plan.config.x_scale);
  const Json y = channel("y", plan.config.y, plan.config.y_scale);
  const Json legend = looks.size() < 2 ? Json(nullptr)
                      : plan.config.width == ColumnWidth::kSingle
                          ? Json{{"orient", "bottom"}, {"columns", 2}}
                          : Json{{"orient", "right"}};
  const auto look = [&](const Json& scale) {
    return Json{{"field", "series"},
                {"type", "nominal"},
                {"title", nullptr},
                {"scale", scale},
                {"legend", legend}};
  };
  const Json tooltip = Json::array(
      {Json{{"field", "series"}, {"title", "line"}}, Json{{"field", "x"}, {"title", x["title"]}},
       Json{{"field", "y"}, {"title", y["title"]}}, Json{{"field", "run"}, {"title", "run"}}});
  Json result = Json::array();
  if (plan.config.fit == Fit::kPower) {
    result.push_back(Json{{"data", Json{{"values", fit_data(plan)}}},
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

void add_csv(const ScatterPlan& plan, const ScatterLine* baseline, Drawing& drawing) {
  const ScatterConfig& config = plan.config;
  drawing.columns = {config.color.empty() ? "series" : config.color,
                     "run",
                     config.x,
                     config.y,
                     "fit_a",
                     "fit_b",
                     "fit_b_low",
                     "fit_b_high",
                     "ratio_at_equal_" + config.y};
  const auto text = [](const std::optional<double>& value) {
    return value ? plain_number(*value) : "";
  };
  for (const ScatterLine& line : plan.lines) {
    for (const Point& point : line.points) {
      const auto& fit = line.fit;
      const bool bounded = fit && fit->b_interval;
      drawing.rows.push_back({line.look.value, point.run->plan.id, plain_number(point.x),
                              plain_number(point.y), fit ? plain_number(fit->a) : "",
                              fit ? plain_number(fit->b) : "",
                              bounded ? plain_number(fit->b_interval->low) : "",
                              bounded ? plain_number(fit->b_interval->high) : "",
                              text(ratio_at_equal_y(line, baseline))});
    }
  }
}

}  // namespace

Drawing ScatterConfig::draw(const Frame& frame, const Style& style) const {
  const ScatterPlan plan{.config = *this, .lines = lines_of(*this, frame, style), .style = style};
  const ScatterLine* baseline = baseline_of(plan, frame);
  std::size_t runs = 0;
  for (const ScatterLine& line : plan.lines) runs += line.points.size();
  std::vector<std::string> subtitle = {runs == 0 ? "No finished run has this metric"
                                                 : concat("Every run is a point (n = ", runs, ")")};
  for (const ScatterLine& line : plan.lines) {
    if (line.fit) subtitle.push_back(describe(plan, line, baseline));
  }
  if (const auto gaps = describe_gaps(frame, color, style.labels); !gaps.empty()) {
    subtitle.push_back(gaps);
  }
  Drawing drawing;
  drawing.spec = style.start(
      *this, concat(style.labels.heading(metric_of(y)), " by ", style.labels.heading(metric_of(x))),
      subtitle);
  drawing.spec["data"] = Json{{"values", data_of(plan)}};
  const bool below = width == ColumnWidth::kSingle && plan.lines.size() > 1;
  const int legend_rows = below ? static_cast<int>(plan.lines.size() + 1) / 2 : 0;
  fit_into(drawing.spec, pixels(width),
           kScatterPlotHeight + kScatterLegendRow * legend_rows + heading_height(drawing.spec));
  drawing.spec["layer"] = layers(plan);
  add_csv(plan, baseline, drawing);
  return drawing;
}

}  // namespace difflab::report
