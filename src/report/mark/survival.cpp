#include "report/mark/survival.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/data/format.h"
#include "report/figure/parts.h"
#include "statistics/distributions.h"
#include "statistics/holm.h"
#include "statistics/survival.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kSurvivalHeight = 150;  // pixels of the curves
constexpr int kRiskRow = 12;
constexpr std::size_t kMostMedians = 4;    // in the subtitle; the CSV has all
constexpr std::size_t kFewestForTest = 8;  // runs of a curve
constexpr int kSurvivalMargin = 52;
constexpr double kNever = std::numeric_limits<double>::infinity();

struct SurvivalCurve {
  Series look;
  std::vector<Lifetime> lives;
  std::vector<SurvivalStep> steps;
};

std::vector<SurvivalCurve> curves_of(const SurvivalConfig& config, const Frame& frame,
                                     const std::vector<Observation>& rows, const Style& style) {
  std::vector<SurvivalCurve> curves;
  for (const Series& look : style.series(frame, rows, config.color))
    curves.push_back({look, {}, {}});
  for (const Observation& row : rows) {
    const auto time = row.run->reached(config.event);
    if (!time) continue;
    const auto curve = std::ranges::find_if(curves, [&](const auto& one) {
      return is_same_value(one.look.value, row.text(config.color));
    });
    const bool happened = row.run->metric(config.event).has_value();
    if (curve != curves.end()) curve->lives.push_back({*time, happened});
  }
  for (auto& curve : curves) curve.steps = kaplan_meier(curve.lives);
  return curves;
}

// 95 % of the share that has got there, log-log; none where all or none have.
std::optional<Interval> share_interval(const SurvivalStep& step) {
  if (step.survival <= 0 || step.survival >= 1) return std::nullopt;
  const double log = std::log(step.survival);
  const double factor = std::exp(normal_quantile(0.975) * step.error / (step.survival * -log));
  return Interval{1 - std::pow(step.survival, 1 / factor), 1 - std::pow(step.survival, factor)};
}

double last_time(const SurvivalCurve& curve) {
  double last = 0;
  for (const auto& life : curve.lives) last = std::max(last, life.time);
  return last;
}

double horizon_of(const std::vector<SurvivalCurve>& curves) {
  double horizon = 0;
  for (const auto& curve : curves) horizon = std::max(horizon, last_time(curve));
  return horizon;
}

// The longest time up to which every curve is known: means up to there can be compared.
double common_horizon(const std::vector<SurvivalCurve>& curves) {
  double horizon = 0;
  for (const auto& curve : curves) {
    if (curve.lives.empty()) continue;
    const bool all_happened = curve.steps.size() > 0 && curve.steps.back().survival < 1e-12;
    const double known = all_happened ? kNever : last_time(curve);
    horizon = horizon == 0 ? known : std::min(horizon, known);
  }
  return std::isfinite(horizon) ? horizon : horizon_of(curves);
}

Json point(const SurvivalCurve& curve, double time, double share, std::size_t at_risk,
           const std::optional<Interval>& interval) {
  return {{"series", curve.look.label},
          {"x", time},
          {"share", share},
          {"low", interval ? Json(interval->low) : Json()},
          {"high", interval ? Json(interval->high) : Json()},
          {"risk", at_risk}};
}

// Each curve from 0 to where its last run ended.
Json curve_data(const std::vector<SurvivalCurve>& curves, Band band) {
  Json values = Json::array();
  for (const auto& curve : curves) {
    if (curve.lives.empty()) continue;
    values.push_back(point(curve, 0, 0, curve.lives.size(), {}));
    for (const auto& step : curve.steps) {
      const auto interval = share_interval(step);
      // The band, too, holds until the next event, even if that has none.
      if (band == Band::kCi95 && !interval && !values.back()["low"].is_null()) {
        auto until = values.back();
        until["x"] = step.time;
        values.push_back(std::move(until));
      }
      values.push_back(point(curve, step.time, 1 - step.survival,
                             static_cast<std::size_t>(step.at_risk), interval));
    }
    auto end = values.back();
    end["x"] = last_time(curve);
    values.push_back(std::move(end));
  }
  return values;
}

// Round times from 0 on, four or fewer behind it: 1, 2 or 5 times a power of ten apart.
std::vector<double> times_up_to(double horizon) {
  const double least = horizon / 4;
  double apart = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (apart >= least) break;
    apart *= factor;
  }
  std::vector<double> times;
  for (int i = 0; apart * i <= horizon; ++i) times.push_back(apart * i);
  return times;
}

Json risk_data(const std::vector<SurvivalCurve>& curves, double horizon) {
  Json values = Json::array();
  for (const auto& curve : curves) {
    for (const double time : times_up_to(horizon)) {
      values.push_back(
          Json{{"series", curve.look.label}, {"x", time}, {"risk", at_risk(curve.lives, time)}});
    }
  }
  return values;
}

Json look_channel(const Json& scale, bool has_legend, const Json& title) {
  const Json legend = {
      {"orient", "bottom"}, {"columns", 2}, {"symbolType", "stroke"}, {"offset", 4}};
  return name_channel("series", title, scale, has_legend ? legend : Json());
}

Json time_channel(const Metric& event, const Labels& labels, double horizon, bool has_axis) {
  return number_channel(
      "x", has_axis ? Json(labels.axis_title(event)) : Json(),
      Json{{"domain", Json::array({0, horizon})}, {"nice", false}},
      has_axis ? Json{{"grid", false}, {"values", times_up_to(horizon)}} : Json());
}

Json curve_panel(const SurvivalConfig& config, const std::vector<Series>& looks, const Style& style,
                 const Json& x, const Json& data, int width) {
  const auto share = [](const char* field) {
    return number_channel(field, "share of runs", Json{{"domain", Json::array({0, 1})}},
                          Json{{"tickCount", 5}});
  };
  const auto title = legend_title(looks, config.color, style.labels);
  const Json color = look_channel(color_scale(looks), looks.size() > 1, title);
  const Json tooltip = Json::array({Json{{"field", "series"}, {"title", "curve"}},
                                    Json{{"field", "x"}, {"title", x["title"]}},
                                    Json{{"field", "share"}, {"format", ".3~f"}},
                                    Json{{"field", "risk"}, {"title", "at risk before"}}});
  Json layer = Json::array();
  if (config.band == Band::kCi95) {
    layer.push_back(Json{
        {"transform", Json::array({Json{{"filter", "isValid(datum.low)"}}})},
        {"mark", Json{{"type", "area"}, {"interpolate", "step-after"}, {"opacity", 0.12}}},
        {"encoding",
         Json{{"x", x}, {"y", share("low")}, {"y2", Json{{"field", "high"}}}, {"color", color}}}});
  }
  layer.push_back(Json{
      {"mark", Json{{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 1.5}}},
      {"encoding", Json{{"x", x},
                        {"y", share("share")},
                        {"color", color},
                        {"strokeDash", look_channel(dash_scale(looks), looks.size() > 1, title)},
                        {"tooltip", tooltip}}}});
  return {{"width", width},
          {"height", style.config.height_of(kSurvivalHeight)},
          {"data", Json{{"values", data}}},
          {"layer", layer}};
}

// A line of numbers per curve, in its colour, under the times that they belong to.
Json risk_panel(const std::vector<Series>& looks, const Json& x, const Json& data, int width) {
  const Json y = {{"field", "series"},
                  {"type", "nominal"},
                  {"title", "at risk"},
                  {"sort", label_list(looks)},
                  {"axis",
                   // The first number of a row is centred at the axis: half of it stands before it.
                   Json{{"labels", false},
                        {"ticks", false},
                        {"domain", false},
                        {"grid", false},
                        {"titlePadding", 14}}}};
  return {{"width", width},
          {"height", kRiskRow * static_cast<int>(looks.size())},
          {"data", Json{{"values", data}}},
          {"mark", Json{{"type", "text"}, {"fontSize", 9}}},
          {"encoding", Json{{"x", x},
                            {"y", y},
                            {"text", Json{{"field", "risk"}}},
                            {"color", look_channel(color_scale(looks), false, nullptr)}}}};
}

// "Medians: Transformer: 500 [450, 700]; DIFF: > 1,600".
std::string medians(const std::vector<SurvivalCurve>& curves, const Metric& event) {
  std::vector<std::string> parts;
  for (const auto& curve : curves) {
    if (curve.lives.empty()) continue;
    const auto text = [&](double time) {
      return std::isfinite(time) ? event.text(time) : "> " + event.text(last_time(curve));
    };
    const auto median = median_lifetime(curve.lives);
    parts.push_back(concat(curve.look.label, ": ", text(median.value_or(kNever))));
    if (const auto range = median_lifetime_interval(curve.lives)) {
      parts.back() += concat(" [", text(range->low), ", ", text(range->high), "]");
    }
  }
  return "Medians: " + join(parts, "; ");
}

// The p of each curve beside the baseline's, adjusted for their number; empty of curves with too
// few runs for a test that is exact in the limit only. Seeds are not paired here: what the tables
// and claims say comes from pairs.
std::vector<std::optional<double>> log_ranks(const std::vector<SurvivalCurve>& curves,
                                             const std::string& baseline) {
  std::vector<std::optional<double>> found(curves.size());
  const auto reference = std::ranges::find_if(curves, [&](const auto& curve) {
    return is_same_value(curve.look.value, baseline) && curve.lives.size() >= kFewestForTest;
  });
  if (reference == curves.end()) return found;
  std::vector<double> p;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].lives.size() < kFewestForTest || &curves[i] == &*reference) continue;
    p.push_back(log_rank_p(curves[i].lives, reference->lives));
    of.push_back(i);
  }
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < of.size(); ++i) found[of[i]] = adjusted[i];
  return found;
}

// "Log-rank against Transformer: DIFF p = .03 (Holm)"; empty if there are none.
std::string log_rank_text(const std::vector<SurvivalCurve>& curves,
                          const std::vector<std::optional<double>>& ranks, const Labels& labels,
                          const std::string& baseline) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (ranks[i]) parts.push_back(concat(curves[i].look.label, " ", named_p(*ranks[i])));
  }
  if (parts.empty()) return "";
  return concat("Log-rank against ", labels.value(baseline), ": ", join(parts, "; "),
                parts.size() > 1 ? " (Holm)" : "");
}

void add_survival_csv(const SurvivalConfig& config, const std::vector<SurvivalCurve>& curves,
                      const std::vector<std::optional<double>>& ranks, double horizon,
                      Drawing& drawing) {
  drawing.columns = {config.color.empty() ? "series" : config.color, config.event};
  drawing.columns.insert(
      drawing.columns.end(),
      {"at_risk", "events", "share", "low", "high", "median", "median_low", "median_high",
       "mean_up_to", "restricted_mean", "restricted_mean_error", "log_rank_p"});
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto& curve = curves[i];
    const auto mean = restricted_mean(curve.lives, horizon);
    std::vector<std::string> of_curve = {plain_number(median_lifetime(curve.lives))};
    add_ends(median_lifetime_interval(curve.lives), of_curve);
    of_curve.insert(of_curve.end(), {plain_number(horizon), plain_number(mean.mean),
                                     plain_number(mean.error), plain_number(ranks[i])});
    for (const auto& step : curve.steps) {
      auto& row = drawing.rows.emplace_back(std::vector{curve.look.value, plain_number(step.time),
                                                        concat(step.at_risk), concat(step.events),
                                                        plain_number(1 - step.survival)});
      add_ends(share_interval(step), row);
      row.insert(row.end(), of_curve.begin(), of_curve.end());
    }
    // Where nothing happened there is no step, but a result.
    if (!curve.steps.empty() || curve.lives.empty()) continue;
    auto& row = drawing.rows.emplace_back(std::vector<std::string>{
        curve.look.value, "", concat(curve.lives.size()), "0", "0", "", ""});
    row.insert(row.end(), of_curve.begin(), of_curve.end());
  }
}

}  // namespace

Drawing SurvivalConfig::draw(const Frame& frame, const Style& style) const {
  const auto rows = frame.observations("", /*curve=*/false, where);
  const auto curves = curves_of(*this, frame, rows, style);
  const Metric metric = metric_of(event);
  std::size_t runs = 0, without = 0;
  std::vector<Series> looks;
  for (const auto& curve : curves) {
    runs += curve.lives.size();
    without += static_cast<std::size_t>(
        std::ranges::count_if(curve.lives, [](const Lifetime& life) { return !life.happened; }));
    looks.push_back(curve.look);
  }
  std::vector<std::string> subtitle = {
      runs == 0 ? "No finished run has this metric"
                : concat("Kaplan–Meier, ", runs, " runs, of which ", without, " never got there")};
  const auto ranks = log_ranks(curves, frame.baseline());
  if (runs > 0 && curves.size() <= kMostMedians) {
    subtitle.push_back(medians(curves, metric));
    subtitle.push_back(log_rank_text(curves, ranks, style.labels, frame.baseline()));
  }
  subtitle.push_back(describe_gaps(frame, color, where, style.labels));
  Drawing drawing;
  drawing.spec = style.start(*this, "Runs by " + style.labels.heading(metric), subtitle);
  const double horizon = std::max(horizon_of(curves), 1.0);
  const int plot = pixels(width) - kSurvivalMargin;
  drawing.spec["spacing"] = 6;
  drawing.spec["resolve"] =
      Json{{"scale", Json{{"color", "independent"}, {"strokeDash", "independent"}}}};
  drawing.spec["vconcat"] = Json::array(
      {curve_panel(*this, looks, style, time_channel(metric, style.labels, horizon, true),
                   curve_data(curves, band), plot),
       risk_panel(looks, time_channel(metric, style.labels, horizon, false),
                  risk_data(curves, horizon), plot)});
  add_survival_csv(*this, curves, ranks, common_horizon(curves), drawing);
  return drawing;
}

}  // namespace difflab::report
