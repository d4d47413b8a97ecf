#include "study/study.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <string_view>

#include "config/grid/axes.h"
#include "config/grid/study.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/data/frame.h"
#include "run/identity.h"
#include "run/input_files.h"
#include "run/parameter_groups.h"
#include "run/run_config.h"
#include "run/stage.h"
#include "study/project.h"
#include "study/seeds_until_resolved.h"
#include "sweep/plan/halving.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

std::string key_of(std::string_view override_text) {
  const auto begin = override_text.find_first_not_of("+~");
  if (begin == override_text.npos) return "";
  return std::string(override_text.substr(begin, override_text.find('=') - begin));
}

// Where and how fast a study runs; its tables are the same.
bool changes_nothing(std::string_view override_text) {
  const std::string key = key_of(override_text);
  return key == "results" || key == "launcher" || key.starts_with("launcher.");
}

std::vector<std::string> that_change_something(const std::vector<std::string>& overrides) {
  std::vector<std::string> kept;
  std::remove_copy_if(overrides.begin(), overrides.end(), std::back_inserter(kept),
                      changes_nothing);
  return kept;
}

// A path given on the command line is meant from where the user is, one in a file from the project.
fs::path place_of(const config::Value& settings, const std::string& key, const fs::path& root) {
  const auto* value = settings.find_path(key);
  const bool typed = value != nullptr && value->source.file.starts_with("override ");
  return typed ? fs::current_path() : root;
}

void check_name(const std::string& name) {
  if (name.find('=') != name.npos) {
    throw UserError(concat("'", name,
                           "' is an override, not an experiment; expected e.g. difflab "
                           "sweep headline ",
                           name));
  }
}

// The points of the study, as they were composed.
void resolve(const config::Study& composed, Study& study, config::Problems& problems) {
  for (const auto& point : composed.points) {
    auto tree = point.config;
    complete_stages(tree);
    auto run = config::read<RunConfig>(tree, "", problems);
    if (!problems.empty()) continue;
    config::PlacedCheck check(tree, "", problems);
    resolve_input_files(
        run,
        [&](const std::string& key, const std::string& path) {
          return place_of(tree, key, study.root) / path;
        },
        check);
    if (!problems.empty()) continue;
    const auto full = config::write(run);
    auto axes = point.axes;
    for (auto& [key, label] : axes) {  // a default of the structs, or no key of this kind
      const auto* value = full.find_path(key);
      if (label.empty()) label = value != nullptr ? config::label_of(*value) : "none";
    }
    study.add(run, std::move(axes));
  }
}

void check_report_fits(const config::Study& composed, const StudyConfig& config,
                       config::Problems& problems) {
  const auto add = [&](const std::string& key, const std::string& message) {
    const auto* value = composed.settings.find_path(key);
    problems.add(value != nullptr ? value->source : config::Source{}, key, message);
  };
  std::vector<std::string> axes;
  for (const auto& axis : composed.axes) axes.push_back(axis.key);
  const auto& chosen = config.search.axis;
  if (config.search.active()) {
    const auto place = std::find(axes.begin(), axes.end(), chosen);
    if (place == axes.end() || chosen == report::kSeedAxis) {
      add("search.axis", concat("is '", chosen, "'; expected an axis of the sweep other than seed",
                                suggestion(chosen, axes)));
    } else {
      axes.erase(place);
    }
  }
  for (const auto& problem : report::check_report(config.report, axes, chosen)) {
    add(problem.key, problem.message);
  }
}

// What is to be composed.
Study named_study(const std::string& name, const std::vector<std::string>& overrides) {
  check_name(name);
  Study study;
  study.name = name;
  study.overrides = overrides;
  study.root = find_project();
  return study;
}

// In studies whose claims say how many seeds they need, the sweep has no say in them.
std::vector<std::string> axes_of_seeds(const config::Value& settings) {
  const auto* given = settings.find("seeds");
  if (given == nullptr) return {};
  config::Problems problems;  // are reported with all other settings
  const auto seeds = config::read<SeedsConfig>(*given, "seeds", problems);
  if (!problems.empty() || !seeds.follow_claims()) return {};
  return {concat(report::kSeedAxis, "=range(", seeds.to, ")")};
}

config::Study compose(const Study& study, config::Watch watch, config::Problems& problems) {
  return config::compose_study(
      {.search_path = config::SearchPath::of_project(study.root),
       .experiment = study.name,
       .overrides = study.overrides,
       .run_keys = config::field_names<RunConfig>(),
       .study_keys = config::field_names<StudyConfig>(),
       .keys_without_effect = {keys_without_effect().begin(), keys_without_effect().end()},
       .following_axes = axes_of_seeds,
       .start = std::time(nullptr),
       .watch = std::move(watch)},
      problems);
}

// A report is read elsewhere: files of the project are named from its root.
Json with_project_paths(Json config, const std::string& root) {
  if (config.is_string() && config.get_ref<const std::string&>().starts_with(root)) {
    return config.get_ref<const std::string&>().substr(root.size());
  }
  if (config.is_structured()) {
    for (auto& value : config) value = with_project_paths(std::move(value), root);
  }
  return config;
}

// How the search stands, as the files of the runs say; null if nothing is searched.
std::unique_ptr<sweep::Halving> halving_of(const Study& study) {
  const auto& search = study.config.search;
  if (!search.active()) return nullptr;
  auto halving = std::make_unique<sweep::Halving>(search, sweep::distinct(study.points));
  halving->look();
  return halving;
}

// A typed seed would be overruled without a word.
void check_typed_seeds(const config::Study& composed, const StudyConfig& config,
                       const std::vector<std::string>& overrides, config::Problems& problems) {
  if (!config.seeds.follow_claims()) return;
  for (const auto& text : overrides) {
    if (key_of(text) != report::kSeedAxis && key_of(text) != "sweep.seed") continue;
    const auto* value = composed.settings.find_path("seeds.until");
    problems.add(value != nullptr ? value->source : config::Source{}, "seeds.until",
                 concat("is resolved, and ", text, " is given, too; expected one of them, e.g. ",
                        "seeds.until=swept with the seeds of the sweep"));
  }
}

// A look takes the seeds 0, 1, … of both variants: the conditions of a sweep may not leave one out.
void require_all_seeds(const Study& study, config::Problems& problems) {
  std::map<std::string, std::int64_t> seeds;  // by the other axes
  for (const auto& point : study.points) {
    std::vector<std::string> others;
    for (const auto& [axis, value] : point.axes) {
      if (axis != report::kSeedAxis) others.push_back(concat(axis, "=", value));
    }
    ++seeds[join(others, " ")];
  }
  for (const auto& [variant, count] : seeds) {
    if (count == study.config.seeds.to) continue;
    problems.add({}, "seeds.until",
                 concat("is resolved, and the sweep leaves ", variant, " ", count, " of ",
                        study.config.seeds.to, " seeds; expected all of them"));
  }
}

// The report of all runs that there may be.
report::Study report_of(const Study& study) {
  const auto& config = study.config;
  report::Study report{.name = study.name,
                       .preset = study.preset,
                       .title = config.title,
                       .question = config.question,
                       .prediction = config.prediction,
                       .notes = config.notes,
                       .baseline = config.baseline,
                       .unmatched = config.unmatched,
                       .command = concat("./difflab sweep ", study.name),
                       .settings = nullptr,
                       .runs = {},
                       .report = config.report,
                       .output = study.output,
                       .renderer = report::Renderer::below(study.root)};
  for (const auto& text : that_change_something(study.overrides)) {
    report.command += concat(" ", quoted_for_shell(text));
  }
  if (config.seeds.follow_claims()) report.looks = config.seeds.looks();
  for (const auto& point : study.points) {
    auto axes = point.axes;
    std::erase_if(axes, [&](const auto& axis) { return axis.first == config.search.axis; });
    report.runs.push_back({point.id, std::move(axes),
                           with_project_paths(point.config, study.root.string() + "/"),
                           point.directory.path});
  }
  return report;
}

bool is_needed(const sweep::Selection* selection, const sweep::Run& run) {
  if (selection == nullptr) return true;
  const auto verdict = selection->verdict(run);
  return verdict != sweep::Selection::Verdict::kDrop &&
         verdict != sweep::Selection::Verdict::kLater;
}

}  // namespace

std::vector<config::Value> composed_values(const std::string& name,
                                           const std::vector<std::string>& overrides,
                                           const std::string& key) {
  config::Problems problems;
  const auto composed = compose(named_study(name, overrides), {}, problems);
  problems.throw_if_any();
  std::vector<config::Value> values;
  for (const auto& point : composed.points) {
    const auto* value = point.config.find(key);
    values.push_back(value != nullptr ? *value : config::Value::list());
  }
  return values;
}

std::string quoted_for_shell(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
  if (text.find_first_not_of(kPlain) == text.npos) return text;
  std::string quoted = "'";
  for (const char character : text) {
    quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  }
  return quoted + "'";
}

void Study::add(const RunConfig& run, sweep::Axes axes) {
  const auto full = config::write(run);
  const auto id = run_id(run);
  points.push_back({.id = id,
                    .axes = std::move(axes),
                    .config = config::to_json(full),
                    .config_text = config::to_yaml(full),
                    .directory = {results / "runs" / id},
                    .work = first_batch(run) + run.train.steps,
                    .training = training_id(run)});
  configs.try_emplace(id, std::make_shared<const RunConfig>(run));
  threads_per_run = std::max(threads_per_run, static_cast<int>(run.threads));
}

namespace {

void check_groups(const Study& study, config::Problems& problems) {
  std::vector<const RunConfig*> runs;
  for (const auto& point : study.points) runs.push_back(&study.config_of(point));
  check_parameter_groups(runs, problems);
}

}  // namespace

Study load_study(const std::string& name, const std::vector<std::string>& overrides,
                 config::Watch watch) {
  auto study = named_study(name, overrides);
  config::Problems problems;
  const auto composed = compose(study, std::move(watch), problems);
  study.preset = composed.preset;
  // A file that could not be read has been reported; there are no settings to check then.
  if (composed.settings.is_map()) {
    study.config = config::read<StudyConfig>(composed.settings, "", problems);
  }
  resolve(composed, study, problems);
  if (problems.empty()) check_report_fits(composed, study.config, problems);
  check_typed_seeds(composed, study.config, overrides, problems);
  if (problems.empty()) check_groups(study, problems);
  problems.throw_if_any();

  study.results = (place_of(composed.settings, "results", study.root) / study.config.results)
                      .lexically_normal();
  sweep::require_plain_path(study.results / name);
  for (auto& point : study.points) point.directory = {study.results / "runs" / point.id};
  halving_of(study);  // its rungs are checked
  if (study.config.seeds.follow_claims()) require_all_seeds(study, problems);
  problems.throw_if_any();
  const auto changes = that_change_something(composed.changes);
  study.output = study.results / name / study.preset;
  if (!changes.empty()) study.output += concat("-", sha256_hex(join(changes, "\n")).substr(0, 6));
  return study;
}

report::Study Study::for_report() const {
  auto report = report_of(*this);
  const auto chosen = selection();
  if (chosen) report.search = chosen->note();
  std::vector<report::PlannedRun> runs;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_needed(chosen.get(), points[i])) runs.push_back(std::move(report.runs[i]));
  }
  report.runs = std::move(runs);
  return report;
}

std::unique_ptr<sweep::Selection> Study::selection() const {
  std::unique_ptr<sweep::Selection> chosen;
  if (config.seeds.follow_claims()) {
    chosen = std::make_unique<SeedsUntilResolved>(report_of(*this));
    chosen->look();
  } else {
    chosen = halving_of(*this);
  }
  return chosen;
}

std::vector<sweep::Run> Study::needed_runs() const {
  auto runs = sweep::distinct(points);
  const auto chosen = selection();
  std::erase_if(runs, [&](const sweep::Run& run) { return !is_needed(chosen.get(), run); });
  return runs;
}

sweep::Plan Study::frozen() const {
  if (config.search.active()) {
    throw UserError("search.axis: runs that pause cannot be given away; expected launcher=local");
  }
  auto runs = sweep::distinct(points);
  bool more = false;
  if (const auto chosen = selection()) {
    more = std::any_of(runs.begin(), runs.end(), [&](const sweep::Run& run) {
      return chosen->verdict(run) == sweep::Selection::Verdict::kLater;
    });
    std::erase_if(runs, [&](const sweep::Run& run) { return !is_needed(chosen.get(), run); });
  }
  const auto with_overrides = [&](const char* command) {
    std::vector<std::string> words{command, name};
    words.insert(words.end(), overrides.begin(), overrides.end());
    return words;
  };
  return {.experiment = name,
          .preset = preset,
          .report = with_overrides("plot"),
          .more = more ? with_overrides("sweep") : std::vector<std::string>(),
          .launcher = config::to_json(config::write(config.launcher)),
          .runs = std::move(runs)};
}

}  // namespace difflab::cli
