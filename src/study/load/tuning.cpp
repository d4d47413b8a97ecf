#include "study/load/tuning.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "config/grid/axes.h"
#include "config/schema/reader.h"
#include "report/data/frame.h"
#include "run/run_config.h"
#include "study/load/resolve.h"
#include "study/load/tuning_parts.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

// One that a number of a grid is as the configuration writes it: whole where the key is.
config::Value number(double value, const config::Value* as) {
  const bool whole = as != nullptr && as->is_int() && value == std::floor(value);
  auto made = whole ? config::Value(static_cast<std::int64_t>(value)) : config::Value(value);
  if (as != nullptr) made.source = as->source;
  return made;
}

// Whether the key holds whole numbers, however a file spells the one it has.
bool is_whole(const Study& study, const std::string& key) {
  const auto full = config::from_json(study.points.front().config);
  const auto* value = full.find_path(key);
  return value != nullptr && value->is_int();
}

/// One combination of all axes but the seed.
struct Variant {
  sweep::Axes axes;
  config::Point run;                                     ///< as composed, of its first seed
  bool is_longer = false;                                ///< its runs have tune.longer steps
  std::map<double, std::vector<sweep::Run>> tried = {};  ///< of all seeds
  std::map<double, std::size_t> seeds = {};  ///< of a value, how many of these are needed by now
  bool is_complete = false;                  ///< these have ended, and no more are needed
};

class Tuner {
 public:
  Tuner(const std::vector<config::Point>& points, Study& study, config::Problems& problems)
      : study_(study),
        config_(study.config.tune),
        problems_(problems),
        trials_(study.config, study.name),
        grid_(config_.values, is_whole(study, config_.key)) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto axes = report::without_seed(study.points[i].axes);
      const auto known = std::find_if(variants_.begin(), variants_.end(),
                                      [&](const Variant& one) { return one.axes == axes; });
      if (known == variants_.end()) variants_.push_back({std::move(axes), points[i]});
    }
    study.tuning = std::make_shared<Study>(empty_study());
  }

  void run() {
    while (true) {
      for (auto& variant : variants_) {
        for (const double value : grid_.values()) try_value(variant, value);
      }
      if (!problems_.empty()) return;
      for (auto& variant : variants_) decide_seeds(variant);
      if (!std::all_of(variants_.begin(), variants_.end(),
                       [](const Variant& variant) { return variant.is_complete; })) {
        break;
      }
      if (!problems_.empty()) return;
      if (!grow() && !lengthen()) {
        study_.tuned = found();
        study_.tuning->config.notes = concat("Taken were: ", study_.tuned->picks(), ".");
        break;
      }
    }
    keep_shorter();
    add_points(variants_, study_.tuning->points);
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
    std::vector<sweep::Axes> variants;
    for (const auto& variant : variants_) variants.push_back(variant.axes);
    config.report = report_of_tuning(study_.config, variants);
    tuning.leads_on = true;
    return tuning;
  }

  config::Point point_of(const Variant& variant, double value, std::int64_t k,
                         config::Problems& problems) const {
    const auto set = number(value, variant.run.config.find_path(config_.key));
    std::vector<std::pair<std::string, config::Value>> changes{
        {config_.key, set}, {"seed", config::Value(kFirstTuningSeed + k)}};
    const auto steps = variant.is_longer ? config_.longer : config_.steps;
    if (steps > 0) changes.emplace_back("train.steps", config::Value(steps));
    config::Point point{.axes = variant.axes,
                        .config = variant.run.written->with(changes, problems)};
    point.axes.emplace_back(config_.key, config::label_of(set));
    point.axes.emplace_back(report::kSeedAxis, concat(kFirstTuningSeed + k));
    point.config.set("evaluate", config::Value::list());
    return point;
  }

  // The runs of a value are resolved once, however often the grid grows.
  void try_value(Variant& variant, double value) {
    auto& runs = variant.tried[value];
    if (!runs.empty() || !problems_.empty()) return;  // one value that is wrong is enough
    std::vector<config::Point> points;
    config::Problems found;
    for (std::int64_t k = 0; k < config_.seeds; ++k)
      points.push_back(point_of(variant, value, k, found));
    resolve(points, *study_.tuning, found);
    for (const auto& [source, path, message] : found.items()) {  // of keys that nobody wrote so
      problems_.add(source, path,
                    concat(message, " (in a run of the tuning, with ", config_.key, " = ",
                           config::number_text(value),
                           variant.is_longer || config_.steps == 0
                               ? ""
                               : concat(" and train.steps = ", config_.steps),
                           ")"));
    }
    runs = std::exchange(study_.tuning->points, {});
  }

  // Whether every variant may have this value: a grid can grow out of what a key allows.
  bool is_allowed(double value) const {
    Study probe = *study_.tuning;
    config::Problems problems;
    std::vector<config::Point> points;
    for (const auto& variant : variants_) points.push_back(point_of(variant, value, 0, problems));
    if (problems.empty()) resolve(points, probe, problems);
    return problems.empty();
  }

  static std::vector<sweep::Run> needed(const Variant& variant, double value) {
    const auto& runs = variant.tried.at(value);
    return {runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(variant.seeds.at(value))};
  }

  static bool have_ended(const Variant& variant) {
    for (const auto& [value, runs] : variant.tried) {
      for (const auto& run : needed(variant, value)) {
        if (!is_complete(state_of(run.directory))) return false;
      }
    }
    return true;
  }

  // How many seeds each value needs by what its runs and those of others say, in three rounds (see
  // tuning.h). It depends on results alone, not on which runs are there already.
  void decide_seeds(Variant& variant) const {
    const auto all = static_cast<std::size_t>(config_.seeds);
    variant.is_complete = false;
    for (const auto& [value, runs] : variant.tried) {
      variant.seeds[value] = trials_.leave_seeds_out() ? 1 : all;
    }
    if (!have_ended(variant)) return;
    std::vector<double> open;  // values that did not learn with the first seed, and may with others
    for (auto& [value, count] : variant.seeds) {
      if (count == all) continue;
      const auto first = needed(variant, value);
      if (trials_.read(first)) {
        count = all;
      } else if (trials_.said_by(first.front()).is_finished) {
        open.push_back(value);
      }
    }
    if (!have_ended(variant)) return;
    int most = 0;
    for (const auto& [value, count] : variant.seeds) {
      if (count < all) continue;
      if (const auto tried = trials_.read(needed(variant, value)))
        most = std::max(most, tried->learned);
    }
    if (most == 0 && may_be_longer(variant)) open.clear();
    for (const double value : open) {
      if (most < static_cast<int>(all)) variant.seeds[value] = all;
    }
    variant.is_complete = have_ended(variant);
  }

  // In the order of the table, whichever values came later.
  static void add_points(const std::vector<Variant>& variants, std::vector<sweep::Run>& points) {
    for (const auto& variant : variants) {
      for (const auto& [value, count] : variant.seeds) {
        const auto runs = needed(variant, value);
        points.insert(points.end(), runs.begin(), runs.end());
      }
    }
  }

  // What longer runs took the place of is reported, too, in a folder of its own.
  void keep_shorter() {
    if (shorter_.empty()) return;
    Study shorter = *study_.tuning;
    shorter.points.clear();
    add_points(shorter_, shorter.points);
    std::vector<sweep::Axes> variants;
    for (const auto& variant : shorter_) variants.push_back(variant.axes);
    shorter.config.report = report_of_tuning(study_.config, variants);
    shorter.config.report.figures.clear();  // of runs that never learned
    shorter.config.title += ", shorter runs";
    shorter.config.notes =
        "With the first seed no value worked in these steps, so that longer runs took their place.";
    study_.tuning->shorter = std::make_shared<Study>(std::move(shorter));
  }

  std::optional<double> best_of(const Variant& variant) const {
    std::optional<double> best;
    std::optional<Tried> most;
    for (const auto& [value, count] : variant.seeds) {
      if (count < variant.tried.at(value).size()) continue;
      const auto tried = trials_.read(needed(variant, value));
      if (!tried) continue;
      if (most && !tried->is_better_than(*most)) continue;
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
    for (const double edge : edges) {
      const auto next = config_.grow ? grid_.beyond(edge) : std::nullopt;
      if (!next || !is_allowed(*next)) continue;
      grid_.add(*next);
      grown = true;
    }
    return grown;
  }

  bool may_be_longer(const Variant& variant) const {
    return config_.longer > 0 && !variant.is_longer;
  }

  // Whether a variant is left that no value suits in as many steps as it had.
  bool lengthen() {
    bool longer = false;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      auto& variant = variants_[i];
      if (best_[i] || !may_be_longer(variant)) continue;
      shorter_.push_back(variant);
      variant.is_longer = longer = true;
      variant.tried.clear();
      variant.seeds.clear();
    }
    return longer;
  }

  report::Tuned found() const {
    const auto& learned = study_.config.report.learned;
    const bool highest = config_.goal == Goal::kHighest;
    report::Tuned tuned{
        .key = config_.key,
        .grid = grid_.values(),
        .seeds = {},
        .steps =
            config_.steps > 0 ? config_.steps : study_.config_of(study_.points.front()).train.steps,
        .longer = config_.longer,
        .criterion =
            concat("the value ",
                   learned.given()            ? "at which most seeds learned, of these that "
                   : trials_.seeds_may_fail() ? "at which most seeds got there, of these that "
                                              : "",
                   "with the ", highest ? "highest" : "lowest", " mean ", config_.metric),
        .variants = {}};
    for (std::int64_t k = 0; k < config_.seeds; ++k) tuned.seeds.push_back(kFirstTuningSeed + k);
    for (const auto& variant : variants_) {
      for (const auto& [value, count] : variant.seeds) {
        tuned.trials += 1;
        tuned.with_one_seed += count < tuned.seeds.size() ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      tuned.variants.push_back({.axes = variants_[i].axes,
                                .value = best_[i],
                                .at_edge = best_[i] && grid_.is_edge(*best_[i]),
                                .is_longer = variants_[i].is_longer});
      if (!best_[i] || !trials_.seeds_may_fail()) continue;
      const auto tried = trials_.read(needed(variants_[i], *best_[i]));
      if (tried->learned < config_.seeds) tuned.variants.back().learned = tried->learned;
    }
    return tuned;
  }

  Study& study_;
  const TuneConfig& config_;
  config::Problems& problems_;
  Trials trials_;
  Grid grid_;
  std::vector<Variant> variants_;
  std::vector<Variant> shorter_;             // those that are tried anew, as they were
  std::vector<std::optional<double>> best_;  // of each variant, as of the last grow()
};

}  // namespace

void tune(const std::vector<config::Point>& points, Study& study, config::Problems& problems) {
  if (points.empty()) return;
  check_tuning(points, study, problems);
  if (problems.empty()) Tuner(points, study, problems).run();
}

std::vector<config::Point> tuned_points(std::vector<config::Point> points, const Study& study,
                                        config::Problems& problems) {
  std::vector<config::Point> tuned;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto axes = report::without_seed(study.points[i].axes);
    for (const auto& variant : study.tuned->variants) {
      if (variant.axes != axes || !variant.value) continue;
      const auto& key = study.tuned->key;
      const auto value = number(*variant.value, points[i].config.find_path(key));
      points[i].config = points[i].written->with({{key, value}}, problems);
      tuned.push_back(std::move(points[i]));
      break;
    }
  }
  return tuned;
}

}  // namespace difflab::cli
