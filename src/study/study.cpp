#include "study/study.h"

#include <algorithm>
#include <set>

#include "config/grid/axes.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/data/frame.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "study/project.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::study {
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

bool is_override(std::string_view word) {
  return word.find('=') != word.npos || (word.starts_with('~') && !word.starts_with("~/"));
}

std::vector<config::Override> that_change_something(std::vector<config::Override> overrides) {
  std::erase_if(overrides, [](const config::Override& item) {
    const auto key = config::axis_key(item);
    return key == "results" || key == "launcher" || key.starts_with("launcher.");
  });
  return overrides;
}

void Study::add(const RunConfig& run, Axes axes) {
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

std::vector<std::string> Study::values_of(std::string_view axis) const {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const auto& point : points) {
    const auto value = report::value_of_axis(point.axes, axis);
    if (seen.insert(value).second) values.push_back(value);
  }
  return values;
}

void report_tuning(const Study& study) {
  if (!study.tuning) return;
  const auto write = [](const Study& tuning) {
    auto report = tuning.for_report();
    report.is_tuning = true;
    report::write_report(report);
  };
  write(*study.tuning);
  if (study.tuning->shorter) write(*study.tuning->shorter);
}

report::Study Study::for_report() const {
  report::Study report{
      .name = name,
      .preset = preset,
      .title = config.title,
      .question = config.question,
      .prediction = config.prediction,
      .notes = config.notes,
      .baseline = config.baseline,
      .unmatched = config.unmatched,
      .command = concat(project_option().empty() ? program_name() : "difflab --project .",
                        " sweep ", name),
      .report = config.report,
      .output = output,
      .renderer = report::Renderer::below(find_checkout())};
  for (const auto& item : that_change_something(overrides)) {
    report.command += concat(" ", quoted_for_shell(item.text));
  }
  report.tuned = tuned;
  if (is_being_tuned()) return report;
  report.runs = points;
  for (auto& run : report.runs) {
    run.config = with_project_paths(std::move(run.config), root.string() + "/");
  }
  return report;
}

std::vector<sweep::Run> Study::needed_runs() const {
  return is_being_tuned() ? std::vector<sweep::Run>() : sweep::distinct(points);
}

sweep::Plan Study::frozen() const {
  const auto with_overrides = [&](const char* command) {
    std::vector<std::string> words{command, name};
    for (const auto& item : overrides) words.push_back(item.text);
    return words;
  };
  return {.experiment = name,
          .preset = preset,
          .report = with_overrides("plot"),
          .more = leads_on ? with_overrides("sweep") : std::vector<std::string>(),
          .launcher = config::to_json(config::write(config.launcher)),
          .runs = sweep::distinct(points)};
}

}  // namespace difflab::study
