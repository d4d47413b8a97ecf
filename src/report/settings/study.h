#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/settings/report_config.h"
#include "report/settings/tuned.h"
#include "util/json.h"

namespace difflab::report {

/// The program that turns Vega-Lite into pictures. Everything but pictures works without it.
struct Renderer {
  std::filesystem::path python;  ///< an interpreter with vl-convert, <root>/.venv/bin/python
  std::filesystem::path script;  ///< <root>/src/report/page/render.py
  std::filesystem::path cache;   ///< a folder for the browser bundle, <root>/.difflab

  /// Where `./difflab` keeps them below the folder of the sources; where pip installed difflab, its
  /// interpreter, the script beside the program and the user's cache.
  static Renderer below(const std::filesystem::path& root);
};

/// A sweep as it was planned; whatever of it is finished gets reported.
struct Study {
  std::string name;        ///< experiment, e.g. headline
  std::string preset;      ///< e.g. default
  std::string title;       ///< question in a few words; empty: the name
  std::string question;    ///< what the experiment asks
  std::string prediction;  ///< what the source found, written before the runs
  std::string notes;       ///< limits, remarks
  std::string baseline;    ///< value of the first `rows` axis that others are compared with
  std::string unmatched;   ///< why compared models differ in size; empty: they do not
  std::optional<Tuned> tuned = {};  ///< empty: no key was tuned
  bool is_tuning = false;           ///< of another study, whose methods tell of it
  std::string command;              ///< command line that repeats the study
  Json settings = {};  ///< shown under "Settings"; null: what all run configurations share
  std::vector<PlannedRun> runs = {};  ///< in sweep order (last axis fastest)
  ReportConfig report;
  std::filesystem::path output;  ///< results/<experiment>/<preset>; made if missing
  Renderer renderer = {};
};

/// The runs as its report sees them, with the cells of looks if a figure draws them.
Frame frame_of(const Study& study, std::vector<FrameRun> runs);

/// The same for the runs as they stand in their directories.
Frame frame_of(const Study& study);

/// Names that tell apart the axes of its runs and what its tables, claims and figures show.
Labels labels_of(const Study& study, const Frame& frame);

}  // namespace difflab::report
