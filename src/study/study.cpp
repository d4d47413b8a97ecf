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
#include "run/run_config.h"
#include "run/stage.h"
#include "study/project.h"
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

config::Study compose(const Study& study, config::Watch watch, config::Problems& problems) {
  return config::compose_study(
      {.search_path = config::SearchPath::of_project(study.root),
       .experiment = study.name,
       .overrides = study.overrides,
       .run_keys = config::field_names<RunConfig>(),
       .study_keys = config::field_names<StudyConfig>(),
       .keys_without_effect = {keys_without_effect().begin(), keys_without_effect().end()},
       .start = std::time(nullptr),
       .watch = std::move(watch)},
      problems);
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
  problems.throw_if_any();

  study.results = (place_of(composed.settings, "results", study.root) / study.config.results)
                      .lexically_normal();
  sweep::require_plain_path(study.results / name);
  for (auto& point : study.points) point.directory = {study.results / "runs" / point.id};
  study.selection();  // its rungs are checked
  const auto changes = that_change_something(composed.changes);
  study.output = study.results / name / study.preset;
  if (!changes.empty()) study.output += concat("-", sha256_hex(join(changes, "\n")).substr(0, 6));
  return study;
}

namespace {

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

}  // namespace

report::Study Study::for_report() const {
  report::Study study{.name = name,
                      .preset = preset,
                      .title = config.title,
                      .question = config.question,
                      .prediction = config.prediction,
                      .notes = config.notes,
                      .baseline = config.baseline,
                      .unmatched = config.unmatched,
                      .command = join(std::vector<std::string>{"./difflab", "sweep", name}, " "),
                      .settings = nullptr,
                      .runs = {},
                      .report = config.report,
                      .output = output,
                      .renderer = report::Renderer::below(root)};
  for (const auto& text : that_change_something(overrides)) {
    study.command += concat(" ", quoted_for_shell(text));
  }
  const auto chosen = selection();
  if (chosen) study.search = chosen->note();
  for (const auto& point : points) {
    if (chosen && chosen->verdict(point) == sweep::Selection::Verdict::kDrop) continue;
    auto axes = point.axes;
    std::erase_if(axes, [&](const auto& axis) { return axis.first == config.search.axis; });
    study.runs.push_back({point.id, std::move(axes),
                          with_project_paths(point.config, root.string() + "/"),
                          point.directory.path});
  }
  return study;
}

std::unique_ptr<sweep::Selection> Study::selection() const {
  if (!config.search.active()) return nullptr;
  auto halving = std::make_unique<sweep::Halving>(config.search, sweep::distinct(points));
  halving->look();
  return halving;
}

sweep::Plan Study::frozen() const {
  if (config.search.active()) {
    throw UserError("search.axis: runs that pause cannot be given away; expected launcher=local");
  }
  std::vector<std::string> report{"plot", name};
  report.insert(report.end(), overrides.begin(), overrides.end());
  return {.experiment = name,
          .preset = preset,
          .report = std::move(report),
          .launcher = config::to_json(config::write(config.launcher)),
          .runs = sweep::distinct(points)};
}

}  // namespace difflab::cli
