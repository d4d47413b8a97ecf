#include "study/load/tuning.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "config/grid/axes.h"
#include "config/schema/reader.h"
#include "report/data/frame.h"
#include "report/data/learned.h"
#include "run/run_config.h"
#include "study/load/resolve.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

sweep::Axes without_seed(sweep::Axes axes) {
  std::erase_if(axes, [](const auto& axis) { return axis.first == report::kSeedAxis; });
  return axes;
}

// One that a number of a grid is as the configuration writes it: whole where the key is.
config::Value number(double value, const config::Value* as) {
  const bool whole = as != nullptr && as->is_int() && value == std::floor(value);
  auto made = whole ? config::Value(static_cast<std::int64_t>(value)) : config::Value(value);
  if (as != nullptr) made.source = as->source;
  return made;
}

/// One combination of all axes but the seed.
struct Variant {
  sweep::Axes axes;
  config::Value run;  ///< as composed, of its first seed
  std::map<double, std::vector<sweep::Run>> tried = {};
};

/// What the runs of one value say.
struct Tried {
  int learned = 0;
  double metric = 0;  ///< mean over its seeds, smaller is better
};

/// The values of a grid that may grow.
class Grid {
 public:
  explicit Grid(std::vector<double> values) : values_(std::move(values)) {}

  const std::vector<double>& values() const { return values_; }
  bool is_edge(double value) const { return value == values_.front() || value == values_.back(); }
  /// Whether it had room to grow beyond this edge.
  bool grow(double edge) {
    const bool up = edge == values_.back();
    if ((up ? above_ : below_)++ >= kMostGrown) return false;
    // 1, 3, 10 goes on with 30: by the ratio before the last one.
    const auto n = values_.size();
    if (up) {
      values_.push_back(rounded(values_[n - 1] * (values_[n - 2] / values_[n - 3])));
    } else {
      values_.insert(values_.begin(), rounded(values_[0] * (values_[1] / values_[2])));
    }
    return true;
  }

 private:
  static double rounded(double value) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 5);
    return std::stod(concat(std::round(value / unit) * unit));
  }

  std::vector<double> values_;
  int above_ = 0, below_ = 0;
};

class Tuner {
 public:
  Tuner(const std::vector<config::Point>& points, Study& study, config::Problems& problems)
      : study_(study), config_(study.config.tune), problems_(problems), grid_(config_.values) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto axes = without_seed(study.points[i].axes);
      const auto known = std::find_if(variants_.begin(), variants_.end(),
                                      [&](const Variant& one) { return one.axes == axes; });
      if (known == variants_.end()) variants_.push_back({std::move(axes), points[i].config});
    }
    study.tuning = std::make_shared<Study>(empty_study());
  }

  void run() {
    while (true) {
      for (auto& variant : variants_) {
        for (const double value : grid_.values()) try_value(variant, value);
      }
      if (!problems_.empty()) return;
      if (!are_complete()) break;
      if (!grow()) {
        study_.tuned = found();
        study_.tuning->config.notes = concat("Taken were: ", study_.tuned->picks(), ".");
        break;
      }
    }
    add_points();
  }

 private:
  // The study of the tuning's own runs: its output, table and figure.
  Study empty_study() const {
    Study tuning = study_;
    tuning.points.clear();
    tuning.configs.clear();
    auto& config = tuning.config;
    config = {};
    config.launcher = study_.config.launcher;
    config.results = study_.config.results;
    config.unmatched = study_.config.unmatched;
    config.title = concat("Tuning of ", config_.key, ": ",
                          study_.config.title.empty() ? study_.name : study_.config.title);
    config.question = concat("Which ", config_.key, " suits each variant?");
    config.report = report_of_tuning();
    tuning.leads_on = true;
    return tuning;
  }

  report::ReportConfig report_of_tuning() const {
    Json rows = Json::array(), columns = Json::array();
    std::vector<std::string> axes;
    for (const auto& [axis, value] : variants_.front().axes) {
      rows.push_back(axis);
      axes.push_back(axis);
    }
    rows.push_back(config_.key);
    if (study_.config.report.learned.given()) columns.push_back(report::kLearned);
    columns.push_back(config_.metric);
    Json report = {
        {"tables", Json::array({{{"name", "table"}, {"rows", rows}, {"columns", columns}}})},
        {"figures", figures_of_tuning(axes)}};
    auto read = config::read<report::ReportConfig>(config::from_json(report));
    read.learned = study_.config.report.learned;
    read.labels = study_.config.report.labels;
    read.headline = config_.metric;
    return read;
  }

  // Lines for the values of the first axis, panels for those of the second. A line is a mean over
  // all axes that it does not name, so there is a figure for each combination of the others.
  Json figures_of_tuning(const std::vector<std::string>& axes) const {
    Json figures = Json::array();
    std::set<Json> shown;
    for (const auto& variant : variants_) {
      Json where = Json::object();
      std::string title = "Tuning";
      for (std::size_t i = 2; i < variant.axes.size(); ++i) {
        const auto& [axis, value] = variant.axes[i];
        where[axis] = value;
        title = concat(title, i == 2 ? ": " : ", ",
                       report::Labels(study_.config.report.labels).value(value));
      }
      if (!shown.insert(where).second) continue;
      const auto name = shown.size() == 1 ? "tuning" : concat("tuning_", shown.size());
      Json figure = {{"mark", "line"},   {"name", name},        {"title", title},
                     {"x", config_.key}, {"y", config_.metric}, {"x_scale", "log"}};
      if (!axes.empty()) figure["color"] = axes[0];
      if (axes.size() > 1) figure["facet"] = axes[1];
      if (!where.empty()) figure["where"] = std::move(where);
      figures.push_back(std::move(figure));
    }
    return figures;
  }

  // The runs of a value are resolved once, however often the grid grows.
  void try_value(Variant& variant, double value) {
    auto& runs = variant.tried[value];
    if (!runs.empty()) return;
    std::vector<config::Point> points;
    for (std::int64_t k = 0; k < config_.seeds; ++k) {
      config::Point point{.axes = variant.axes, .config = variant.run};
      const auto set = number(value, variant.run.find_path(config_.key));
      point.axes.emplace_back(config_.key, config::label_of(set));
      point.axes.emplace_back(report::kSeedAxis, concat(kFirstTuningSeed + k));
      point.config.set_path(config_.key, set);
      point.config.set_path("seed", config::Value(kFirstTuningSeed + k));
      if (config_.steps > 0) point.config.set_path("train.steps", config::Value(config_.steps));
      point.config.set("evaluate", config::Value::list());
      points.push_back(std::move(point));
    }
    resolve(points, *study_.tuning, problems_);
    runs = std::exchange(study_.tuning->points, {});
  }

  bool are_complete() const {
    for (const auto& variant : variants_) {
      for (const auto& [value, runs] : variant.tried) {
        if (!std::all_of(runs.begin(), runs.end(), [](const sweep::Run& run) {
              return is_complete(state_of(run.directory));
            })) {
          return false;
        }
      }
    }
    return true;
  }

  // In the order of the table, whichever values came later.
  void add_points() {
    auto& points = study_.tuning->points;
    for (const auto& variant : variants_) {
      for (const auto& [value, runs] : variant.tried) {
        points.insert(points.end(), runs.begin(), runs.end());
      }
    }
  }

  std::optional<Tried> read(const std::vector<sweep::Run>& runs) const {
    const auto& learned = study_.config.report.learned;
    std::vector<report::PlannedRun> planned;
    for (const auto& run : runs) {
      planned.push_back({run.id, run.axes, run.config, run.directory.path});
    }
    const report::Frame frame(report::read_runs(planned), "", learned, {});
    Tried tried;
    for (const auto& run : frame.runs()) {
      auto metric = run.metric(config_.metric);
      const bool got_there = metric.has_value();  // of a time
      if (!metric) metric = run.censored_above(config_.metric);
      if (run.state != RunState::kFinished || !metric) return std::nullopt;
      const bool has_learned = !learned.given() || run.metric(report::kLearned) == 1.0;
      tried.learned += got_there && has_learned ? 1 : 0;
      tried.metric += *metric / static_cast<double>(runs.size());
    }
    if (config_.goal == sweep::Goal::kHighest) tried.metric = -tried.metric;
    return tried.learned > 0 ? std::optional(tried) : std::nullopt;
  }

  std::optional<double> best_of(const Variant& variant) const {
    std::optional<double> best;
    std::optional<Tried> most;
    for (const auto& [value, runs] : variant.tried) {
      const auto tried = read(runs);
      if (!tried) continue;
      const bool better = !most || tried->learned > most->learned ||
                          (tried->learned == most->learned && tried->metric < most->metric);
      if (!better) continue;
      best = value;
      most = tried;
    }
    return best;
  }

  // Whether a variant's best value lay at an edge that could be moved.
  bool grow() {
    best_.clear();
    std::vector<double> edges;
    for (const auto& variant : variants_) {
      best_.push_back(best_of(variant));
      const auto best = best_.back();
      if (best && grid_.is_edge(*best) &&
          std::find(edges.begin(), edges.end(), *best) == edges.end()) {
        edges.push_back(*best);
      }
    }
    bool grown = false;
    for (const double edge : edges) grown = (config_.grow && grid_.grow(edge)) || grown;
    return grown;
  }

  report::Tuned found() const {
    const auto& learned = study_.config.report.learned;
    const bool highest = config_.goal == sweep::Goal::kHighest;
    const auto& first = study_.tuning->configs.begin()->second;
    report::Tuned tuned{
        .key = config_.key,
        .grid = grid_.values(),
        .seeds = {},
        .steps = first->train.steps,
        .criterion = concat("the value ",
                            learned.given() ? "at which most seeds learned, of these that " : "",
                            "with the ", highest ? "highest" : "lowest", " mean ", config_.metric),
        .variants = {}};
    for (std::int64_t k = 0; k < config_.seeds; ++k) tuned.seeds.push_back(kFirstTuningSeed + k);
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      tuned.variants.push_back({.axes = variants_[i].axes,
                                .value = best_[i],
                                .at_edge = best_[i] && grid_.is_edge(*best_[i])});
    }
    return tuned;
  }

  Study& study_;
  const TuneConfig& config_;
  config::Problems& problems_;
  Grid grid_;
  std::vector<Variant> variants_;
  std::vector<std::optional<double>> best_;  // of each variant, as of the last grow()
};

// What would make the tuning another than the one that is meant.
void check(const std::vector<config::Point>& points, const Study& study,
           config::Problems& problems) {
  const auto& tune = study.config.tune;
  const auto add = [&](const std::string& key, const std::string& message) {
    problems.add({}, key, concat(key, " ", message));
  };
  for (const auto& [axis, value] : study.points.front().axes) {
    if (axis == tune.key) add("tune.key", concat("is ", axis, ", which the sweep varies, too"));
  }
  for (std::size_t i = 0; i < points.size() && problems.empty(); ++i) {
    const auto& run = study.config_of(study.points[i]);
    const auto full = config::from_json(study.points[i].config);
    const auto* value = full.find_path(tune.key);
    if (value == nullptr || !value->is_number()) {
      add("tune.key",
          concat("is ", tune.key, ", which is ", value == nullptr ? "no key" : "no number",
                 " of run ", study.points[i].label(), "; expected e.g. train.lr"));
    }
    if (run.seed >= kFirstTuningSeed) {
      add("tune.seeds", concat("are ", kFirstTuningSeed, " and on; expected reported seeds below, ",
                               "and found ", run.seed));
    }
  }
}

}  // namespace

void tune(const std::vector<config::Point>& points, Study& study, config::Problems& problems) {
  if (points.empty()) return;
  check(points, study, problems);
  if (problems.empty()) Tuner(points, study, problems).run();
}

std::vector<config::Point> tuned_points(std::vector<config::Point> points, const Study& study) {
  std::vector<config::Point> tuned;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto axes = without_seed(study.points[i].axes);
    for (const auto& variant : study.tuned->variants) {
      if (variant.axes != axes || !variant.value) continue;
      auto& run = points[i].config;
      run.set_path(study.tuned->key, number(*variant.value, run.find_path(study.tuned->key)));
      tuned.push_back(std::move(points[i]));
      break;
    }
  }
  return tuned;
}

}  // namespace difflab::cli
