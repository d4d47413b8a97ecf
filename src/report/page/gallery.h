#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/page/core_time.h"
#include "report/page/figure_files.h"
#include "report/settings/study.h"
#include "report/table/claim.h"
#include "util/json.h"

namespace difflab::report {

struct Summary;

/// summary.json: a report in a few lines, enough for the gallery where the runs themselves are
/// missing, e.g. in a fresh clone.
Json summary_json(const Study& study, const Summary& summary, const std::string& best,
                  const std::vector<Answer>& answers, const std::vector<Figure>& figures);

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
