#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report/report_config.h"
#include "util/json.h"

namespace difflab::report {

/// One run that the study consists of, finished or not.
struct PlannedRun {
  std::string id;
  /// Axis → value as the user wrote it, in sweep order, e.g. {{"model", "diff"}, {"seed", "0"}}.
  std::vector<std::pair<std::string, std::string>> axes;
  Json config;                      ///< the resolved run configuration (config::Value::to_json())
  std::filesystem::path directory;  ///< its run directory, which may not exist yet
};

/// The program that turns Vega-Lite into pictures. Everything but pictures works without it.
struct Renderer {
  std::filesystem::path python;  ///< an interpreter with vl-convert, <root>/.venv/bin/python
  std::filesystem::path script;  ///< <root>/src/report/render.py
  std::filesystem::path cache;   ///< a folder for the browser bundle, <root>/.difflab

  /// Where `./difflab` keeps them below the folder of the sources.
  static Renderer below(const std::filesystem::path& root);
};

/// A sweep as it was planned; whatever of it is finished gets reported.
struct Study {
  std::string name;         ///< experiment, e.g. headline
  std::string preset;       ///< e.g. default
  std::string title;        ///< question in a few words; empty: the name
  std::string question;     ///< what the experiment asks
  std::string prediction;   ///< what the source found, written before the runs
  std::string notes;        ///< limits, remarks
  std::string baseline;     ///< value of the first `rows` axis that others are compared with
  std::string unmatched;    ///< why compared models differ in size; empty: they do not
  std::string search = {};  ///< how a searched value was chosen, a sentence; empty: none was
  std::string command;      ///< command line that repeats the study
  Json settings;            ///< shown under "Settings"; null: what all run configurations share
  std::vector<PlannedRun> runs;  ///< in sweep order (last axis fastest)
  ReportConfig report;
  std::filesystem::path output;  ///< results/<experiment>/<preset>; made if missing
  Renderer renderer;
};

struct Summary {
  std::string text;  ///< to print as it is: tables, notes, the paths that were written
  int planned = 0;
  int finished = 0;  ///< with a result, diverged ones included
  int diverged = 0;
  int failed = 0;                     ///< ended without a result
  std::vector<std::string> warnings;  ///< e.g. the renderer is missing; part of `text`, too
};

/// Writes table.{md,csv,tex}, figures/NAME.{vl.json,svg,pdf,png,csv}, runs.json and report.html
/// below `study.output` from the run directories that are finished. A pure function of them: equal
/// runs give equal bytes. Files whose content would not change are not touched.
/// @throws UserError if the configuration does not fit the runs or a file cannot be written.
Summary write_report(const Study& study);

}  // namespace difflab::report
