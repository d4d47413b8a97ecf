// evaluate: asks trained models, and trains nothing.

#include "cli/commands.h"
#include "cli/sweep/ask_and_report.h"
#include "cli/sweep/run_study.h"
#include "record/answers.h"
#include "record/status.h"
#include "report/data/frame.h"
#include "report/table/grid.h"
#include "run/identity.h"

namespace difflab::cli {
namespace {

constexpr std::size_t kTableWidth = 100;
constexpr std::size_t kMostNewColumns = 8;

constexpr const char* kNoNumber = "not finite";  // in the place of a metric

// Metrics that the run's model got in evaluations of these names (all if none), named as in its
// result; kNoNumber for NaN and infinity.
Json answered_metrics(const Study& study, const sweep::Run& run,
                      const std::vector<std::string>& names) {
  Json metrics = Json::object();
  const auto& config = study.config_of(run);
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto name = result_name(config.evaluate[i], config.task);
    if (!names.empty() && !is_among(name, names)) continue;
    const auto answer = read_answer(run.directory, answer_id(config, i));
    if (!answer) continue;
    const auto prefix = metric_prefix(config.evaluate[i]);
    for (const auto& [key, value] : answer->metrics.items()) metrics[prefix + key] = value;
    for (const auto& key : answer->details.value(kNotFinite, Json::array())) {
      metrics[prefix + key.get<std::string>()] = kNoNumber;
    }
  }
  return metrics;
}

// Says which answers are no numbers. @return whether there are any.
bool say_what_is_not_finite(const Asked& asked) {
  bool any = false;
  for (const auto& run : sweep::distinct(asked.study.points)) {
    std::vector<std::string> names;
    const auto metrics = answered_metrics(asked.study, run, asked.names);
    for (const auto& [key, value] : metrics.items()) {
      if (value == kNoNumber) names.push_back(key);
    }
    // Runs of an experiment may diverge; weights that somebody names should not.
    if (!asked.of_experiment && state_of(run.directory) == RunState::kDiverged) {
      names.emplace_back("its loss, so that it was asked nothing");
    }
    if (names.empty()) continue;
    std::cerr << fmt::format("run {}: NaN or infinite: {}\n", run.id, join(names));
    any = true;
  }
  return any;
}

// The figures of the runs side by side: a line a metric.
std::string metrics_table(const Study& study, const std::vector<std::string>& names) {
  report::Grid grid{.columns = {{"metric", true}}, .rows = {}, .rules = {}};
  std::vector<Json> metrics;
  std::vector<std::string> keys;
  for (const auto& run : sweep::distinct(study.points)) {
    grid.columns.push_back({run.axes.front().second});
    metrics.push_back(answered_metrics(study, run, names));
    for (const auto& [key, value] : metrics.back().items()) report::add_new(keys, key);
  }
  for (const auto& key : keys) {
    std::vector<std::string> row{key};
    for (const auto& values : metrics) {
      const auto found = values.find(key);
      row.push_back(found == values.end() ? ""
                    : found->is_number()  ? fmt::format("{:.6g}", found->get<double>())
                    : *found == kNoNumber ? kNoNumber
                                          : "–");
    }
    grid.rows.push_back(std::move(row));
  }
  return report::to_terminal(grid, kTableWidth);
}

// Metrics of what is asked that the experiment's first table has no column for, in their order.
std::vector<std::string> new_metrics(const Asked& asked, const std::vector<std::string>& columns) {
  std::vector<std::string> found;
  for (const auto& run : sweep::distinct(asked.study.points)) {
    const auto metrics = answered_metrics(asked.study, run, asked.names);
    for (const auto& [key, value] : metrics.items()) {
      const bool is_shown = is_among(key, columns) || is_among(key, found);
      if (value.is_number() && !key.ends_with("_chance") && !is_shown) found.push_back(key);
    }
  }
  return found;
}

// The experiment's report with what was asked now as further columns of its first table.
report::Summary report_with_answers(const Asked& asked) {
  auto study = asked.study;
  auto& tables = study.config.report.tables;
  if (tables.empty() || tables.front().columns.empty()) return write_report(study);
  auto& columns = tables.front().columns;
  auto metrics = new_metrics(asked, columns);
  const auto shown = std::min(metrics.size(), kMostNewColumns);
  columns.insert(columns.end(), metrics.begin(),
                 metrics.begin() + static_cast<std::ptrdiff_t>(shown));
  auto summary = write_report(study);
  if (shown < metrics.size()) {
    metrics.erase(metrics.begin(), metrics.begin() + static_cast<std::ptrdiff_t>(shown));
    std::cout << fmt::format("Further metrics are in runs.json: {}\n", join(metrics));
  }
  return summary;
}

int evaluate(const AskOptions& options) {
  const auto asked = find_asked(options.words, options.results, options.on, options.at);
  const int code = ask_and_report(asked, options.json, [&]() -> std::optional<report::Summary> {
    if (asked.of_experiment) return report_with_answers(asked);
    std::cout << '\n' << metrics_table(asked.study, asked.names) << std::flush;
    return std::nullopt;
  });
  return say_what_is_not_finite(asked) && code == kDone ? kFailed : code;
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  const auto options = std::make_shared<AskOptions>();
  CLI::App* command = app.add_subcommand(
      "evaluate", "Evaluate the trained models of an experiment, or runs, anew; train nothing");
  options->add_to(*command,
                  "an experiment with its overrides, runs (folder, id or its beginning) or weights "
                  "(.safetensors of difflab export, or a folder with one and config.yaml); then "
                  "evaluate=[…], which is asked beside what was asked before");
  command->callback([options] { exit_with(evaluate(*options)); });
}

}  // namespace difflab::cli
