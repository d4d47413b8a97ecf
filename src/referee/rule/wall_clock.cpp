// Seconds and speeds are data only of runs that were alone on an idle machine.
#include <set>
#include <utility>

#include "referee/rule/rules.h"
#include "report/data/company.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// The metrics of speed or time that a file shows.
std::set<std::string> times_in(const CsvTable& table) {
  std::set<std::string> keys;
  for (const auto& column : table.columns) {
    if (!column.starts_with("mean_")) continue;
    const auto key = column.substr(5);
    if (report::metric_of(key).is_of_machine()) keys.insert(key);
  }
  return keys;
}

report::Company company_of(const Reference& one) {
  std::vector<std::pair<std::string, const Json*>> runs;
  for (const Json& run : one.runs)
    runs.emplace_back(run.at("id").get<std::string>(), &run.at("provenance"));
  return report::company_of(runs);
}

void look_at_times(const Reference& one, const CsvTable& table, const report::Company& company,
                   Objections& objections) {
  const auto times = times_in(table);
  if (times.empty()) return;
  const auto list = join({times.begin(), times.end()});
  if (!company.with.empty()) {
    objections.object(one, table.file,
                      concat(list, " of runs that shared a machine: ", company.with));
  } else if (!company.known) {
    objections.cannot_check(
        one, table.file, concat(list, ": no run records whether its machine was idle otherwise"));
  }
}

}  // namespace

void check_wall_clock(const Reference& one, Objections& objections) {
  const auto company = company_of(one);
  for (const auto& table : one.tables) look_at_times(one, table, company, objections);
  for (const auto& figure : one.figures) look_at_times(one, figure, company, objections);
}

}  // namespace difflab::referee
