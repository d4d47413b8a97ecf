#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "statistics/describe.h"

namespace difflab::report {

struct Study;
struct TableConfig;

/// One metric over the runs of one row.
struct Cell {
  std::vector<double> values;         ///< of the runs that have it, in sweep order
  std::vector<double> bounds;         ///< of the runs known only to exceed this
  std::vector<std::string> settings;  ///< a configuration value instead: its distinct texts
  std::size_t unlearned = 0;          ///< runs left out, as they have not learned the task
  std::optional<double> mean;         ///< empty if there is no value or any is censored
  std::optional<Interval> interval;  ///< empty for fewer than two values or any censored; of shares
                                     ///< within [0, 1]
  std::optional<double> median;      ///< of Kaplan and Meier's curve if any is censored
  std::optional<Interval> median_interval;  ///< if any is censored; its end may be infinite

  std::size_t n() const { return values.size(); }
  std::size_t runs() const { return values.size() + bounds.size() + unlearned; }
  /// "2.413 ± 0.012", of shares "0.953 [0.941, 0.962]", "0.953" for one run, "3/5 [0.23, 0.88]" of
  /// what happened or not, "3/5 learned [0.23, 0.88]: 0.998", "> 1,600", "median 1,000 (1 of 3 >
  /// 1,600)", "" for nothing; says its n if that is not `expected`.
  std::string text(const Metric& metric, std::size_t expected) const;
};

struct TableRow {
  std::vector<std::string> key;       ///< values of the row axes
  std::vector<const FrameRun*> runs;  ///< none: no value of the tuned key works
  std::vector<Cell> cells;            ///< one per column

  std::size_t count(RunState state) const;
  std::size_t results() const;  ///< finished or diverged
  /// "1 diverged (step 120), 1 failed", "not tunable", "" if all is well.
  std::string troubles() const;
};

/// A variant against the baseline row that agrees with it on the other row axes.
struct Comparison {
  std::size_t row;     ///< index into Table::rows
  std::size_t column;  ///< index into Table::columns
  Pairs pairs;
  std::optional<Contrast> result;          ///< empty: nothing to pair
  std::optional<Interval> bootstrap = {};  ///< of the difference, percentiles; none of ratios
  double p_holm = 1;                       ///< p among all comparisons of the table
};

struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> axes;  ///< of the rows
  std::vector<std::string> axis_headings;
  std::vector<Metric> columns;
  std::vector<std::string> headings;  ///< of the columns, with unit and arrow
  std::vector<TableRow> rows;
  std::vector<Comparison> comparisons;  ///< by column, then by row
  bool has_ratios = false;              ///< among the comparisons
  std::string baseline;                 ///< label; empty: no comparison
  std::string settings;                 ///< what all runs share, for the files that stand alone
  /// Times that are left out, and why, as a sentence; empty: none are. Seconds and speeds are data
  /// only of runs that were alone (data/company.h).
  std::string left_out;
  std::vector<std::string> answers;  ///< what the runs say to the claims; first table only
  std::vector<std::string> notes;    ///< sentences that belong under the table

  std::string row_label(const TableRow& row, const Labels& labels) const;
  /// How many comparisons have a p: for their number each is adjusted.
  std::size_t tested() const;
};

/// Builds the table from the runs of the frame that have a result.
Table build_table(const TableConfig& config, const Study& study, const Frame& frame,
                  const Labels& labels);

/// The answer in one sentence, from the comparison of `metric` in `table`.
std::string headline(const Table& table, const Frame& frame, const std::string& metric,
                     const Labels& labels);

}  // namespace difflab::report
