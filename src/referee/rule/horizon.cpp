// Times to an event are kept where some runs never got there, and are looked for often enough.
#include <algorithm>
#include <string>
#include <vector>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/learned.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr double kOftenEnough = 0.05;  // of the median time

std::vector<std::string> event_metrics(const CsvTable& table) {
  std::vector<std::string> keys;
  for (const auto& column : table.columns) {
    if (column.starts_with("mean_steps_to_")) keys.push_back(column.substr(5));
  }
  return keys;
}

bool is_compared(const CsvTable& comparisons, const std::string& metric) {
  for (std::size_t row = 0; row < comparisons.rows.size(); ++row) {
    const bool is_there = comparisons.number(row, "difference") || comparisons.number(row, "ratio");
    if (is_there && comparisons.text(row, "metric") == metric) return true;
  }
  return false;
}

// A metric of times that has censored runs and no comparison, though its table compares others.
void look_for_dropped(const Reference& one, const CsvTable& table, const std::string& metric,
                      Objections& objections) {
  double late = 0, runs = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    late += table.number(row, "censored_" + metric).value_or(0);
    runs += table.number(row, "n_" + metric).value_or(0);
  }
  if (late == 0) return;
  const auto name = table.file.substr(0, table.file.size() - 4) + ".paired.csv";
  for (const auto& comparisons : one.comparisons) {
    if (comparisons.file != name || is_compared(comparisons, metric)) continue;
    objections.object(
        one, name,
        concat(metric, " is not compared, as ", late, " of ", runs, " runs had not got there"));
  }
}

// The steps between two looks for the event.
std::optional<double> steps_between(const Reference& one, const std::string& metric) {
  const bool on_evaluations = metric == "steps_to_90_accuracy" || metric == report::kStepsToLearn;
  const auto found = one.values(on_evaluations ? "train.eval_every" : "train.event_every");
  return found.size() == 1 ? report::parse_number(*found.begin()) : std::nullopt;
}

void look_at_schedule(const Reference& one, const CsvTable& table, const std::string& metric,
                      Objections& objections) {
  double earliest = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto median = table.number(row, "median_" + metric);
    if (median && *median > 0) earliest = earliest > 0 ? std::min(earliest, *median) : *median;
  }
  if (earliest == 0) return;
  const auto every = steps_between(one, metric);
  if (!every) {
    return objections.cannot_check(one, table.file,
                                   concat("how often ", metric, " is checked is unknown"));
  }
  if (*every > kOftenEnough * earliest) {
    objections.object(one, table.file,
                      concat(metric, " is read every ", *every, " steps, ",
                             report::format_number(100 * *every / earliest, 0),
                             " % of the earliest median, ", earliest, "; 5 % at most"));
  }
}

// A rate that falls towards the last step lets the horizon move the event.
void look_at_rate(const Reference& one, const CsvTable& table, Objections& objections) {
  auto falling = one.values("train.schedule");
  falling.erase("constant");
  const auto ends = one.values("train.final_lr_ratio");
  if (falling.empty() || (ends.size() == 1 && *ends.begin() == "1")) return;
  objections.object(one, table.file,
                    concat("times to an event under a rate that falls to the horizon (",
                           join({falling.begin(), falling.end()}), ")"));
}

}  // namespace

void check_horizon(const Reference& one, Objections& objections) {
  for (const auto& table : one.tables) {
    const auto metrics = event_metrics(table);
    for (const auto& metric : metrics) {
      look_for_dropped(one, table, metric, objections);
      look_at_schedule(one, table, metric, objections);
    }
    if (!metrics.empty()) look_at_rate(one, table, objections);
  }
}

}  // namespace difflab::referee
