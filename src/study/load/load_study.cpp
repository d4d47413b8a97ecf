#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "config/grid/axes.h"
#include "config/grid/study.h"
#include "config/override/override.h"
#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "report/data/frame.h"
#include "report/settings/claim_config.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "study/load/load.h"
#include "study/project.h"
#include "study/study.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::study {
namespace {

// Names of difflab's own in a results folder, beside the experiments' reports.
constexpr std::array<std::string_view, 5> kReserved{"runs", "trainings", "needle", "README.md",
                                                    "index.html"};

void check_name(const std::string& name) {
  const auto first = name.substr(0, name.find('/'));
  if (is_among(first, kReserved)) {
    throw UserError(concat("an experiment cannot be called ", first, ": results/", first,
                           " is reserved for difflab; rename its file"));
  }
  const auto equal = name.find('=');
  if (equal == name.npos) return;
  const bool names_one = name.substr(0, equal).ends_with("experiment");
  throw UserError(concat("'", name, "' is an override, not an experiment; expected ",
                         names_one ? concat("difflab sweep ", name.substr(equal + 1))
                                   : concat("e.g. difflab sweep headline ", name)));
}

// A problem of a key, said where it is written.
void add_problem(const config::Study& composed, const std::string& key, const std::string& message,
                 config::Problems& problems) {
  const auto* value = composed.settings.find_path(key);
  if (value == nullptr && !composed.points.empty()) {
    value = composed.points.front().config.find_path(key);  // it is one of the runs
  }
  problems.add(value != nullptr ? value->source : config::nearest_source(composed.settings, key),
               key, concat(key, " ", message));
}

void check_report_fits(const config::Study& composed, const StudyConfig& config,
                       config::Problems& problems) {
  std::vector<std::string> axes;
  for (const auto& axis : composed.axes) axes.push_back(axis.key);
  std::map<std::string, std::set<std::string>> values;
  for (const auto& point : composed.points) {
    for (const auto& [axis, value] : point.axes) values[axis].insert(value);
  }
  std::set<std::string> single;
  for (const auto& [axis, all] : values) {
    if (all.size() == 1) single.insert(axis);
  }
  for (const auto& [key, message] : report::check_report(config.report, axes, single)) {
    add_problem(composed, key, message, problems);
  }
}

// The study to compose, its name checked and its overrides parsed.
Study named_study(const std::string& name, const std::vector<std::string>& overrides,
                  config::Problems& problems) {
  check_name(name);
  Study study;
  study.name = name;
  study.overrides = config::parse_overrides(overrides, problems);
  study.root = find_project();
  return study;
}

bool is_tuned(const config::Value& settings) { return settings.find_path("tune.key") != nullptr; }

config::Study compose(const Study& study, config::Watch watch, config::Problems& problems) {
  return config::compose_study(
      {.search_path = search_path(),
       .experiment = study.name,
       .overrides = study.overrides,
       .run_keys = config::field_names<RunConfig>(),
       .study_keys = config::field_names<StudyConfig>(),
       .keys_without_effect = {keys_without_effect().begin(), keys_without_effect().end()},
       .keeps_written = is_tuned,
       .start = std::time(nullptr),
       .watch = std::move(watch)},
      problems);
}

bool is_same(const config::Study& a, const config::Study& b) {
  const auto is_same_point = [](const config::Point& one, const config::Point& other) {
    return one.axes == other.axes && one.config == other.config;
  };
  return a.settings == b.settings && std::equal(a.points.begin(), a.points.end(), b.points.begin(),
                                                b.points.end(), is_same_point);
}

// Overrides that make the study differ from its files, without those that repeat the files or say
// only where and how fast it runs.
std::vector<config::Override> changes_of(const Study& study, const config::Study& composed) {
  auto kept = that_change_something(composed.changes);
  if (kept.empty()) return kept;
  auto all = study;
  all.overrides = that_change_something(study.overrides);
  config::Problems problems;
  const auto whole = compose(all, {}, problems);
  for (std::size_t i = 0; i < kept.size();) {  // a later one may say it again
    auto fewer = all;
    fewer.overrides.erase(
        std::ranges::find(fewer.overrides, kept[i].text, &config::Override::text));
    config::Problems found;
    if (!is_same(compose(fewer, {}, found), whole) || !found.empty()) {
      ++i;
      continue;
    }
    all = std::move(fewer);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return kept;
}

// True if a typed override sets the key. The options of a group are chosen before.
bool sets(const config::Override& item, std::string_view key) {
  return !config::is_group_override(item, config::Library(search_path())) &&
         config::meets(item, key);
}

// A typed value of what is tuned would be overruled without a word.
void check_typed_tuning(const config::Study& composed, const Study& study,
                        config::Problems& problems) {
  const auto& key = study.config.tune.key;
  const auto is_tuned = [&](const config::Axis& axis) { return axis.key == key; };
  if (key.empty()) return;
  if (std::any_of(composed.axes.begin(), composed.axes.end(), is_tuned)) return;  // see tune()
  for (const auto& item : study.overrides) {
    if (!sets(item, key)) continue;
    add_problem(composed, "tune.key",
                concat("is ", key, ", and ", item.text,
                       " is given, too; expected one of them, e.g. tune.key='' tune.values=[] to "
                       "tune nothing"),
                problems);
  }
}

void check_groups(const Study& study, config::Problems& problems) {
  std::vector<const RunConfig*> runs;
  for (const auto& point : study.points) runs.push_back(&study.config_of(point));
  check_parameter_groups(runs, problems);
}

// Settings of an experiment, with its claims written out; the defaults if a file could not be read,
// which has been reported.
StudyConfig settings_of(config::Study& composed, config::Problems& problems) {
  if (!composed.settings.is_map()) return {};
  report::expand_claims(composed.settings, problems);
  return config::read<StudyConfig>(composed.settings, "", problems);
}

// Parts of a union may write one run in two ways, of which only its full configuration tells. The
// places of what is kept.
std::vector<std::size_t> drop_repeated(Study& study, std::vector<config::Point>& composed) {
  std::map<std::string, std::vector<Axes>> seen;  // by id
  std::vector<sweep::Run> points;
  std::vector<config::Point> kept;
  std::vector<std::size_t> places;
  const auto is_same = [](const Axes& a, const Axes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.first == y.first && report::is_same_value(x.second, y.second);
    });
  };
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    auto& of_run = seen[study.points[i].id];
    if (std::any_of(of_run.begin(), of_run.end(),
                    [&](const Axes& axes) { return is_same(axes, study.points[i].axes); })) {
      continue;
    }
    of_run.push_back(study.points[i].axes);
    points.push_back(study.points[i]);
    kept.push_back(std::move(composed[i]));
    places.push_back(i);
  }
  study.points = std::move(points);
  composed = std::move(kept);
  return places;
}

// The points get the values that were found for them, if they were.
void follow_tuning(Study& study, config::Problems& problems) {
  const auto& points = *study.composed;
  tune(points, study, problems);
  if (!study.tuned || !problems.empty()) return;
  const auto tuned = tuned_points(points, study, problems);
  study.points.clear();
  study.configs.clear();
  resolve(tuned, study, problems);
}

// Applies the values that its tuning has found so far, and checks the result.
Study with_tuned_values(Study study) {
  config::Problems problems;
  if (study.config.tune.active()) follow_tuning(study, problems);
  problems.throw_if_any();
  if (study.tuning) {
    study.tuning->output = study.output / "tuning";
    if (auto& shorter = study.tuning->shorter)
      shorter->output = study.output / "tuning" / "shorter";
  }
  if (study.tuned && study.points.empty()) {
    throw UserError(concat("tune.values: no variant learns at any of ", study.tuned->key, " = ",
                           report::listed(study.tuned->grid), "; see the tuning report in ",
                           config::shown_path(study.tuning->output)));
  }
  return study;
}

}  // namespace

std::vector<config::Value> composed_values(const std::string& name,
                                           const std::vector<std::string>& overrides,
                                           const std::string& key) {
  config::Problems problems;
  const auto composed = compose(named_study(name, overrides, problems), {}, problems);
  problems.throw_if_any();
  std::vector<config::Value> values;
  for (const auto& point : composed.points) {
    const auto* value = point.config.find(key);
    values.push_back(value != nullptr ? *value : config::Value::list());
  }
  return values;
}

std::vector<RunConfig> written_runs(const std::string& name,
                                    const std::vector<std::string>& overrides) {
  config::Problems problems;
  const auto study = named_study(name, overrides, problems);
  auto composed = compose(study, {}, problems);
  settings_of(composed, problems);
  std::vector<RunConfig> runs;
  for (const auto& point : composed.points) {
    runs.push_back(written_run(point.config, study.root, problems));
  }
  std::vector<const RunConfig*> all;
  for (const auto& run : runs) all.push_back(&run);
  if (problems.empty()) check_parameter_groups(all, problems);
  problems.throw_if_any();
  return runs;
}

Study load_study(const std::string& name, const std::vector<std::string>& overrides,
                 config::Watch watch) {
  config::Problems problems;
  auto study = named_study(name, overrides, problems);
  auto composed = compose(study, {}, problems);
  study.preset = composed.preset;
  study.config = settings_of(composed, problems);
  study.results = (place_of(composed.settings, "results", study.root) / study.config.results)
                      .lexically_normal();
  resolve(composed.points, study, problems);
  std::vector<std::size_t> places(composed.points.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (problems.empty()) places = drop_repeated(study, composed.points);
  if (watch.observer && watch.point < places.size()) {  // the run as it is counted here
    config::Problems told;
    watch.point = places[watch.point];
    compose(study, std::move(watch), told);
  }
  study.notes = composed.notes;
  leave_tuning(composed, study);
  if (problems.empty()) follow_axes(composed, study);
  // An answer is of the runs and claims that the files name, unless it is typed with others.
  const bool has_changes = !that_change_something(composed.changes).empty();
  const auto sets_answer = [](const config::Override& item) { return sets(item, "answer"); };
  if (has_changes && std::ranges::none_of(study.overrides, sets_answer)) {
    study.config.report.answer.clear();
  }
  if (problems.empty()) {  // a wrong name is said beside what follows from it
    for (const auto& [key, message] : check_names(study)) {
      add_problem(composed, key, message, problems);
    }
    check_report_fits(composed, study.config, problems);
  }
  check_typed_tuning(composed, study, problems);
  if (problems.empty()) check_groups(study, problems);
  problems.throw_if_any();

  sweep::require_plain_path(study.results / name);
  std::vector<std::string> changes;
  for (const auto& item : changes_of(study, composed)) changes.push_back(item.text);
  study.output = study.results / name / study.preset;
  if (!changes.empty()) study.output += concat("-", sha256_hex(join(changes, "\n")).substr(0, 6));
  if (study.config.tune.active()) {
    study.composed = std::make_shared<const std::vector<config::Point>>(composed.points);
  }
  return with_tuned_values(std::move(study));
}

Study tune_again(const Study& study) {
  auto again = study;
  again.tuning = nullptr;
  return with_tuned_values(std::move(again));
}

}  // namespace difflab::study
