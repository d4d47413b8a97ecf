#include "report/mark/histogram.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "report/figure/parts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

using Bin = std::pair<double, double>;  // from, to

struct HistogramPlan {
  const HistogramConfig& config;
  std::vector<Series> lines, panels;
  const Style& style;
};

// Equal bins from the smallest value to the largest.
class Bins {
 public:
  Bins(const std::vector<Observation>& rows, const HistogramConfig& config)
      : count_(static_cast<double>(config.bins)), log_(config.x_scale == AxisScale::kLog) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Observation& row : rows) {
      const auto value = row.measured(config.x);
      if (!value || !fits(*value)) continue;
      low = std::min(low, place(*value));
      high = std::max(high, place(*value));
    }
    low_ = low;
    step_ = high > low ? (high - low) / count_ : 1;
  }
  bool fits(double value) const { return !log_ || value > 0; }
  Bin of(double value) const {
    const double index = std::min(std::floor((place(value) - low_) / step_), count_ - 1);
    return at(index);
  }
  Bin at(double index) const {
    return {back(low_ + index * step_), back(low_ + (index + 1) * step_)};
  }

 private:
  double place(double value) const { return log_ ? std::log(value) : value; }
  double back(double place) const { return log_ ? std::exp(place) : place; }

  double count_;
  bool log_;
  double low_ = 0, step_ = 1;
};

// How many values a run has in each bin, apart for each panel and line.
struct Count {
  const FrameRun* run;
  Json panel, line;
  std::map<Bin, double> bins;
};

Count& count_of(std::vector<Count>& counts, const Observation& row, const HistogramConfig& config) {
  const Json panel = config.facet.empty() ? Json() : row.value(config.facet);
  const Json line = config.color.empty() ? Json() : row.value(config.color);
  const auto found = std::find_if(counts.rbegin(), counts.rend(), [&](const Count& count) {
    return count.run == row.run && count.panel == panel && count.line == line;
  });
  if (found != counts.rend()) return *found;
  return counts.emplace_back(Count{row.run, panel, line, {}});
}

std::vector<Count> count(const HistogramConfig& config, const std::vector<Observation>& rows) {
  const Bins bins(rows, config);
  const bool are_bins = !config.weight.empty();
  std::vector<Count> counts;
  for (const Observation& row : rows) {
    const auto value = row.measured(config.x);
    const auto end = are_bins ? row.measured(config.x_end) : value;
    const auto weight = are_bins ? row.measured(config.weight) : std::optional(1.0);
    if (!value || !end || !weight || (!are_bins && !bins.fits(*value))) continue;
    const Bin bin = are_bins ? Bin{*value, *end} : bins.of(*value);
    count_of(counts, row, config).bins[bin] += *weight;
  }
  // A bin that no run fills is one of zero, not a longer step of the one before.
  for (std::int64_t i = 0; i < config.bins && !are_bins && !counts.empty(); ++i) {
    counts.front().bins[bins.at(static_cast<double>(i))] += 0;
  }
  return counts;
}

// Runs whose evaluations chose bins of their own get common ones: equal bins over all of them, each
// old bin's values spread evenly over the new ones that it overlaps.
void share_bins(const HistogramConfig& config, std::vector<Count>& counts) {
  std::set<Bin> all;
  for (const Count& one : counts) {
    for (const auto& entry : one.bins) all.insert(entry.first);
  }
  double end = -std::numeric_limits<double>::infinity();
  bool overlap = false;
  for (const Bin& bin : all) {
    overlap = overlap || bin.first < end - 1e-9 * std::abs(end);
    end = std::max(end, bin.second);
  }
  if (!overlap) return;
  const double begin = all.begin()->first;
  const double width = (end - begin) / static_cast<double>(config.bins);
  for (Count& one : counts) {
    std::map<Bin, double> shared;
    for (const auto& [bin, weight] : one.bins) {
      for (std::int64_t i = 0; i < config.bins; ++i) {
        const Bin common = {begin + width * static_cast<double>(i),
                            begin + width * static_cast<double>(i + 1)};
        const double inside =
            std::min(bin.second, common.second) - std::max(bin.first, common.first);
        shared[common] += inside > 0 ? weight * inside / (bin.second - bin.first) : 0;
      }
    }
    one.bins = std::move(shared);
  }
}

// All bins from the first to the last that any run fills: evaluations have room for sizes that
// these runs do not have.
std::set<Bin> filled_bins(const std::vector<Count>& counts) {
  std::set<Bin> all, filled;
  for (const Count& one : counts) {
    for (const auto& [bin, weight] : one.bins) {
      all.insert(bin);
      if (weight > 0) filled.insert(bin);
    }
  }
  if (filled.empty()) return all;
  return {all.find(*filled.begin()), std::next(all.find(*filled.rbegin()))};
}

// The share of each run's values in each bin, as rows of an evaluation; a bin that only other runs
// fill is zero here. `store` keeps the fields that the rows refer to.
std::vector<Observation> shares(const HistogramConfig& config, const std::vector<Observation>& rows,
                                std::deque<Json>& store) {
  auto counts = count(config, rows);
  share_bins(config, counts);
  const auto all = filled_bins(counts);
  std::vector<Observation> result;
  for (const Count& one : counts) {
    double total = 0;
    for (const auto& entry : one.bins) total += entry.second;
    for (const Bin& bin : all) {
      const auto found = one.bins.find(bin);
      const double weight = found == one.bins.end() ? 0 : found->second;
      Json fields = {{"bin_from", bin.first},
                     {"bin_to", bin.second},
                     {"share", total > 0 ? weight / total : 0}};
      if (!config.facet.empty()) fields[config.facet] = one.panel;
      if (!config.color.empty()) fields[config.color] = one.line;
      store.push_back(std::move(fields));
      result.push_back({.run = one.run, .fields = &store.back()});
    }
  }
  return result;
}

// A step is drawn from its beginning to the next one's; the last needs an end.
Json data_of(const std::vector<Group>& groups, const HistogramPlan& plan) {
  Json values = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    Json row = {{"panel", label_of(group.keys[0], plan.panels, plan.style.labels)},
                {"series", label_of(group.keys[1], plan.lines, plan.style.labels)},
                {"x", group.keys[2]}};
    row.update(spread_fields(group));
    if (plan.config.y_scale == AxisScale::kLog && group.average <= 0) row["mean"] = nullptr;
    const bool last = i + 1 == groups.size() || groups[i + 1].keys[0] != group.keys[0] ||
                      groups[i + 1].keys[1] != group.keys[1];
    values.push_back(row);
    if (last) {
      row["x"] = group.keys[3];
      values.push_back(row);
    }
  }
  return values;
}

Json layers(const HistogramPlan& plan) {
  const auto scale = [](AxisScale kind) {
    return kind == AxisScale::kLog ? Json{{"type", "log"}, {"nice", false}} : Json{{"nice", false}};
  };
  const Json x =
      number_channel("x", plan.style.labels.axis_title(metric_of(plan.config.x)),
                     scale(plan.config.x_scale), Json{{"grid", false}, {"tickCount", 5}});
  Json y_scale = scale(plan.config.y_scale);
  if (plan.config.y_scale == AxisScale::kLinear) y_scale = Json{{"zero", true}};
  const Json y = number_channel("mean", "share of the values", y_scale, Json{{"tickCount", 5}});
  const bool below = plan.config.width == ColumnWidth::kSingle;
  // Filled symbols, the area's, do not show the dashes.
  Json legend = {
      {"orient", below ? "bottom" : "right"}, {"symbolType", "stroke"}, {"symbolSize", 300}};
  if (below) legend["columns"] = legend_columns(plan.lines);
  if (plan.lines.size() < 2) legend = nullptr;
  const auto look = [&](const Json& range) {
    return name_channel("series", nullptr, range, legend);
  };
  Json result = Json::array();
  if (plan.config.y_scale == AxisScale::kLinear) {
    Json filled = y;
    filled["stack"] = nullptr;
    result.push_back(Json{
        {"mark", Json{{"type", "area"}, {"interpolate", "step-after"}, {"opacity", 0.12}}},
        {"encoding", Json{{"x", x}, {"y", filled}, {"color", look(color_scale(plan.lines))}}}});
  }
  result.push_back(
      Json{{"mark", Json{{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 1.3}}},
           {"encoding", Json{{"x", x},
                             {"y", y},
                             {"color", look(color_scale(plan.lines))},
                             {"strokeDash", look(dash_scale(plan.lines))}}}});
  return result;
}

// Values that no bin has.
std::vector<std::string> describe_not_drawn(const HistogramConfig& config,
                                            const std::vector<Observation>& rows) {
  std::size_t never = 0, not_above_0 = 0;
  for (const Observation& row : rows) {
    const auto value = row.measured(config.x);
    if (!value && row.fields == nullptr && row.run->censored_above(config.x)) ++never;
    if (value && *value <= 0 && config.x_scale == AxisScale::kLog && config.weight.empty())
      ++not_above_0;
  }
  std::vector<std::string> lines;
  if (never > 0) lines.push_back(concat(never, " that never got there are not drawn"));
  if (not_above_0 > 0) lines.push_back(concat(not_above_0, " not above 0 are not drawn"));
  return lines;
}

}  // namespace

Drawing HistogramConfig::draw(const Frame& frame, const Style& style) const {
  const auto cells = frame.observations(source, false, where);
  const HistogramPlan plan{.config = *this,
                           .lines = style.lines(frame, cells, color),
                           .panels = style.panels(frame, cells, facet),
                           .style = style};
  std::deque<Json> store;
  const auto rows = shares(*this, cells, store);
  const std::vector<std::string> keys = {facet, color, "bin_from", "bin_to"};
  const auto groups = aggregate(frame, rows, keys, "share");
  std::vector<std::string> subtitle = {describe_spread(groups, /*shows_interval=*/false),
                                       describe_gaps(frame, color, where, style.labels)};
  for (const auto& said : describe_not_drawn(*this, cells)) subtitle.push_back(said);
  Drawing drawing;
  drawing.spec =
      style.start(*this, "distribution of " + style.labels.heading(metric_of(x)), subtitle);
  drawing.spec["data"] = Json{{"values", data_of(groups, plan)}};
  lay_out_plot(drawing.spec, {*this, style, facet, plan.lines, plan.panels}, layers(plan));
  add_csv(drawing, keys, "share", groups);
  return drawing;
}

}  // namespace difflab::report
