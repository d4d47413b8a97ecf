#include "report/mark/interval.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "statistics/survival.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kIntervalRow = 16;     // pixels from one row to the next
constexpr int kIntervalAxis = 38;    // pixels of the axis with its title
constexpr double kNameLetter = 4.9;  // pixels of a letter of 9 points
constexpr int kMostNamePixels = 200;
constexpr int kNamesGap = 24;
constexpr int kRatioPixels = 30;

/// One row of one panel as it is drawn.
struct IntervalRow {
  Group group;
  std::optional<double> center;  // none: most of the runs never got there
  std::optional<double> low, high;
  std::vector<double> reached, bounds;  // values of runs that got there, and of those that did not

  bool is_median() const { return !bounds.empty(); }
};

struct IntervalPlan {
  const IntervalConfig& config;
  Metric metric;
  std::vector<Series> names, panels;
  std::vector<double> chance = {};
  const Style& style;
  std::optional<Interval> range = {};  ///< of the axis that panels share

  bool is_difference() const { return !config.against.empty(); }
  bool has_ratios() const { return !config.opponents.empty() && !is_difference(); }
};

// Where some runs never got there a mean would be the shorter, the fewer did: the median is not.
IntervalRow row_of(const IntervalPlan& plan, Group group) {
  IntervalRow row;
  row.center = group.average;
  if (group.interval) {
    row.low = group.interval->low;
    row.high = group.interval->high;
  }
  std::vector<Lifetime> lives;
  for (std::size_t i = 0; i < group.n(); ++i) {
    const auto& run = *group.runs[i];
    const bool got_there =
        plan.is_difference() || run.metric(plan.config.x) || !run.censored_above(plan.config.x);
    (got_there ? row.reached : row.bounds).push_back(group.values[i]);
    lives.push_back({group.values[i], got_there});
  }
  if (row.is_median()) {
    row.center = median_lifetime(lives);
    if (const auto range = median_lifetime_interval(lives)) {
      row.low = range->low;
      if (std::isfinite(range->high)) row.high = range->high;
    }
  }
  row.group = std::move(group);
  return row;
}

// No mean of logarithms where some runs never got there.
std::optional<double> geometric_mean(const IntervalRow& row) {
  if (row.reached.empty() || !row.bounds.empty()) return std::nullopt;
  std::vector<double> logs;
  for (const double value : row.reached) logs.push_back(log_of_time(value));
  return std::exp(mean(logs));
}

// The best opponent in the panel of a row by its geometric mean; none if none has one.
const IntervalRow* best_opponent(const std::vector<IntervalRow>& rows, const IntervalRow& row,
                                 const IntervalPlan& plan) {
  const IntervalRow* best = nullptr;
  const auto& names = plan.config.opponents;
  const double sign = plan.metric.better == Better::kLower ? 1 : -1;
  for (const auto& other : rows) {
    const auto is_named = [&](const auto& name) {
      return is_same_value(key_text(other.group.keys[1]), name);
    };
    if (std::ranges::none_of(names, is_named)) continue;
    const auto center = geometric_mean(other);
    if (other.group.keys[0] != row.group.keys[0] || !center) continue;
    if (best == nullptr || sign * *center < sign * *geometric_mean(*best)) best = &other;
  }
  return best;
}

// The ratio of a row's geometric mean to that of the best opponent.
std::string ratio_text(const IntervalRow& row, const IntervalRow* best) {
  const auto own = geometric_mean(row);
  return own && best != nullptr ? "× " + format_number(*own / *geometric_mean(*best), 2) : "";
}

// All that the panels show, where they share an axis: Vega-Lite finds no common extent of layers
// that transform their data.
std::optional<Interval> range_of(const std::vector<IntervalRow>& rows, const IntervalPlan& plan) {
  if (!plan.config.shared) return std::nullopt;
  std::vector<double> shown;
  for (const auto& row : rows) {
    shown.insert(shown.end(), row.reached.begin(), row.reached.end());
    shown.insert(shown.end(), row.bounds.begin(), row.bounds.end());
    for (const auto& end : {row.low, row.high}) {
      if (end) shown.push_back(*end);
    }
  }
  if (plan.config.x_scale == AxisScale::kLog) std::erase_if(shown, [](double x) { return x <= 0; });
  if (shown.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax_element(shown);
  return Interval{*low, *high};
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json data_of(const std::vector<IntervalRow>& rows, const IntervalPlan& plan,
             const std::string& baseline) {
  Json values = Json::array();
  std::set<std::string> drawn;  // panels that have their line at zero
  for (const auto& row : rows) {
    const IntervalRow* best = best_opponent(rows, row, plan);
    const auto last = std::ranges::max_element(row.bounds);
    const bool is_open = row.low && !row.high && last != row.bounds.end();
    Json origin;
    if (plan.is_difference()) {
      if (drawn.insert(key_text(row.group.keys[0])).second) origin = 0;
    } else if (plan.has_ratios()) {
      if (&row == best) origin = number_or_null(geometric_mean(row));
    } else if (is_same_value(key_text(row.group.keys[1]), baseline)) {
      origin = number_or_null(row.center);
    }
    Json runs = Json::array(), opens = Json::array();
    for (const auto* list : {&row.reached, &row.bounds}) {
      for (const double value : *list) {
        runs.push_back(value);
        opens.push_back(list == &row.bounds);
      }
    }
    values.push_back({{"panel", label_of(row.group.keys[0], plan.panels, plan.style.labels)},
                      {"row", label_of(row.group.keys[1], plan.names, plan.style.labels)},
                      {"center", number_or_null(row.center)},
                      {"low", number_or_null(row.low)},
                      {"high", is_open ? Json(*last) : number_or_null(row.high)},
                      {"n", row.group.n()},
                      {"runs", std::move(runs)},
                      {"is_open", std::move(opens)},
                      {"origin", std::move(origin)}});
    if (plan.has_ratios()) values.back()["ratio"] = ratio_text(row, best);
  }
  return values;
}

Json x_channel(const IntervalPlan& plan, const char* field) {
  const bool is_log = plan.config.x_scale == AxisScale::kLog;
  // On a log scale, nice ends would be whole powers of ten.
  Json scale = {{"zero", false}, {"nice", !is_log}, {"padding", 5}};
  if (is_log) scale["type"] = "log";
  if (plan.range) scale["domain"] = Json::array({plan.range->low, plan.range->high});
  std::string title = plan.style.labels.axis_title(plan.metric);
  if (plan.is_difference()) {
    title = concat("difference to ", plan.style.labels.value(plan.config.against));
  }
  return number_channel(field, title, scale, Json{{"tickCount", 4}});
}

Json y_channel(const Json& order) {
  return {
      {"field", "row"},
      {"type", "nominal"},
      {"sort", order},
      {"title", nullptr},
      {"scale", Json{{"domain", order}}},
      {"axis",
       Json{{"ticks", false}, {"domain", false}, {"grid", true}, {"labelLimit", kMostNamePixels}}}};
}

Json color_of_row(const IntervalPlan& plan) {
  return {{"field", "row"},
          {"type", "nominal"},
          {"scale", color_scale(plan.names)},
          {"legend", nullptr}};
}

Json points_of(const IntervalPlan& plan, const Json& order) {
  const Json flatten = {{"flatten", Json::array({"runs", "is_open"})},
                        {"as", Json::array({"value", "open"})}};
  const Json shape = {{"condition", Json{{"test", "datum.open"}, {"value", "triangle-right"}}},
                      {"value", "circle"}};
  return {{"transform", Json::array({flatten})},
          {"mark", Json{{"type", "point"}, {"size", 18}, {"opacity", 0.55}, {"strokeWidth", 0.9}}},
          {"encoding", Json{{"x", x_channel(plan, "value")},
                            {"y", y_channel(order)},
                            {"shape", shape},
                            {"color", color_of_row(plan)}}}};
}

// The line of the baseline, or at zero, in the panels that have one. A layer without a field of its
// own would keep Vega-Lite from splitting the others into panels, and one without values in a panel
// would leave that panel's scale without an extent: there it draws a rule that is not seen.
void add_origin(const IntervalPlan& plan, const Json& values, Json& layers) {
  std::set<std::string> panels, with_line;
  for (const Json& row : values) {
    panels.insert(row["panel"].get<std::string>());
    if (!row["origin"].is_null()) with_line.insert(row["panel"].get<std::string>());
  }
  if (with_line.empty()) return;
  const Json mark = {{"type", "rule"}, {"color", kMutedInk}, {"strokeWidth", 0.8}};
  if (panels == with_line) {
    layers.push_back({{"transform", Json::array({Json{{"filter", "isValid(datum.origin)"}}})},
                      {"mark", mark},
                      {"encoding", Json{{"x", x_channel(plan, "origin")}}}});
    return;
  }
  const char* place =
      "isValid(datum.origin) ? datum.origin : isValid(datum.center) ? datum.center : "
      "datum.runs[0]";
  layers.push_back(
      {{"transform", Json::array({Json{{"calculate", place}, {"as", "place"}}})},
       {"mark", mark},
       {"encoding",
        Json{{"x", x_channel(plan, "place")},
             {"opacity", Json{{"condition", Json{{"test", "isValid(datum.origin)"}, {"value", 1}}},
                              {"value", 0}}}}}});
}

Json layers_of(const IntervalPlan& plan, const Json& order, const Json& values) {
  Json layers = Json::array();
  add_origin(plan, values, layers);
  for (const Json& rule : chance_rules(plan.chance, "x")) layers.push_back(rule);
  layers.push_back(points_of(plan, order));
  Json interval = {{"x", x_channel(plan, "low")},
                   {"x2", Json{{"field", "high"}}},
                   {"y", y_channel(order)},
                   {"color", color_of_row(plan)}};
  layers.push_back({{"transform", Json::array({Json{{"filter", "isValid(datum.low)"}}})},
                    {"mark", Json{{"type", "rule"}, {"strokeWidth", 1.6}}},
                    {"encoding", std::move(interval)}});
  layers.push_back(
      {{"transform", Json::array({Json{{"filter", "isValid(datum.center)"}}})},
       {"mark", Json{{"type", "point"},
                     {"filled", true},
                     {"shape", "diamond"},
                     {"size", 45},
                     {"opacity", 1}}},
       {"encoding",
        Json{{"x", x_channel(plan, "center")},
             {"y", y_channel(order)},
             {"color", color_of_row(plan)},
             {"tooltip",
              Json::array(
                  {told_field("row", "variant"),
                   told_field("center", plan.style.labels.heading(plan.metric), kFourDigits),
                   told_field("low", "95 % from", kFourDigits),
                   told_field("high", "95 % to", kFourDigits), told_field("n", "runs")})}}}});
  if (plan.has_ratios()) {
    layers.push_back(
        {{"mark", Json{{"type", "text"}, {"align", "left"}, {"dx", 6}, {"fontSize", 9}}},
         {"encoding", Json{{"x", Json{{"value", "width"}}},
                           {"y", y_channel(order)},
                           {"text", Json{{"field", "ratio"}}}}}});
  }
  return layers;
}

std::vector<std::string> subtitle_of(const IntervalPlan& plan, const Frame& frame,
                                     const std::vector<IntervalRow>& rows, std::size_t dropped) {
  std::vector<Group> groups;
  bool any_never = false;
  for (const auto& row : rows) {
    groups.push_back(row.group);
    any_never = any_never || row.is_median();
  }
  // Rows that have medians say so themselves.
  if (any_never) {
    for (auto& group : groups) group.censored = 0;
  }
  std::vector<std::string> lines = {describe_spread(groups, /*shows_interval=*/true)};
  if (any_never) lines[0] += "; medians where some never got there (open triangles)";
  const auto line = std::ranges::find_if(
      plan.names, [&](const auto& name) { return is_same_value(name.value, frame.baseline()); });
  const bool has_best = plan.has_ratios() && std::ranges::any_of(rows, [&](auto& row) {
                          return best_opponent(rows, row, plan) != nullptr;
                        });
  if (has_best) {
    lines.push_back(concat("line and × 1.00: the best of ", plan.config.opponents.size(),
                           " opponents in these runs; right: ratio of geometric means to it"));
  } else if (!plan.is_difference() && line != plan.names.end()) {
    lines[0] += "; line: " + line->label;
  }
  if (!plan.chance.empty()) lines[0] += "; " + describe_chance(plan.chance);
  lines.push_back(describe_dropped(dropped));
  lines.push_back(describe_gaps(frame, plan.config.y, plan.config.where, plan.style.labels));
  return lines;
}

// All values of an axis, also those without a result, then whatever else the data hold.
Json order_of(const IntervalPlan& plan, const Json& values) {
  Json order = Json::array();
  for (const auto& name : plan.names) {
    const bool is_other = !is_same_value(name.value, plan.config.against);
    if (!plan.is_difference() || is_other) order.push_back(name.label);
  }
  for (const Json& row : values) add_new(order, row["row"]);
  return order;
}

void lay_out(const IntervalPlan& plan, const Json& values, Json& spec) {
  const Json order = order_of(plan, values);
  const int width = pixels(plan.config.width);
  const int height = kIntervalRow * static_cast<int>(std::max<std::size_t>(order.size(), 1));
  if (plan.panels.empty()) {
    fit_into(spec, plan.config, plan.style, kIntervalAxis + height);
    spec["layer"] = layers_of(plan, order, values);
    return;
  }
  std::size_t letters = 0;
  for (const auto& name : plan.names) letters = std::max(letters, name.label.size());
  const int names =
      std::min(static_cast<int>(kNameLetter * static_cast<double>(letters)), kMostNamePixels) +
      kNamesGap;
  const bool single = plan.config.width == ColumnWidth::kSingle;
  const int columns = plan.config.shared ? 1 : panels_across(plan.panels.size(), single ? 2 : 3);
  const int gap = kPanelGap + (plan.config.opponents.empty() ? 0 : kRatioPixels);
  split_into_panels(spec, plan.panels, plan.config.facet, plan.style.labels, columns,
                    Json{{"width", std::max((width - names) / columns - gap, 40)},
                         {"height", height},
                         {"layer", layers_of(plan, order, values)}});
  if (!plan.config.shared) spec["resolve"] = Json{{"scale", Json{{"x", "independent"}}}};
}

void add_interval_csv(const IntervalPlan& plan, const std::vector<IntervalRow>& rows,
                      Drawing& drawing) {
  for (const auto& key : {plan.config.facet, plan.config.y}) {
    if (!key.empty()) drawing.columns.push_back(key);
  }
  const std::string x = concat(plan.config.x, plan.is_difference() ? kDifferenceSuffix : "");
  drawing.columns.insert(drawing.columns.end(),
                         {"mean_" + x, "median_" + x, "low_" + x, "high_" + x, "n", "values_" + x});
  for (const auto& row : rows) {
    auto& line = drawing.rows.emplace_back();
    if (!plan.config.facet.empty()) line.push_back(key_text(row.group.keys[0]));
    line.push_back(key_text(row.group.keys[1]));
    const auto center = plain_number(row.center);
    line.insert(line.end(), {row.is_median() ? "" : center, row.is_median() ? center : "",
                             plain_number(row.low), plain_number(row.high), concat(row.group.n())});
    std::vector<std::string> values;
    for (const double value : row.reached) values.push_back(plain_number(value));
    for (const double bound : row.bounds) values.push_back(">" + plain_number(bound));
    line.push_back(join(values, " "));
  }
}

}  // namespace

Drawing IntervalConfig::draw(const Frame& frame, const Style& style) const {
  const auto observations = frame.observations(source, false, where);
  const std::vector<std::string> keys = {facet, y};
  IntervalPlan plan{.config = *this,
                    .metric = metric_of(x),
                    .names = style.series(frame, observations, y),
                    .panels = style.panels(frame, observations, facet),
                    .style = style};
  auto groups = aggregate(frame, observations, keys, x);
  if (plan.is_difference()) {
    groups = differences(frame, groups, keys, y, against, plan.metric);
  } else {
    plan.chance = chance_levels(observations, x);
  }
  std::vector<IntervalRow> rows;
  for (auto& group : groups) rows.push_back(row_of(plan, std::move(group)));
  plan.range = range_of(rows, plan);

  std::string what = style.labels.heading(plan.metric);
  if (plan.is_difference()) what += ", difference to " + style.labels.value(against);
  Json values = data_of(rows, plan, frame.baseline());
  const auto dropped = x_scale == AxisScale::kLog ? drop_intervals_at_zero(values) : 0;
  Drawing drawing;
  drawing.spec = style.start(*this, what, subtitle_of(plan, frame, rows, dropped));
  drawing.spec["data"] = Json{{"values", values}};
  lay_out(plan, values, drawing.spec);
  add_interval_csv(plan, rows, drawing);
  return drawing;
}

}  // namespace difflab::report
