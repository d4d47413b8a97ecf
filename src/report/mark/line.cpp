#include "report/mark/line.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kMarkersPerLine = 6;
constexpr std::size_t kMostOwnTicks = 6;  // so few x values are the ticks themselves

struct LinePlan {
  const LineConfig& config;
  Metric metric;
  std::vector<Series> lines, panels;
  std::vector<double> chance;
  Json categories;  // labels of x in their order; null: x is what its values are
  const Style& style;
};

bool is_difference(const LinePlan& plan) { return !plan.config.against.empty(); }

bool is_category(const LinePlan& plan) { return plan.config.x_scale == LineScale::kCategory; }

// Markers tell lines apart in grey print; a few per line do, staggered so that they do not collide.
void place_markers(Json& values) {
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < values.size(); ++line) {
    std::size_t end = begin;
    while (end < values.size() && values[end]["series"] == values[begin]["series"] &&
           values[end]["panel"] == values[begin]["panel"]) {
      ++end;
    }
    const std::size_t points = end - begin;
    const std::size_t every = points <= 2 * kMarkersPerLine ? 1 : points / kMarkersPerLine;
    const std::size_t first = line * std::max<std::size_t>(every / 3, 1) % every;
    for (std::size_t i = begin; i < end; ++i) values[i]["marker"] = (i - begin) % every == first;
    begin = end;
  }
}

Json data_of(const std::vector<Group>& groups, const LinePlan& plan) {
  Json values = Json::array();
  for (const Group& group : groups) {
    Json row = {{"series", label_of(group.keys[1], plan.lines, plan.style.labels)},
                {"panel", label_of(group.keys[0], plan.panels, plan.style.labels)},
                {"x", is_category(plan) ? Json(plan.style.labels.value(key_text(group.keys[2])))
                                        : group.keys[2]}};
    row.update(spread_fields(group));
    values.push_back(std::move(row));
  }
  place_markers(values);
  return values;
}

Json x_channel(const LinePlan& plan, const Json& values) {
  const bool numeric =
      std::ranges::all_of(values, [](const Json& row) { return row["x"].is_number(); });
  Json channel = {{"field", "x"},
                  {"type", numeric ? "quantitative" : "ordinal"},
                  {"title", plan.style.labels.axis_title(metric_of(plan.config.x))}};
  if (!numeric) {
    channel["sort"] = plan.categories;
    channel["axis"] = Json{{"labelAngle", 0}};
    return channel;
  }
  channel["scale"] = Json{{"nice", false}};
  channel["axis"] = number_axis(Json{{"grid", false}, {"tickCount", 5}});
  std::set<double> distinct;
  for (const Json& row : values) distinct.insert(row["x"].get<double>());
  // On a log axis a value of 0 would take all others with it.
  const bool has_log = distinct.empty() || *distinct.begin() > 0;
  if (plan.config.x_scale == LineScale::kLog && has_log) channel["scale"]["type"] = "log";
  if (distinct.size() <= kMostOwnTicks) channel["axis"]["values"] = distinct;
  return channel;
}

Json y_channel(const LinePlan& plan, const char* field) {
  Json scale = Json::object();
  if (plan.config.y_scale == AxisScale::kLog) {
    scale = {{"type", "log"}, {"nice", false}, {"padding", 8}};  // not to the next power of ten
  } else if (is_difference(plan)) {
    scale["zero"] = true;
  } else if (plan.metric.is_share()) {
    scale["domain"] = Json::array({0, 1});
  } else {
    scale["zero"] = false;
  }
  std::string title = plan.style.labels.axis_title(plan.metric);
  if (is_difference(plan)) title += ", difference";
  return number_channel(field, title, scale, Json{{"tickCount", 5}});
}

Json legend(const LinePlan& plan) {
  if (plan.lines.size() < 2) return nullptr;
  // Without strokes: a dashed one frays a symbol's edge.
  Json legend = {{"symbolSize", 50}, {"symbolStrokeWidth", 0}};
  if (plan.config.width == ColumnWidth::kDouble) {
    legend["orient"] = "right";
  } else {
    legend.update({{"orient", "bottom"}, {"columns", legend_columns(plan.lines)}, {"offset", 4}});
  }
  return legend;
}

// Channel (colour, dash or shape) that tells lines apart; all channels share one legend.
Json look(const LinePlan& plan, const Json& scale) {
  const auto title = legend_title(plan.lines, plan.config.color, plan.style.labels);
  return name_channel("series", title, scale, legend(plan));
}

// In a browser a click on the legend brings one line forward.
Json faded(double shown, double hidden) {
  return {{"condition", Json{{"param", "pick"}, {"value", shown}}}, {"value", hidden}};
}

Json band_layer(const LinePlan& plan, const Json& x) {
  return {{"transform", Json::array({Json{{"filter", "isValid(datum.low)"}}})},
          {"mark", Json{{"type", "area"}, {"clip", true}}},
          {"encoding", Json{{"x", x},
                            {"y", y_channel(plan, "low")},
                            {"y2", Json{{"field", "high"}}},
                            {"color", look(plan, color_scale(plan.lines))},
                            {"opacity", faded(0.15, 0.03)}}}};
}

Json line_layer(const LinePlan& plan, const Json& x) {
  const Json pick = {{"name", "pick"},
                     {"select", Json{{"type", "point"}, {"fields", Json::array({"series"})}}},
                     {"bind", "legend"}};
  return {{"params", Json::array({pick})},
          {"mark",
           Json{{"type", "line"}, {"clip", true}, {"strokeWidth", 1.4}, {"strokeJoin", "round"}}},
          {"encoding", Json{{"x", x},
                            {"y", y_channel(plan, "mean")},
                            {"color", look(plan, color_scale(plan.lines))},
                            {"strokeDash", look(plan, dash_scale(plan.lines))},
                            {"opacity", faded(1, 0.15)}}}};
}

Json marker_layer(const LinePlan& plan, const Json& x) {
  const Json y = y_channel(plan, "mean");
  const Json tooltip = Json::array(
      {told_field("series", "line"), told_field("x", x["title"]),
       told_field("mean", y["title"], kFourDigits), told_field("low", "95 % from", kFourDigits),
       told_field("high", "95 % to", kFourDigits), Json{{"field", "n"}}});
  return {{"transform", Json::array({Json{{"filter", "datum.marker"}}})},
          {"mark", Json{{"type", "point"}, {"filled", true}, {"size", 26}}},
          {"encoding", Json{{"x", x},
                            {"y", y},
                            {"color", look(plan, color_scale(plan.lines))},
                            {"shape", look(plan, shape_scale(plan.lines))},
                            {"opacity", faded(1, 0.1)},
                            {"tooltip", tooltip}}}};
}

Json layers(const LinePlan& plan, const Json& values) {
  const Json x = x_channel(plan, values);
  Json result = chance_rules(plan.chance, "y");
  if (is_difference(plan)) {  // a rule where there is none
    result.push_back(rule_at("zero", 0, "y", {{"type", "rule"}, {"strokeWidth", 0.8}}));
  }
  const bool has_intervals =
      std::ranges::any_of(values, [](const Json& row) { return !row["low"].is_null(); });
  // A browser complains of a layer without data.
  if (plan.config.band == Band::kCi95 && has_intervals) result.push_back(band_layer(plan, x));
  result.push_back(line_layer(plan, x));
  result.push_back(marker_layer(plan, x));
  return result;
}

std::vector<std::string> subtitle_of(const LinePlan& plan, const Frame& frame,
                                     const std::vector<Group>& groups, bool is_cut,
                                     std::size_t dropped) {
  std::vector<std::string> lines = {describe_spread(groups, plan.config.band == Band::kCi95)};
  if (is_difference(plan)) {
    const std::string other = plan.style.labels.value(plan.config.against);
    lines[0] = groups.empty() ? concat("No finished run has a partner among those of ", other)
                              : concat("Minus ", other, " on equal seeds. ", lines[0]);
  }
  if (!plan.chance.empty()) lines[0] += "; " + describe_chance(plan.chance);
  if (is_cut) lines.emplace_back("A line ends where the first of its runs has stopped");
  lines.push_back(describe_dropped(dropped));
  lines.push_back(describe_gaps(frame, plan.config.color, plan.config.where, plan.style.labels));
  return lines;
}

// Between two panels side by side: more where the first and the last of their own ticks have names
// that would touch, such as 0.004 and 0.00025.
int gap_between(const Json& channel) {
  constexpr std::size_t kFits = 11;  // characters of both
  const auto axis = channel.find("axis");
  if (axis == channel.end() || !axis->contains("values") || axis->at("values").empty())
    return kPanelGap;
  const auto name = [](const Json& tick) { return plain_number(tick.get<double>()).size(); };
  const auto& ticks = axis->at("values");
  const auto both = name(ticks.front()) + name(ticks.back());
  return both > kFits ? kPanelGap + 4 * static_cast<int>(both - kFits + 3) : kPanelGap;
}

void lay_out(const LinePlan& plan, const Json& values, Json& spec) {
  const int gap = gap_between(x_channel(plan, values));
  if (!plan.panels.empty()) spec["bounds"] = "flush";
  lay_out_plot(spec,
               {plan.config, plan.style, plan.config.facet, plan.lines, plan.panels,
                /*rows_beside=*/4, gap},
               layers(plan, values));
  if (plan.panels.empty()) return;
  spec["spacing"]["column"] = gap;
  // Then each panel has an axis of its own, and flush bounds leave it no room.
  if (has_gap(plan.panels, spec["columns"])) {
    spec["spacing"]["row"] = spec["spacing"]["row"].get<int>() + 32;
  }
}

Json categories_of(const LineConfig& config, const std::vector<Observation>& rows,
                   const Labels& labels) {
  if (config.x_scale != LineScale::kCategory) return nullptr;
  Json found = Json::array();
  for (const Observation& row : rows) add_new(found, Json(labels.value(row.text(config.x))));
  return found;
}

// Behind the end of a run the mean is one of other runs: where those stop that are done, it would
// fall back to what the slow ones can do. So a line ends with its first run, at the last step that
// all have: where one stopped between two looks of the others it would be alone. Those that
// diverged are named elsewhere, and end nothing. Whether any line was cut.
bool end_with_the_first_run(std::vector<Group>& groups) {
  using Line = std::vector<std::string>;  // facet and colour
  const auto line_of = [](const Group& group) {
    return Line{key_text(group.keys[0]), key_text(group.keys[1])};
  };
  const auto x_of = [](const Group& group) { return group.keys[2].get<double>(); };
  std::map<Line, std::set<const FrameRun*>> runs;
  for (const auto& group : groups) {
    for (const FrameRun* run : group.runs) {
      if (run->state != RunState::kDiverged) runs[line_of(group)].insert(run);
    }
  }
  const auto is_in = [](const Group& group) {
    return [&group](const FrameRun* run) { return is_among(run, group.runs); };
  };
  std::map<Line, double> ends;
  for (const auto& group : groups) {  // ascending
    const auto& of_line = runs[line_of(group)];
    if (std::ranges::all_of(of_line, is_in(group))) {
      ends[line_of(group)] = x_of(group);
    }
  }
  const auto is_behind = [&](const Group& group) {
    const auto& of_line = runs[line_of(group)];
    const auto end = ends.find(line_of(group));
    if (of_line.empty() || end == ends.end()) return false;
    return x_of(group) > end->second || std::ranges::none_of(of_line, is_in(group));
  };
  return std::erase_if(groups, is_behind) > 0;
}

}  // namespace

Drawing LineConfig::draw(const Frame& frame, const Style& style) const {
  const bool curve = source.empty() && x == "step";
  const std::vector<std::string> keys = {facet, color, x};
  const auto rows = frame.observations(source, curve, where);
  auto groups = aggregate(frame, rows, keys, y);
  const bool is_cut = curve && end_with_the_first_run(groups);
  if (!against.empty()) groups = differences(frame, groups, keys, color, against, metric_of(y));
  LinePlan plan{.config = *this,
                .metric = metric_of(y),
                .lines = style.lines(frame, rows, color),
                .panels = style.panels(frame, rows, facet),
                .chance = chance_levels(rows, y),
                .categories = categories_of(*this, rows, style.labels),
                .style = style};
  if (!against.empty()) {
    std::erase_if(plan.lines, [&](const Series& one) { return is_same_value(one.value, against); });
    plan.chance.clear();  // a difference has no chance level
  }
  const std::string what = style.labels.heading(plan.metric);
  Json values = data_of(groups, plan);
  const auto dropped =
      y_scale == AxisScale::kLog && band == Band::kCi95 ? drop_intervals_at_zero(values) : 0;
  Drawing drawing;
  drawing.spec = style.start(
      *this, curve ? what + " during training" : what + " by " + style.labels.heading(metric_of(x)),
      subtitle_of(plan, frame, groups, is_cut, dropped));
  drawing.spec["data"] = Json{{"values", values}};
  lay_out(plan, values, drawing.spec);
  add_csv(drawing, keys, against.empty() ? y : concat(y, kDifferenceSuffix), groups);
  return drawing;
}

}  // namespace difflab::report
