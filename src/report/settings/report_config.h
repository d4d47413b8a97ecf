#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "report/data/config_types.h"
#include "report/data/derived.h"
#include "report/data/learned.h"
#include "report/figure/style_config.h"
#include "report/mark/figure_config.h"
#include "report/settings/claim_config.h"

namespace difflab::report {

/// The files of the claims are called so; no table is.
inline constexpr const char* kClaimsFile = "claims";

/// One table: a row per value of the `rows` axes, a column per metric, mean ± 95 % interval over
/// the runs of a row (its seeds).
struct TableConfig {
  std::string name = "table";        ///< file name without extension
  std::string title;                 ///< heading; empty: the study's title
  NameList rows;                     ///< axes; empty: every axis of the sweep but `seed`
  std::vector<std::string> columns;  ///< metrics, or config paths such as train.lr
  std::vector<std::string> compare;  ///< columns compared with the baseline; empty: see table.cpp

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "file name without extension, e.g. table");
    visit("title", title, "heading; empty: the study's title");
    visit("rows", rows, "sweep axis or axes that make a row; empty: every axis but seed");
    visit("columns", columns, "metrics of result.json, or config paths such as train.lr");
    visit("compare", compare,
          "metrics compared with the baseline on equal seeds; empty: every column that has a "
          "better direction and is no time");
  }
  void validate(config::Check& check) const;
  bool compares(const Metric& column) const;  ///< with the baseline
};

/// A place of an answer that stands for the claims from `first` to `last`: {claims.0-2.effect}.
struct AnswerPlace {
  std::string text;
  std::size_t first = 0, last = 0;
  bool is_effect = false;  ///< else the verdict
};
/// The answer with what `fill` gives for each of its places.
std::string filled_answer(const std::string& answer,
                          const std::function<std::string(const AnswerPlace&)>& fill);

/// The keys of an experiment file that say what to report. A study config flattens them into its
/// own keys by calling `report.visit_fields(visit)` inside its own `visit_fields`.
struct ReportConfig {
  std::string headline;                ///< metric of the one-sentence answer; empty: first compared
  std::string answer;                  ///< what the runs say, with places for claims (AnswerPlace)
  std::string thumbnail;               ///< figure that stands for the experiment in the gallery
  TextMap labels;                      ///< axis value or metric → how it is printed
  LearnedConfig learned = {};          ///< when a run counts as one that has learned its task
  TimesConfig times = {};              ///< how times to an event are compared
  std::vector<std::string> opponents;  ///< variants, the best of which a claim may be against
  std::vector<ClaimConfig> claims;     ///< what the runs are asked about
  std::vector<DerivedConfig> derived;  ///< metrics that the report adds to every run
  std::vector<TableConfig> tables;     ///< empty: only the list of runs is reported
  std::vector<FigureConfig> figures;   ///< each drawn as SVG, PDF, PNG with its data
  StyleConfig style = {};              ///< of all figures

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("headline", headline, "metric of the one-sentence answer; empty: the first compared");
    visit(
        "answer", answer,
        "what the runs say, opens the page; {claims.0.verdict} stands for that of the first claim, "
        "{claims.0-2.effect} for the effects of three; not shown while one of them has no verdict, "
        "or with overrides");
    visit("thumbnail", thumbnail,
          "figure that stands for the experiment in the gallery; empty: the first");
    visit("labels", labels, "axis value or metric -> how it is printed, e.g. diff: DIFF V1");
    visit("learned", learned, "when a run counts as one that has learned its task");
    visit("times", times, "how times to an event are compared");
    visit("opponents", opponents,
          "variants of which a claim with against: best means the one that its tuning found best, "
          "or, untuned, its runs");
    visit("claims", claims, "what a source found; the report says what the runs say to it");
    visit("derived", derived, "metrics that the report adds to every run");
    visit("tables", tables, "tables to write");
    visit("figures", figures, "figures to draw");
    visit("style", style, "look of all figures: font, sizes, legend, colours");
  }
  void validate(config::Check& check) const;
};

/// The axis whose values are compared: the first row axis of the first table, else the first axis
/// but seed; "" if there is none.
std::string compared_axis(const ReportConfig& report, const std::vector<std::string>& axes);

/// A problem of a report's settings, at a key.
struct ReportProblem {
  std::string key;      ///< e.g. "tables[0].rows"
  std::string message;  ///< what was found and expected
};

/// Problems of `report` for a sweep over `axes` (in sweep order), one clause each, e.g.
/// "tables[0].rows names 'modle', which the sweep does not vary; did you mean model?". The caller
/// shows them before anything runs; with an empty list the report can be written.
/// @param single axes with one value, over which nothing is averaged
std::vector<ReportProblem> check_report(const ReportConfig& report,
                                        const std::vector<std::string>& axes,
                                        const std::set<std::string>& single = {});

/// Names that a report may use, known before anything runs. A * stands for a number or a name.
struct KnownNames {
  std::vector<std::string> metrics;  ///< of result.json, those of its events with them
  std::vector<std::string> curves;   ///< of metrics.jsonl
  std::vector<std::string> axes;     ///< of the sweep
  std::function<bool(std::string_view)> is_setting;  ///< a path in the configuration of a run
  std::vector<std::string> sources;                  ///< the names of its evaluations
};

/// Where a report names a metric that no run of the study has: its cells would stay empty, and its
/// claims unmeasured, after all runs. What `derived` works out is a metric, too. Of a figure of an
/// evaluation's cells the evaluation (`source`) is looked for, its keys are left to the cells. A
/// margin that a metric's whole range lies within would call everything equivalent.
std::vector<ReportProblem> check_metrics(const ReportConfig& report, const KnownNames& known);

/// Says that the name is no metric of these runs, as a clause; empty if it is one.
std::string problem_of_metric(std::string_view name, const ReportConfig& report,
                              const KnownNames& known);

/// The same for a curve of metrics.jsonl, e.g. "is valid_acuracy, which is no held-out or training
/// curve of these runs; did you mean valid_accuracy?".
std::string problem_of_curve(std::string_view name, const std::vector<std::string>& curves);

}  // namespace difflab::report

namespace difflab {
// Compiled once, in report_rules.cpp.
extern template report::ReportConfig config::read(const config::Value&, const std::string&);
extern template config::Value config::write(report::ReportConfig);
}  // namespace difflab
