// No printed interval leaves the range of its metric.
#include <limits>

#include "referee/rule/rules.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr double kRounding = 1e-9;

struct MetricRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool holds(double value) const { return value >= low - kRounding && value <= high + kRounding; }
};

MetricRange range_of(const std::string& key, bool is_difference) {
  const auto metric = report::metric_of(key);
  if (metric.is_share()) return is_difference ? MetricRange{-1, 1} : MetricRange{0, 1};
  return is_difference ? MetricRange{} : MetricRange{.low = metric.least};
}

// Counts the intervals of one column pair that leave the range.
class Counter {
 public:
  void look(const CsvTable& table, std::size_t row, const std::string& low_column,
            const std::string& high_column, const std::string& key, bool is_difference) {
    const auto low = table.number(row, low_column), high = table.number(row, high_column);
    if (!low || !high) return;
    ++all_;
    const auto range = range_of(key, is_difference);
    if (range.holds(*low) && range.holds(*high)) return;
    ++outside_;
    if (!first_.empty()) return;
    const auto metric = report::metric_of(key);
    first_ =
        concat(table.row_name(row), ", ", key, " ", metric.text(*low), " to ", metric.text(*high));
  }
  void tell(const Reference& one, const CsvTable& table, Objections& objections) const {
    if (outside_ == 0) return;
    objections.object(one, table.file,
                      concat(outside_, " of ", all_, " intervals leave the range of their metric; ",
                             "the first: ", first_));
  }

 private:
  std::size_t all_ = 0, outside_ = 0;
  std::string first_;
};

// mean_X, low_X, high_X, of tables and figures alike.
void look_at_means(const Reference& one, const CsvTable& table, Objections& objections) {
  Counter counter;
  for (const auto& column : table.columns) {
    if (!column.starts_with("low_")) continue;
    auto key = column.substr(4);
    const bool is_difference = key.ends_with(report::kDifferenceSuffix);
    if (is_difference) key.erase(key.size() - report::kDifferenceSuffix.size());
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      counter.look(table, row, column, "high_" + column.substr(4), key, is_difference);
    }
  }
  counter.tell(one, table, objections);
}

}  // namespace

void check_intervals(const Reference& one, Objections& objections) {
  for (const auto& table : one.tables) look_at_means(one, table, objections);
  for (const auto& figure : one.figures) look_at_means(one, figure, objections);
  for (const auto& table : one.comparisons) {
    Counter counter;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      counter.look(table, row, "low", "high", table.text(row, "metric"), true);
    }
    counter.tell(one, table, objections);
  }
}

}  // namespace difflab::referee
