#include "study/load/tuning_parts.h"

#include <algorithm>
#include <set>

#include "config/grid/axes.h"
#include "config/interpolate/interpolation_text.h"
#include "config/schema/reader.h"
#include "config/value/value.h"
#include "report/data/frame.h"
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "run/run_config.h"
#include "util/json.h"

namespace difflab::study {
namespace {

// Lines for the values of the first axis, panels for those of the second. A line is a mean over
// all axes that it does not name, so there is a figure for each combination of the others.
Json figures_of_tuning(const StudyConfig& study, const std::vector<Variant>& variants,
                       const std::vector<std::string>& axes) {
  Json figures = Json::array();
  std::set<Json> shown;
  for (const auto& variant : variants) {
    Json where = Json::object();
    std::string title = "Tuning";
    for (std::size_t i = 2; i < variant.axes.size(); ++i) {
      const auto& [axis, value] = variant.axes[i];
      where[axis] = value;
      title = concat(title, i == 2 ? ": " : ", ", report::Labels(study.report.labels).value(value));
    }
    if (!shown.insert(where).second) continue;
    const auto name = shown.size() == 1 ? "tuning" : concat("tuning_", shown.size());
    Json figure = {{"mark", "line"},      {"name", name},           {"title", title},
                   {"x", study.tune.key}, {"y", study.tune.metric}, {"x_scale", "log"}};
    if (!axes.empty()) figure["color"] = axes[0];
    if (axes.size() > 1) figure["facet"] = axes[1];
    if (!where.empty()) figure["where"] = std::move(where);
    figures.push_back(std::move(figure));
  }
  return figures;
}

bool refers(const config::Value& value) {
  if (value.is_string()) return config::has_interpolation(value.as_string());
  return std::ranges::any_of(value.items(), refers) ||
         std::ranges::any_of(value.entries(),
                             [](const auto& entry) { return refers(entry.value); });
}

// True if the value of an axis changes with the tuned key: no label would then be true of all its
// runs.
bool follows(const std::string& axis, const config::Point& point, const TuneConfig& tune) {
  const auto* written = point.written->tree.find_path(axis);
  const bool may_follow = written != nullptr && refers(*written);
  const auto* now = point.config.find_path(axis);
  if (!may_follow || now == nullptr) return false;
  return std::ranges::any_of(tune.values, [&](double value) {
    config::Problems ignored;  // of the runs, told where they are made
    const auto other = point.written->with({{tune.key, config::Value(value)}}, ignored);
    const auto* then = other.find_path(axis);
    return then == nullptr || config::label_of(*then) != config::label_of(*now);
  });
}

}  // namespace

config::Value number_like(const config::Value* as, double value) {
  const bool whole = as != nullptr && as->is_int() && value == std::floor(value);
  auto made = whole ? config::Value(static_cast<std::int64_t>(value)) : config::Value(value);
  if (as != nullptr) made.source = as->source;
  return made;
}

bool have_ended(const std::vector<sweep::Run>& runs) {
  return std::ranges::all_of(
      runs, [](const sweep::Run& run) { return is_complete(state_of(run.directory)); });
}

std::vector<sweep::Run> Variant::needed(double value) const {
  const auto& runs = tried.at(value);
  return {runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(seeds.at(value))};
}

std::vector<sweep::Run> Variant::all_needed(double value) const {
  auto runs = needed(value);
  if (const auto more = again.find(value); more != again.end())
    runs.insert(runs.end(), more->second.begin(), more->second.end());
  return runs;
}

bool Variant::have_ended() const {
  return std::ranges::all_of(tried,
                             [&](const auto& one) { return study::have_ended(needed(one.first)); });
}

report::ReportConfig report_of_tuning(const StudyConfig& study,
                                      const std::vector<Variant>& variants) {
  Json rows = Json::array(), columns = Json::array();
  std::vector<std::string> axes;
  for (const auto& [axis, value] : variants.front().axes) {
    rows.push_back(axis);
    axes.push_back(axis);
  }
  rows.push_back(study.tune.key);
  if (study.report.learned.given()) columns.push_back(report::kLearned);
  columns.push_back(study.tune.metric);
  Json report = {
      {"tables", Json::array({{{"name", "table"}, {"rows", rows}, {"columns", columns}}})},
      {"figures", figures_of_tuning(study, variants, axes)}};
  auto read = config::read<report::ReportConfig>(config::from_json(report));
  read.learned = study.report.learned;
  read.labels = study.report.labels;
  read.headline = study.tune.metric;
  return read;
}

void check_tuning(const std::vector<config::Point>& points, const Study& study,
                  config::Problems& problems) {
  const auto& tune = study.config.tune;
  const auto add = [&](const std::string& key, const std::string& message) {
    problems.add({}, key, concat(key, " ", message));
  };
  if (tune.key == "train.steps" && (tune.steps > 0 || tune.longer > 0)) {
    add("tune.key", "is train.steps, which tune.steps and tune.longer set, too");
  }
  for (const auto& [axis, value] : study.points.front().axes) {
    if (axis == tune.key) add("tune.key", concat("is ", axis, ", which the sweep varies, too"));
  }
  for (std::size_t i = 0; i < points.size() && problems.empty(); ++i) {
    for (const auto& [axis, value] : points[i].axes) {
      if (!follows(axis, points[i], tune)) continue;
      add("tune.key", concat("is ", tune.key, ", to which the axis ", axis,
                             " refers; expected axes whose values do not depend on it"));
    }
    const auto& run = study.config_of(study.points[i]);
    const auto full = config::from_json(study.points[i].config);
    const auto* value = full.find_path(tune.key);
    if (value == nullptr || !value->is_number()) {
      add("tune.key",
          concat("is ", tune.key, ", which is ", value == nullptr ? "not a key" : "not a number",
                 " of run ", study.points[i].label(), "; expected e.g. train.lr"));
    }
    if (const auto steps = tune.steps > 0 ? tune.steps : run.train.steps;
        tune.longer > 0 && tune.longer <= steps) {
      add("tune.longer", concat("is ", tune.longer, "; expected more than ", steps,
                                ", the steps of its other runs"));
    }
    if (run.seed >= tune.first_seed) {
      add("tune.seeds", concat("are ", tune.first_seed, " and on; expected reported seeds below, ",
                               "and found ", run.seed));
    }
  }
}

const Said& Trials::said_by(const sweep::Run& run) const {
  const auto [place, is_new] = said_.try_emplace(run.id);
  auto& said = place->second;
  if (!is_new) return said;
  const auto& learned = study_.report.learned;
  const report::Frame frame(report::read_runs({run}, name_), "", learned, {});
  const auto& found = frame.runs().front();
  said.is_finished = found.state == RunState::kFinished;
  said.metric = found.metric(study_.tune.metric);
  const auto has_learned = found.metric(report::kLearned);
  if (learned.given() && said.is_finished && !has_learned && is_restored(run.directory)) {
    throw report::nobody_knows_who_learned(learned, run.label(), run.directory.path.string());
  }
  said.has_learned = said.metric && (!learned.given() || has_learned.value_or(1) == 1.0);
  if (!said.metric) said.metric = found.censored_above(study_.tune.metric);
  return said;
}

std::optional<Tried> Trials::read(const std::vector<sweep::Run>& runs) const {
  Tried tried;
  for (const auto& run : runs) {
    const auto& said = said_by(run);
    if (!said.is_finished || !said.metric) return std::nullopt;
    tried.learned += said.has_learned ? 1 : 0;
    tried.metric += is_geometric() ? report::log_of_time(*said.metric) : *said.metric;
  }
  // Divided once: a share of each seed would round, and equal means would differ.
  tried.metric /= static_cast<double>(runs.size());
  if (study_.tune.goal == Goal::kHighest) tried.metric = -tried.metric;
  return tried.learned > 0 ? std::optional(tried) : std::nullopt;
}

bool Trials::is_event() const {
  return report::metric_of(study_.tune.metric).outcome == Outcome::kTimeToEvent;
}

bool Trials::is_geometric() const { return study_.tune.again > 0 && is_event(); }

bool Trials::seeds_may_fail() const { return is_event() || study_.report.learned.given(); }

bool Trials::leave_seeds_out() const { return !study_.tune.every_seed && seeds_may_fail(); }

std::vector<config::Point> tuned_points(std::vector<config::Point> points, const Study& study,
                                        config::Problems& problems) {
  std::vector<config::Point> tuned;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto axes = report::without_seed(study.points[i].axes);
    for (const auto& variant : study.tuned->variants) {
      if (variant.axes != axes || !variant.value) continue;
      const auto& key = study.tuned->key;
      const auto value = number_like(points[i].config.find_path(key), *variant.value);
      points[i].config = points[i].written->with({{key, value}}, problems);
      tuned.push_back(std::move(points[i]));
      break;
    }
  }
  return tuned;
}

}  // namespace difflab::study
