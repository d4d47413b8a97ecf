// Runs that learned and runs that did not are two outcomes; a mean over both describes neither.
#include "report/data/learned.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "statistics/distributions.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// Shares whose values differ by more may well have two humps: those of equal numbers of 0 and 1
// have a standard deviation of .5, those spread evenly between 0 and 1 one of 1/√12.
const double kTwoOutcomes = 1 / std::sqrt(12.0);

constexpr double kAlmostOne = 1 - 1e-9;

// Means of what learning is asked for.
std::vector<report::Metric> asked_metrics(const CsvTable& table) {
  std::vector<report::Metric> asked;
  for (const auto& column : table.columns) {
    if (!column.starts_with("mean_")) continue;
    auto metric = report::metric_of(column.substr(5));
    const bool asks = metric.better != Better::kNeither && metric.is_of_learned();
    if (asks) asked.push_back(std::move(metric));
  }
  return asked;
}

// The runs of a row that got to an event, of how many; nothing if the table does not say.
struct Reached {
  double runs = 0, late = 0;
};
std::optional<Reached> reached(const CsvTable& table, std::size_t row) {
  for (const auto& column : table.columns) {
    if (!column.starts_with("censored_steps_to_")) continue;
    const auto late = table.number(row, column);
    const auto runs = table.number(row, "n_" + column.substr(9));
    if (late && runs) return Reached{*runs, *late};
  }
  return std::nullopt;
}

// The standard deviation behind an interval of mean_share_interval (statistics/share.h), by that
// end of it which lies within 0 and 1: |mean − end| = t · sd / √n · √(end (1 − end) / (mean (1 −
// mean))).
std::optional<double> spread(const CsvTable& table, std::size_t row, const std::string& key,
                             const std::string& count) {
  const auto mean = table.number(row, "mean_" + key), low = table.number(row, "low_" + key);
  const auto high = table.number(row, "high_" + key), n = table.number(row, count);
  if (!mean || !low || !high || !n || *n < 2) return std::nullopt;
  const double t = student_t_quantile(0.975, *n - 1);
  if (key.ends_with(report::kDifferenceSuffix)) {  // on Fisher's scale
    const double half = std::atanh(std::clamp(*high, -kAlmostOne, kAlmostOne)) -
                        std::atanh(std::clamp(*low, -kAlmostOne, kAlmostOne));
    return half / 2 * (1 - *mean * *mean) * std::sqrt(*n) / t;
  }
  const double end = *low > 0 ? *low : *high;
  if (end <= 0 || end >= 1 || *mean <= 0 || *mean >= 1) return std::nullopt;
  return std::abs(*mean - end) * std::sqrt(*n * *mean * (1 - *mean) / (end * (1 - end))) / t;
}

void look_at_rows(const Reference& one, const CsvTable& table, Objections& objections) {
  std::size_t mixed = 0;
  std::string first;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto got = reached(table, row);
    for (const auto& metric : asked_metrics(table)) {
      const auto& key = metric.key;
      const auto n = table.number(row, "n_" + key);
      if (!table.number(row, "mean_" + key)) continue;
      const bool half = got && got->late > 0 && got->late < got->runs && n && *n >= got->runs;
      const auto sd = metric.is_share() ? spread(table, row, key, "n_" + key) : std::nullopt;
      if (!half && sd.value_or(0) <= kTwoOutcomes) continue;
      ++mixed;
      if (!first.empty()) continue;
      first = concat(
          table.row_name(row), ", ", key, " ", metric.text(*table.number(row, "mean_" + key)),
          half ? concat(" with ", got->late, " of ", got->runs, " runs not there yet")
               : concat(" with a standard deviation of ", report::format_number(*sd, 2)));
    }
  }
  if (mixed == 0) return;
  objections.object(
      one, table.file,
      concat(mixed, " means over runs that learned and runs that did not; the ", "first: ", first));
}

// Each group of a figure, by the same measure.
void look_at_figure(const Reference& one, const CsvTable& table, Objections& objections) {
  if (table.has("step") || table.has("tokens")) return;  // curves show how each kind went
  for (const auto& metric : asked_metrics(table)) {
    if (!metric.is_share()) continue;
    const auto& key = metric.key;
    // A difference varies with both of its sides.
    const bool is_difference = key.ends_with(report::kDifferenceSuffix);
    const double most = is_difference ? std::sqrt(2.0) * kTwoOutcomes : kTwoOutcomes;
    std::size_t mixed = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (spread(table, row, key, "n").value_or(0) > most) ++mixed;
    }
    if (mixed == 0) continue;
    objections.object(one, table.file,
                      concat(mixed, " of ", table.rows.size(), " means of ", key,
                             " have a standard deviation above ", report::format_number(most, 2)));
  }
}

bool tells_who_learned(const Reference& one) {
  if (one.archive && one.archive->study.report.learned.given()) return true;
  return one.measures(report::kLearned);
}

}  // namespace

void check_learned(const Reference& one, Objections& objections) {
  for (const auto& table : one.tables) look_at_rows(one, table, objections);
  for (const auto& figure : one.figures) look_at_figure(one, figure, objections);
  // A language model has no task that a run learns or not.
  const bool is_language = one.values("task.kind").count("text") > 0;
  if (!one.is_trained() || is_language || tells_who_learned(one)) return;
  for (const auto& table : one.tables) {
    for (const auto& metric : asked_metrics(table)) {
      if (!metric.is_share()) continue;  // of a share alone learned or not can be asked
      return objections.cannot_check(one, table.file,
                                     concat("nothing says which runs learned, and ", metric.key,
                                            " is averaged over all of them"));
    }
  }
}

}  // namespace difflab::referee
