#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report/page/figure_files.h"
#include "report/settings/study.h"
#include "report/table/claim.h"
#include "util/json.h"

namespace difflab::report {

struct Summary {
  std::string text;  ///< to print as it is: tables, notes, the paths that were written
  int planned = 0;
  int finished = 0;  ///< with a result, diverged ones included
  int diverged = 0;
  int failed = 0;                     ///< ended without a result
  double drawing_seconds = 0;         ///< wall-clock, for figures
  bool has_failed_to_draw = false;    ///< though a renderer is there
  std::vector<std::string> warnings;  ///< e.g. the renderer is missing; part of `text`, too
};

/// summary.json: a report in a few lines, enough for the gallery where the runs themselves are
/// missing, e.g. in a fresh clone.
Json summary_json(const Study& study, const Summary& summary, const std::string& best,
                  const std::vector<Answer>& answers, const std::vector<Figure>& figures);

/// Core seconds by run: wall time from start to end, times the threads. A run that several
/// experiments share has one id, so a sum over maps that are merged counts it once.
using CoreTime = std::map<std::string, double>;

/// Core time of the runs of a report and of its tuning, from the runs.json of each folder. A
/// session that was killed has no end time and does not count.
CoreTime core_time_of(const std::filesystem::path& report);

/// Sum over all runs, in hours.
double core_hours(const CoreTime& runs);

/// "1.8 core-hours"; "less than 0.1 core-hours".
std::string core_hours_text(double hours);

/// One experiment of the gallery.
struct Exhibit {
  std::string name;
  std::string title;
  std::string topic = {};             ///< heading that it stands under; empty: that of all others
  Json summary = nullptr;             ///< null: not run yet
  std::filesystem::path folder = {};  ///< of its report, relative to the gallery's
  CoreTime core_time = {};            ///< of its runs and those of its tuning
  /// Its claims that have a p, as if each were the only one, and whether the verdict has a
  /// direction.
  struct Test {
    double p;
    bool takes_side;
  };
  std::vector<Test> tests = {};
};

/// results/README.md: for each topic a table of experiments with answer, effect and thumbnail.
std::string gallery_markdown(const std::vector<Exhibit>& exhibits);

/// results/index.html: the same as a page that needs nothing but the files beside it.
std::string gallery_html(const std::vector<Exhibit>& exhibits);

}  // namespace difflab::report
