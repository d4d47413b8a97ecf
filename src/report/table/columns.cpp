#include <algorithm>

#include "report/data/company.h"
#include "report/settings/report_config.h"
#include "report/table/table.h"
#include "util/text.h"

namespace difflab::report {

std::vector<Metric> columns_of(const TableConfig& config, const Frame& frame, const Labels& labels,
                               std::string& left_out) {
  std::vector<Metric> columns, others;
  std::vector<std::string> times;
  for (const std::string& key : config.columns) {
    columns.push_back(metric_of(key));
    if (columns.back().is_of_machine()) {
      times.push_back(labels.heading(columns.back()));
    } else {
      others.push_back(columns.back());
    }
  }
  const auto company = times.empty() ? "" : company_of(frame.all_runs()).with;
  if (company.empty()) return columns;
  const bool keeps = std::all_of(others.begin(), others.end(), [](const Metric& metric) {
    return metric.better == Better::kNeither;
  });
  const std::string what = keeps ? "These times are not those of an idle machine"
                                 : concat("Left out: ", join(times), ". Runs shared a machine");
  left_out = concat(what, ": ", company, ". Times are data of runs that were alone ",
                    "(launcher.workers=1, and nothing else at work).");
  return keeps ? columns : others;
}

}  // namespace difflab::report
