#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "config/grid/key_docs.h"
#include "config/schema/fields.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "report/settings/report_config.h"
#include "sweep/launcher/launcher_config.h"
#include "util/text.h"

namespace difflab::study {

enum class Goal { kLowest, kHighest };

}  // namespace difflab::study

namespace difflab {

template <>
inline constexpr auto config::kNames<study::Goal> = names("lowest", "highest");

}  // namespace difflab

namespace difflab::study {

/// The value of one key that every variant gets before its runs are trained, e.g. its learning
/// rate: each value of a grid is tried in runs of their own, with other seeds, on the validation
/// split. All variants have the same seeds and steps, and
/// begin with the same grid (study/load/load.h).
struct TuneConfig {
  std::string key;  ///< empty: nothing is tuned
  std::vector<double> values = {};
  std::int64_t seeds = 3;
  std::int64_t first_seed = 10'000;
  std::int64_t again = 0;
  std::int64_t steps = 0;
  std::int64_t longer = 0;
  bool grow = true;
  bool every_seed = false;
  std::string metric = "valid_loss";
  Goal goal = Goal::kLowest;

  bool active() const { return !key.empty(); }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("key", key,
          "key of which each variant gets a value of its own, e.g. train.lr; empty: none");
    visit("values", values, "the grid, ascending, each above 0");
    visit("seeds", seeds, "runs per variant and value, with seeds that are not reported",
          config::between(1, 1000));
    visit("first_seed", first_seed,
          "of these seeds, which count up; those that are reported lie below", config::at_least(1));
    visit(
        "again", again,
        "the best two values of each variant go on to as many more seeds, and the better by all is "
        "taken; 0: the best by the first is",
        config::between(0, 1000));
    visit("steps", steps, "train.steps of these runs; 0: those of the runs that are reported",
          config::at_least(0));
    visit("longer", longer,
          "steps of these runs anew for variants of which no value works in as many as the others "
          "have; 0: these are not tunable",
          config::at_least(0));
    visit(
        "grow", grow,
        "a value at an edge that is the best of a variant adds one beyond, for it and for variants "
        "of which no value works");
    visit("every_seed", every_seed,
          "a value whose first seed did not learn is tried with the others even where it cannot be "
          "the best any more");
    visit("metric", metric,
          "the values are compared by its mean over the seeds, after as many of them have learned");
    visit("goal", goal, "which value of the metric is best: lowest or highest");
  }
  void validate(config::Check& check) const {
    if (!active()) {
      if (!values.empty()) check.problem("values", "are given, and no key; expected tune.key");
      return;
    }
    if (values.size() < 3) {
      check.problem("values", concat("has ", values.size(), " values; expected at least 3"));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double before = i == 0 ? 0 : values[i - 1];
      if (std::isfinite(values[i]) && values[i] > before) continue;
      check.problem("values", concat("has ", values[i], i == 0 ? "" : concat(" after ", before),
                                     "; expected finite numbers above 0 that grow"));
      return;
    }
  }
};

/// The keys of an experiment beside those of its runs: what is asked, where it runs, what is
/// reported. The keys sweep, presets, preset and vars belong to the composition
/// (config/grid/study.h).
struct StudyConfig {
  std::string title;
  std::string topic;
  std::string question;
  std::string prediction;
  std::string notes;
  std::string baseline;
  std::string unmatched;
  std::string results = "results";
  sweep::LauncherConfig launcher;
  TuneConfig tune;
  report::ReportConfig report;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("title", title, "the question in a few words");
    visit("topic", topic, "heading of the gallery that it stands under");
    visit("question", question, "what the experiment asks");
    visit("prediction", prediction, "what is expected, written before the runs");
    visit("notes", notes, "limits, remarks, sources");
    visit("baseline", baseline, "value of the tables' first axis that others are compared with");
    visit("unmatched", unmatched,
          "why compared models differ by more than 1 % in their parameters; empty: they must not");
    visit("results", results, "folder for runs, tables and figures");
    visit("launcher", launcher, "where runs are executed");
    visit("tune", tune, "a key whose value is found for each variant before its runs");
    report.visit_fields(visit);
  }
  void validate(config::Check& check) const {
    report.validate(check);
    for (std::size_t i = 0; i < report.claims.size(); ++i) {
      const auto& against = report.claims[i].against;
      if (against.empty() && baseline.empty()) {
        check.problem(concat("claims[", i, "]"),
                      "names nothing to compare with; expected against, or a baseline");
      }
      if (against == report::kBestOpponent && report.opponents.empty()) {
        check.problem(concat("claims[", i, "].against"),
                      "is best, and there are no opponents of which one could be");
      }
    }
  }
};

}  // namespace difflab::study

namespace difflab {
// Compiled once, in study_config.cpp.
extern template study::StudyConfig config::read(const config::Value&, const std::string&,
                                                config::Problems&, config::Range);
extern template config::Value config::write(study::StudyConfig);
extern template std::vector<config::KeyTable> config::describe_keys<study::StudyConfig>(
    std::string);
}  // namespace difflab
