#include "study/study.h"

#include <algorithm>
#include <string_view>

#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/data/frame.h"
#include "report/report.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "study/overrides.h"
#include "study/project.h"
#include "study/seeds/until_resolved.h"
#include "sweep/plan/halving.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
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

// How the search stands, as the files of the runs say; null if nothing is searched.
std::unique_ptr<sweep::Halving> halving_of(const Study& study) {
  const auto& search = study.config.search;
  if (!search.active()) return nullptr;
  auto halving = std::make_unique<sweep::Halving>(search, sweep::distinct(study.points));
  halving->look();
  return halving;
}

// The report of all runs that there may be.
report::Study report_of(const Study& study) {
  const auto& config = study.config;
  report::Study report{
      .name = study.name,
      .preset = study.preset,
      .title = config.title,
      .question = config.question,
      .prediction = config.prediction,
      .notes = config.notes,
      .baseline = config.baseline,
      .unmatched = config.unmatched,
      .command = concat(project_option().empty() ? "./difflab" : "difflab --project .", " sweep ",
                        study.name),
      .settings = nullptr,
      .runs = {},
      .report = config.report,
      .output = study.output,
      .renderer = report::Renderer::below(find_checkout())};
  for (const auto& text : that_change_something(study.overrides)) {
    report.command += concat(" ", quoted_for_shell(text));
  }
  if (config.seeds.follow_claims()) report.looks = config.seeds.looks();
  report.tuned = study.tuned;
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
  auto report = report_of(*this);
  const auto chosen = selection();
  if (chosen) report.search = chosen->note();
  std::vector<report::PlannedRun> runs;
  for (std::size_t i = 0; i < points.size() && !is_being_tuned(); ++i) {
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
  if (is_being_tuned()) return {};
  auto runs = sweep::distinct(points);
  const auto chosen = selection();
  std::erase_if(runs, [&](const sweep::Run& run) { return !is_needed(chosen.get(), run); });
  return runs;
}

sweep::Plan Study::frozen() const {
  if (config.search.active()) {
    throw UserError(
        "search.axis: runs that pause cannot be given away; expected launcher=local and no "
        "--freeze");
  }
  auto runs = sweep::distinct(points);
  bool more = leads_on;
  if (const auto chosen = selection()) {
    more = more || std::any_of(runs.begin(), runs.end(), [&](const sweep::Run& run) {
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
