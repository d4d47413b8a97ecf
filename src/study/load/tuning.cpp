#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "config/grid/axes.h"
#include "report/data/frame.h"
#include "run/run_config.h"
#include "study/load/load.h"
#include "study/load/tuning_parts.h"
#include "util/text.h"

namespace difflab::study {
namespace {

// True if the key holds whole numbers, however a file spells its value.
bool is_whole(const Study& study, const std::string& key) {
  const auto full = config::from_json(study.points.front().config);
  const auto* value = full.find_path(key);
  return value != nullptr && value->is_int();
}

class Tuner {
 public:
  Tuner(const std::vector<config::Point>& points, Study& study, config::Problems& problems)
      : study_(study),
        config_(study.config.tune),
        problems_(problems),
        trials_(study.config, study.name) {
    const Grid grid(config_.values, is_whole(study, config_.key));
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto axes = report::without_seed(study.points[i].axes);
      const auto known = std::find_if(variants_.begin(), variants_.end(),
                                      [&](const Variant& one) { return one.axes == axes; });
      if (known == variants_.end()) variants_.push_back({std::move(axes), points[i], grid});
    }
    study.tuning = std::make_shared<Study>(empty_study());
  }

  void run() {
    while (true) {
      for (auto& variant : variants_) {
        for (const double value : variant.grid.values()) try_value(variant, value);
      }
      if (!problems_.empty()) return;
      for (auto& variant : variants_) decide_seeds(variant);
      if (!std::all_of(variants_.begin(), variants_.end(),
                       [](const Variant& variant) { return variant.is_complete; })) {
        break;
      }
      if (!problems_.empty()) return;
      take_best();
      if (grow() || lengthen()) continue;
      if (config_.again > 0) {
        const bool has_ended = decide_finals();
        if (!problems_.empty()) return;
        if (!has_ended) break;
        if (grow()) continue;
      }
      study_.tuned = found();
      study_.tuning->config.notes = concat("Taken were: ", study_.tuned->picks(), ".");
      break;
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
    config.report = report_of_tuning(study_.config, variants_);
    tuning.leads_on = true;
    return tuning;
  }

  config::Point point_of(const Variant& variant, double value, std::int64_t k,
                         config::Problems& problems) const {
    const auto set = number_like(variant.run.config.find_path(config_.key), value);
    std::vector<std::pair<std::string, config::Value>> changes{
        {config_.key, set}, {"seed", config::Value(config_.first_seed + k)}};
    const auto steps = variant.is_longer ? config_.longer : config_.steps;
    if (steps > 0) changes.emplace_back("train.steps", config::Value(steps));
    config::Point point{.axes = variant.axes,
                        .config = variant.run.written->with(changes, problems)};
    point.axes.emplace_back(config_.key, config::label_of(set));
    point.axes.emplace_back(report::kSeedAxis, concat(config_.first_seed + k));
    point.config.set("evaluate", config::Value::list());
    return point;
  }

  // The runs of a value are resolved once, however often the grid grows.
  void try_value(Variant& variant, double value) {
    auto& runs = variant.tried[value];
    if (runs.empty()) runs = runs_of(variant, value, 0, config_.seeds);
  }

  // Resolves the runs of a value with seeds `from` to `to` - 1, counted from the first seed.
  std::vector<sweep::Run> runs_of(const Variant& variant, double value, std::int64_t from,
                                  std::int64_t to) {
    if (!problems_.empty()) return {};  // one value that is wrong is enough
    std::vector<config::Point> points;
    config::Problems found;
    for (std::int64_t k = from; k < to; ++k) points.push_back(point_of(variant, value, k, found));
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
    return std::exchange(study_.tuning->points, {});
  }

  // A grid can grow out of what the key allows.
  bool is_allowed(const Variant& variant, double value) const {
    Study probe = *study_.tuning;
    config::Problems problems;
    const std::vector<config::Point> points{point_of(variant, value, 0, problems)};
    if (problems.empty()) resolve(points, probe, problems);
    return problems.empty();
  }

  // How many seeds each value needs by what its runs and those of others say, in three rounds (see
  // load.h). It depends on results alone, not on which runs are there already.
  void decide_seeds(Variant& variant) const {
    const auto all = static_cast<std::size_t>(config_.seeds);
    variant.is_complete = false;
    for (const auto& [value, runs] : variant.tried) {
      variant.seeds[value] = trials_.leave_seeds_out() ? 1 : all;
    }
    if (!variant.have_ended()) return;
    std::vector<double> open;  // values that did not learn with the first seed, and may with others
    for (auto& [value, count] : variant.seeds) {
      if (count == all) continue;
      const auto first = variant.needed(value);
      if (trials_.read(first)) {
        count = all;
      } else if (trials_.said_by(first.front()).is_finished) {
        open.push_back(value);
      }
    }
    if (!variant.have_ended()) return;
    int most = 0;
    for (const auto& [value, count] : variant.seeds) {
      if (count < all) continue;
      if (const auto tried = trials_.read(variant.needed(value)))
        most = std::max(most, tried->learned);
    }
    if (most == 0 && may_be_longer(variant)) open.clear();
    for (const double value : open) {
      if (most < static_cast<int>(all)) variant.seeds[value] = all;
    }
    variant.is_complete = variant.have_ended();
  }

  // In the order of the table, whichever values came later.
  static void add_points(const std::vector<Variant>& variants, std::vector<sweep::Run>& points) {
    for (const auto& variant : variants) {
      for (const auto& [value, count] : variant.seeds) {
        const auto runs = variant.all_needed(value);
        points.insert(points.end(), runs.begin(), runs.end());
      }
    }
  }

  // Runs that longer ones replaced are reported as well, in a folder of their own.
  void keep_shorter() {
    if (shorter_.empty()) return;
    Study shorter = *study_.tuning;
    shorter.points.clear();
    add_points(shorter_, shorter.points);
    shorter.config.report = report_of_tuning(study_.config, shorter_);
    shorter.config.report.figures.clear();  // of runs that never learned
    shorter.config.title += ", shorter runs";
    shorter.config.notes =
        "With the first seed no value worked in these steps, so that longer runs took their place.";
    study_.tuning->shorter = std::make_shared<Study>(std::move(shorter));
  }

  // The values that work with the seeds of all, best first.
  std::vector<double> ranked(const Variant& variant) const {
    std::vector<std::pair<double, Tried>> found;
    for (const auto& [value, count] : variant.seeds) {
      if (count < variant.tried.at(value).size()) continue;
      if (const auto tried = trials_.read(variant.needed(value))) found.emplace_back(value, *tried);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
      return one.second.is_better_than(other.second);
    });
    std::vector<double> values;
    for (const auto& [value, tried] : found) values.push_back(value);
    return values;
  }

  void take_best() {
    best_.clear();
    for (const auto& variant : variants_) {
      const auto values = ranked(variant);
      best_.push_back(values.empty() ? std::nullopt : std::optional(values.front()));
    }
  }

  // Gives the finalists of every variant their further seeds. False while one of these is not over;
  // then takes the better. Runs of a finalist that lost its place stay part of the tuning, as the
  // decision rests on them.
  bool decide_finals() {
    bool has_ended = true;
    best_.clear();
    for (auto& variant : variants_) {
      variant.finalists.clear();
      for (const double value : ranked(variant)) {
        if (variant.finalists.size() == 2) break;
        auto& more = variant.again[value];
        if (more.empty())
          more = runs_of(variant, value, config_.seeds, config_.seeds + config_.again);
        const bool is_over = have_ended(more);
        has_ended = has_ended && is_over;
        if (!is_over || tried_again(variant, value)) variant.finalists.push_back(value);
      }
      if (!has_ended) continue;
      auto& finalists = variant.finalists;
      if (finalists.size() == 2 &&
          tried_again(variant, finalists[1])->is_better_than(*tried_again(variant, finalists[0])))
        std::swap(finalists[0], finalists[1]);
      best_.push_back(finalists.empty() ? std::nullopt : std::optional(finalists.front()));
    }
    return has_ended;
  }

  std::optional<Tried> tried_again(const Variant& variant, double value) const {
    return trials_.read(variant.all_needed(value));
  }

  // A step beyond the edges at which the best of some variants lie, for these and for variants of
  // which no value works, as one may work there. False if no edge could be moved.
  bool grow() {
    std::set<double> added;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      auto& variant = variants_[i];
      if (!config_.grow || !best_[i] || !variant.grid.is_edge(*best_[i])) continue;
      const auto next = variant.grid.beyond(*best_[i]);
      if (!next || !is_allowed(variant, *next)) continue;
      variant.grid.add(*next);
      added.insert(*next);
    }
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      if (best_[i]) continue;
      auto& variant = variants_[i];
      for (const double value : added) {
        if (variant.grid.is_beyond(value) && is_allowed(variant, value)) variant.grid.add(value);
      }
    }
    return !added.empty();
  }

  bool may_be_longer(const Variant& variant) const {
    return config_.longer > 0 && !variant.is_longer;
  }

  // Restarts variants for which no value works, once, with longer runs. True if there are any.
  bool lengthen() {
    bool longer = false;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      auto& variant = variants_[i];
      if (best_[i] || !may_be_longer(variant)) continue;
      shorter_.push_back(variant);
      variant.is_longer = longer = true;
      variant.tried.clear();
      variant.seeds.clear();
      variant.again.clear();
    }
    return longer;
  }

  report::Tuned found() const {
    const auto& learned = study_.config.report.learned;
    const bool highest = config_.goal == Goal::kHighest;
    report::Tuned tuned{
        .key = config_.key,
        .grid = config_.values,
        .steps =
            config_.steps > 0 ? config_.steps : study_.config_of(study_.points.front()).train.steps,
        .longer = config_.longer,
        .criterion =
            concat("the value ",
                   learned.given()            ? "at which most seeds learned, of these that "
                   : trials_.seeds_may_fail() ? "at which most seeds got there, of these that "
                                              : "",
                   "with the ", highest ? "highest" : "lowest",
                   trials_.is_geometric() ? " geometric" : "", " mean ", config_.metric),
        .again = config_.again,
        .metric = config_.again > 0 ? config_.metric : "",
        .is_geometric = trials_.is_geometric()};
    std::set<double> beyond;
    for (std::int64_t k = 0; k < config_.seeds; ++k) tuned.seeds.push_back(config_.first_seed + k);
    for (const auto& variant : variants_) {
      for (const auto& [value, count] : variant.seeds) {
        tuned.trials += 1;
        tuned.with_one_seed += count < tuned.seeds.size() ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      const auto& values = variants_[i].grid.values();
      beyond.insert(values.begin(), values.end());
      tuned.variants.push_back({.axes = variants_[i].axes,
                                .value = best_[i],
                                .at_edge = best_[i] && variants_[i].grid.is_edge(*best_[i]),
                                .is_longer = variants_[i].is_longer});
      for (const double value : variants_[i].finalists)
        tuned.variants.back().finalists.push_back(finalist(variants_[i], value));
      if (!best_[i] || !trials_.seeds_may_fail()) continue;
      const auto tried = tried_again(variants_[i], *best_[i]);
      if (tried->learned < config_.seeds + config_.again)
        tuned.variants.back().learned = tried->learned;
    }
    for (const double value : config_.values) beyond.erase(value);
    tuned.beyond.assign(beyond.begin(), beyond.end());
    return tuned;
  }

  report::Tuned::Finalist finalist(const Variant& variant, double value) const {
    report::Tuned::Finalist found{.value = value};
    for (const auto& run : variant.all_needed(value)) {
      const auto& said = trials_.said_by(run);
      found.metrics.push_back(*said.metric);
      found.learned.push_back(said.has_learned);
    }
    return found;
  }

  Study& study_;
  const TuneConfig& config_;
  config::Problems& problems_;
  Trials trials_;
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

}  // namespace difflab::study
