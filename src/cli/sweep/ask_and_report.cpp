#include "cli/sweep/ask_and_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "cli/sweep/run_study.h"
#include "run/trained_runs.h"

namespace difflab::cli {
namespace {

// Steps that the runs were trained now: none, unless the files of a trained run were damaged.
std::int64_t steps_trained(const std::vector<sweep::Run>& asked) {
  std::int64_t steps = 0;
  for (const auto& run : asked) {
    const auto provenance = read_provenance(run.directory);
    const auto result = read_result(run.directory);
    if (!result || (provenance && provenance->contains("trained_in"))) continue;
    steps += result->value("metrics", Json::object()).value("steps", std::int64_t{0});
  }
  return steps;
}

Json runs_json(const std::vector<sweep::Run>& runs) {
  Json found = Json::array();
  for (const auto& run : runs) {
    const auto result = read_result(run.directory).value_or(Json::object());
    found.push_back({{"id", run.id},
                     {"axes", Json::object_t(run.axes.begin(), run.axes.end())},
                     {"metrics", result.value("metrics", Json::object())},
                     {"evaluations", result.value("evaluations", Json::object())}});
  }
  return found;
}

}  // namespace

void AskOptions::add_to(CLI::App& command, const char* what) {
  command.add_option("what", words, what)->required();
  command.add_option("--results", results, "results folder of the runs");
  command
      .add_option("--on", on,
                  "task=NAME or task.KEY=VALUE to evaluate on instead of their own task")
      ->allow_extra_args(false);
  command.add_option("--at", at, "steps whose kept checkpoints are used (train.keep_checkpoints)")
      ->delimiter(',');
  command.add_flag("--json", json, "end with one JSON object: trained_steps, asked, runs");
}

int ask_and_report(const Asked& asked, bool json,
                   const std::function<std::optional<report::Summary>()>& report) {
  const auto& study = asked.study;
  note_older_trainings(study.results);
  std::vector<sweep::Run> missing;
  std::map<std::string, int> open;  // questions, by run
  for (const auto& run : sweep::distinct(study.points)) {
    if (!is_complete(state_of(run.directory))) missing.push_back(run);
    open[run.id] = unanswered(study, run);
  }
  std::cerr << asked.note;
  const int code = run_study(study, report);
  const auto runs = study.needed_runs();  // some may have turned out not to be
  const auto left = std::ranges::count_if(
      runs, [](const sweep::Run& run) { return !is_complete(state_of(run.directory)); });
  if (code == 0 && left > 0) {  // somebody else asks them
    std::cout << (json ? Json{{"trained_steps", 0}, {"asked", 0}, {"submitted", left}}.dump()
                       : fmt::format("\n{} {} submitted; the same command prints the answers when "
                                     "they are there",
                                     left, left == 1 ? "run" : "runs"))
              << '\n';
    return code;
  }
  int answers = 0;
  for (const auto& run : runs) answers += open[run.id] - unanswered(study, run);
  const auto steps = steps_trained(missing);
  std::cout
      << (json
              ? Json{{"trained_steps", steps}, {"asked", answers}, {"runs", runs_json(runs)}}.dump()
              : fmt::format("\n{} {} asked, {} steps trained", answers,
                            answers == 1 ? "evaluation" : "evaluations", steps))
      << '\n';
  return code;
}

}  // namespace difflab::cli
