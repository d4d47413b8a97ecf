#include "report/table.h"

#include <algorithm>
#include <limits>
#include <set>

#include "report/format.h"
#include "report/pairs.h"
#include "util/text.h"

namespace difflab::report {
namespace {

void summarise(Cell& cell) {
  if (!cell.values.empty() && cell.bounds.empty()) {
    cell.mean = mean(cell.values);
    cell.interval = t_interval(cell.values);
  }
  std::vector<double> all = cell.values;
  all.insert(all.end(), cell.bounds.size(), std::numeric_limits<double>::infinity());
  if (all.empty()) return;
  const double middle = median(all);
  if (middle < std::numeric_limits<double>::infinity()) cell.median = middle;
}

Cell make_cell(const std::vector<const FrameRun*>& runs, const Metric& metric) {
  Cell cell;
  for (const FrameRun* run : runs) {
    if (!run->has_result()) continue;
    if (const auto value = run->metric(metric.key)) {
      cell.values.push_back(*value);
    } else if (const auto bound = run->censored_above(metric.key)) {
      cell.bounds.push_back(*bound);
    } else if (const Json* setting = run->config(metric.key)) {
      const std::string text = setting->is_string()   ? setting->get<std::string>()
                               : setting->is_number() ? plain_number(setting->get<double>())
                                                      : setting->dump();
      if (std::find(cell.settings.begin(), cell.settings.end(), text) == cell.settings.end()) {
        cell.settings.push_back(text);
      }
    }
  }
  summarise(cell);
  return cell;
}

std::string censored_text(const Cell& cell, const Metric& metric) {
  const double lowest = *std::min_element(cell.bounds.begin(), cell.bounds.end());
  const std::string bound = "> " + metric.text(lowest);
  if (cell.values.empty()) return bound;
  const std::size_t runs = cell.values.size() + cell.bounds.size();
  const std::string share = concat(cell.bounds.size(), " of ", runs);
  if (cell.median)
    return concat("median ", metric.text(*cell.median), " (", share, " ", bound, ")");
  const double best = *std::min_element(cell.values.begin(), cell.values.end());
  return concat(bound, " (", share, "; least ", metric.text(best), ")");
}

// Differences to the baseline on equal values of the axes that make no row.
Comparison compare(const Table& table, std::size_t row, std::size_t baseline, std::size_t column,
                   const Frame& frame) {
  const Pairs pairs = pair_runs(frame, table.rows[row].runs, table.rows[baseline].runs, table.axes,
                                table.columns[column].key);
  // Leaving the censored pairs out would favour the side that has them.
  return {.row = row,
          .column = column,
          .result = pairs.censored == 0 ? compare_paired(pairs.differences) : std::nullopt,
          .censored = pairs.censored};
}

std::optional<std::size_t> baseline_row(const Table& table, std::size_t row,
                                        const std::string& baseline) {
  auto key = table.rows[row].key;
  if (key.empty() || key[0] == baseline) return std::nullopt;
  key[0] = baseline;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].key == key) return i;
  }
  return std::nullopt;
}

bool is_compared(const TableConfig& config, const Table& table, std::size_t column) {
  const Metric& metric = table.columns[column];
  if (!config.compare.empty()) {
    return std::find(config.compare.begin(), config.compare.end(), metric.key) !=
           config.compare.end();
  }
  const bool censored = std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
    return !row.cells[column].bounds.empty();
  });
  return metric.better != Better::kNeither && !metric.is_time() && !censored;
}

void add_comparisons(const TableConfig& config, const Study& study, const Frame& frame,
                     const Labels& labels, Table& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (!is_compared(config, table, column)) continue;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (const auto baseline = baseline_row(table, row, study.baseline)) {
        table.comparisons.push_back(compare(table, row, *baseline, column, frame));
      }
    }
  }
  if (!table.comparisons.empty()) table.baseline = labels.value(study.baseline);
}

std::vector<TableRow> group_rows(const std::vector<std::string>& axes, const Frame& frame) {
  std::vector<TableRow> rows;
  for (const FrameRun& run : frame.runs()) {
    std::vector<std::string> key;
    for (const std::string& axis : axes) key.push_back(run.axis(axis));
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.key == key; });
    if (row == rows.end())
      row = rows.insert(rows.end(), TableRow{.key = key, .runs = {}, .cells = {}});
    row->runs.push_back(&run);
  }
  return rows;
}

std::string arrow(const Metric& metric) {
  return metric.better == Better::kHigher ? " ↑" : metric.better == Better::kLower ? " ↓" : "";
}

}  // namespace

std::string Cell::text(const Metric& metric, std::size_t expected) const {
  if (values.empty() && bounds.empty()) return join(settings);
  std::string text;
  if (!bounds.empty()) {
    text = censored_text(*this, metric);
  } else {
    text = metric.text(*mean);
    const bool all_equal = std::all_of(values.begin(), values.end(),
                                       [this](double value) { return value == values[0]; });
    if (interval && !(metric.is_fixed && all_equal)) {
      const double half = (interval->high - interval->low) / 2;
      Metric same_places = metric;
      if (!metric.decimals) {  // four digits of the mean decide the places of both
        const std::size_t point = text.find('.');
        same_places.decimals =
            point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
      }
      text += " ± " + same_places.text(half);
    }
  }
  const std::size_t runs = values.size() + bounds.size();
  if (runs != expected) text += concat(" (n = ", runs, ")");
  return text;
}

std::size_t TableRow::count(RunState state) const {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [state](const FrameRun* run) { return run->state == state; }));
}

std::size_t TableRow::results() const {
  return count(RunState::kFinished) + count(RunState::kDiverged);
}

std::string TableRow::troubles() const {
  std::vector<std::string> parts;
  std::vector<std::string> steps;
  for (const FrameRun* run : runs) {
    if (run->diverged_at) steps.push_back(format_number(*run->diverged_at, 0));
  }
  if (const std::size_t diverged = count(RunState::kDiverged); diverged > 0) {
    parts.push_back(concat(diverged, " diverged"));
    if (!steps.empty()) {
      parts.back() += concat(" (step", steps.size() > 1 ? "s " : " ", join(steps), ")");
    }
  }
  for (const RunState state :
       {RunState::kFailed, RunState::kInterrupted, RunState::kRunning, RunState::kMissing}) {
    if (count(state) > 0) parts.push_back(concat(count(state), " ", name_of(state)));
  }
  return join(parts);
}

std::string Table::row_label(const TableRow& row, const Labels& labels) const {
  std::vector<std::string> parts;
  for (const std::string& value : row.key) parts.push_back(labels.value(value));
  return parts.empty() ? "all runs" : join(parts, ", ");
}

Table build_table(const TableConfig& config, const Study& study, const Frame& frame,
                  const Labels& labels) {
  Table table;
  table.name = config.name;
  table.title = config.title.empty() ? study.title : config.title;
  table.axes = config.rows.names;
  if (table.title.empty()) table.title = study.name;
  if (table.axes.empty()) {
    for (const std::string& axis : frame.axes()) {
      if (axis != kSeedAxis) table.axes.push_back(axis);
    }
  }
  for (const std::string& axis : table.axes) table.axis_headings.push_back(labels.axis(axis));
  for (const std::string& column : config.columns) {
    table.columns.push_back(metric_of(column));
    table.headings.push_back(labels.axis_title(table.columns.back()) + arrow(table.columns.back()));
  }
  table.rows = group_rows(table.axes, frame);
  for (TableRow& row : table.rows) {
    for (const Metric& metric : table.columns) row.cells.push_back(make_cell(row.runs, metric));
  }
  add_comparisons(config, study, frame, labels, table);
  return table;
}

namespace {

// The rows that the seeds do not tell from the best one; the baseline has a sentence of its own.
std::vector<std::string> ties(const Table& table, const Frame& frame, const TableRow& best,
                              const Metric& metric, const Labels& labels) {
  std::vector<std::string> names;
  for (const TableRow& row : table.rows) {
    const auto name = table.row_label(row, labels);
    if (&row == &best || name == table.baseline) continue;
    const auto compared =
        compare_paired(pair_runs(frame, best.runs, row.runs, table.axes, metric.key).differences);
    if (!compared || !compared->interval) continue;
    if (compared->interval->low <= 0 && compared->interval->high >= 0) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string headline(const Table& table, const Frame& frame, const std::string& metric,
                     const Labels& labels) {
  std::size_t column = 0;
  while (column < table.columns.size() && table.columns[column].key != metric) ++column;
  if (column == table.columns.size()) return "";
  const Metric& shown = table.columns[column];
  if (shown.better == Better::kNeither) return "";
  const TableRow* best = nullptr;
  std::size_t rows = 0;
  for (const TableRow& row : table.rows) {
    const auto& cell = row.cells[column];
    if (!cell.mean) continue;
    ++rows;
    const bool better = best == nullptr ||
                        (shown.better == Better::kLower ? *cell.mean < *best->cells[column].mean
                                                        : *cell.mean > *best->cells[column].mean);
    if (better) best = &row;
  }
  if (best == nullptr) return "";
  const Cell& cell = best->cells[column];
  std::string text =
      concat("Best of ", rows, " by ", labels.heading(shown), ": ", table.row_label(*best, labels),
             " with ", cell.text(shown, cell.n()), " (n = ", cell.n(),
             cell.n() == 1 ? ", no interval from one run" : "", ").");
  if (const auto names = ties(table, frame, *best, shown, labels); !names.empty()) {
    text += concat(" The seeds do not tell it from: ", join(names), ".");
  }
  for (const Comparison& comparison : table.comparisons) {
    if (&table.rows[comparison.row] != best || comparison.column != column || !comparison.result)
      continue;
    const auto& [pairs, difference, interval, bootstrap, p] = *comparison.result;
    text += concat(" Against ", table.baseline, ": ", difference > 0 ? "+" : "",
                   shown.text(difference));
    if (!interval) return text + " in one pair, so nothing can be said about chance.";
    const bool resolved = interval->low > 0 || interval->high < 0;
    text +=
        concat(", 95 % interval ", shown.text(interval->low), " to ", shown.text(interval->high),
               resolved ? ", which excludes zero" : ", which includes zero: not resolved", " with ",
               pairs, " paired seeds.");
  }
  return text;
}

}  // namespace difflab::report
