#pragma once

#include <string>

#include "config/grid/key_docs.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "report/settings/report_config.h"
#include "study/tune_config.h"
#include "sweep/launcher/launcher_config.h"
#include "util/text.h"

namespace difflab::cli {

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

}  // namespace difflab::cli

namespace difflab {
// Compiled once, in study_config.cpp.
extern template cli::StudyConfig config::read(const config::Value&, const std::string&,
                                              config::Problems&, config::Range);
extern template config::Value config::write(cli::StudyConfig);
extern template std::vector<config::KeyTable> config::describe_keys<cli::StudyConfig>(std::string);
}  // namespace difflab
