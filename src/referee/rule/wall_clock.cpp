// Seconds and speeds are data only of runs that were alone on an idle machine.
#include <algorithm>
#include <ctime>
#include <set>

#include "record/provenance.h"
#include "referee/rule/rules.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

struct Span {
  std::string id, host;
  std::time_t from, to;
};

std::vector<Span> spans_of(const Reference& one) {
  std::vector<Span> spans;
  for (const Json& run : one.runs) {
    const auto provenance = run.find("provenance");
    if (provenance == run.end() || !provenance->is_object()) continue;
    const auto from = recorded_time(*provenance, "started");
    const auto to = recorded_time(*provenance, "finished");
    if (!from || !to) continue;
    spans.push_back({run.value("id", ""), provenance->value("host", ""), *from, *to});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.from < b.from; });
  return spans;
}

// Two runs that were at work on one machine at the same time.
std::string together(const std::vector<Span>& spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (std::size_t j = i + 1; j < spans.size() && spans[j].from < spans[i].to; ++j) {
      if (spans[j].host == spans[i].host) return concat(spans[i].id, " and ", spans[j].id);
    }
  }
  return "";
}

// The metrics of speed or time that a file shows.
std::set<std::string> times_in(const CsvTable& table) {
  std::set<std::string> keys;
  for (const auto& column : table.columns) {
    if (!column.starts_with("mean_")) continue;
    const auto key = column.substr(5);
    if (report::metric_of(key).is_time() || key.find("per_second") != key.npos) keys.insert(key);
  }
  return keys;
}

// What an idle system does beside a run.
constexpr double kIdle = 0.1;  // cores

struct Company {
  std::string run;    ///< that was not alone, with how much beside it; empty: all were
  bool known = true;  ///< whether all runs say so
};

Company company_of(const Reference& one) {
  Company company;
  for (const Json& run : one.runs) {
    const auto provenance = run.find("provenance");
    const bool has = provenance != run.end() && provenance->is_object();
    const auto cores = has ? provenance->value("cores_busy_elsewhere", Json()) : Json();
    if (!cores.is_number()) {
      company.known = false;
    } else if (cores.get<double>() > kIdle && company.run.empty()) {
      company.run = concat(run.value("id", ""), " beside ", cores.get<double>(), " busy cores");
    }
  }
  return company;
}

void look_at_times(const Reference& one, const CsvTable& table, const std::string& pair,
                   Objections& objections) {
  const auto times = times_in(table);
  if (times.empty()) return;
  const auto list = join({times.begin(), times.end()});
  const auto company = company_of(one);
  if (!pair.empty() || !company.run.empty()) {
    objections.object(
        one, table.file,
        concat(list, " of runs that shared a machine: ", pair.empty() ? company.run : pair));
  } else if (!company.known) {
    objections.cannot_check(
        one, table.file, concat(list, ": no run records whether its machine was idle otherwise"));
  }
}

}  // namespace

void check_wall_clock(const Reference& one, Objections& objections) {
  const auto pair = together(spans_of(one));
  for (const auto& table : one.tables) look_at_times(one, table, pair, objections);
  for (const auto& figure : one.figures) look_at_times(one, figure.data, pair, objections);
}

}  // namespace difflab::referee
