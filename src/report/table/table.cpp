#include "report/table/table.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/data/company.h"
#include "report/data/format.h"
#include "report/data/learned.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "statistics/holm.h"
#include "statistics/paired.h"
#include "statistics/share.h"
#include "statistics/survival.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool are_equal(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

void summarise(Cell& cell, const Metric& metric) {
  if (!cell.values.empty() && cell.bounds.empty()) {
    // A mean of equal numbers may be off in the last digit.
    const bool is_one = metric.is_fixed && are_equal(cell.values);
    cell.mean = is_one ? cell.values.front() : mean(cell.values);
    cell.interval = interval_of_mean(cell.values, metric);
  }
  if (cell.bounds.empty()) {
    if (!cell.values.empty()) cell.median = median(cell.values);
    return;
  }
  std::vector<Lifetime> lives;
  for (const double time : cell.values) lives.push_back({time});
  for (const double bound : cell.bounds) lives.push_back({bound, false});
  cell.median = median_lifetime(lives);
  cell.median_interval = median_lifetime_interval(lives);
}

Cell make_cell(const std::vector<const FrameRun*>& runs, const Metric& metric) {
  Cell cell;
  for (const FrameRun* run : runs) {
    if (!run->has_result()) continue;
    // A run that diverged has no value; what is a setting is no metric.
    const bool is_lost = run->state == RunState::kDiverged && run->config(metric.key) == nullptr;
    const bool is_there = run->metric(metric.key) || is_lost;
    if (is_there && is_unlearned(*run, metric)) {
      ++cell.unlearned;
    } else if (const auto value = run->metric(metric.key)) {
      cell.values.push_back(*value);
    } else if (const auto bound = run->censored_above(metric.key)) {
      cell.bounds.push_back(*bound);
    } else if (const Json* setting = run->config(metric.key)) {
      add_new(cell.settings, text_of(*setting));
    }
  }
  summarise(cell, metric);
  return cell;
}

std::string censored_text(const Cell& cell, const Metric& metric) {
  const double lowest = *std::ranges::min_element(cell.bounds);
  const double highest = *std::ranges::max_element(cell.bounds);
  const std::string bound = "> " + metric.text(lowest);
  if (cell.values.empty()) return bound;
  const std::size_t runs = cell.values.size() + cell.bounds.size();
  const std::string share = concat(cell.bounds.size(), " of ", runs);
  if (cell.median) {
    std::string range;
    if (const auto& found = cell.median_interval) {
      range = concat(
          " [", metric.text(found->low), ", ",
          std::isfinite(found->high) ? metric.text(found->high) : "> " + metric.text(highest), "]");
    }
    return concat("median ", metric.text(*cell.median), range, " (", share, " ", bound, ")");
  }
  const double best = *std::ranges::min_element(cell.values);
  return concat(bound, " (", share, "; least ", metric.text(best), ")");
}

// "3/5 learned [0.23, 0.88]" with Wilson's interval.
std::string counted(std::size_t of, std::size_t runs, std::string_view what) {
  const auto interval =
      wilson_interval(static_cast<std::int64_t>(of), static_cast<std::int64_t>(runs));
  return concat(of, "/", runs, what, " [", format_number(interval->low, 2), ", ",
                format_number(interval->high, 2), "]");
}

// Text for the runs that have a value: a count, or their mean with its interval.
std::string value_text(const Cell& cell, const Metric& metric) {
  const auto& interval = cell.interval;
  const auto& values = cell.values;
  if (metric.outcome == Outcome::kHappened) {
    return counted(static_cast<std::size_t>(std::ranges::count(values, 1.0)), values.size(), "");
  }
  std::string text = metric.text(*cell.mean);
  if (!interval || (metric.is_fixed && are_equal(values))) return text;
  // An interval that the metric's range cuts off is not symmetric about the mean.
  const bool is_cut = interval->low == metric.least && *cell.mean > metric.least;
  if (metric.outcome == Outcome::kShare || is_cut) {
    return concat(text, " [", metric.text(interval->low), ", ", metric.text(interval->high), "]");
  }
  Metric same_places = metric;
  if (!metric.decimals) {  // four digits of the mean decide the places of both
    const std::size_t point = text.find('.');
    same_places.decimals =
        point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  }
  return text + " ± " + same_places.text((interval->high - interval->low) / 2);
}

// Differences to the baseline on equal values of the axes that make no row.
Comparison compare(const Table& table, std::size_t row, std::size_t baseline, std::size_t column,
                   const Frame& frame) {
  const Metric& metric = table.columns[column];
  const auto &ours = table.rows[row].runs, &theirs = table.rows[baseline].runs;
  Pairs pairs = pair_runs(frame, ours, theirs, table.axes, metric);
  const auto result = contrast(pairs, metric);
  const auto bootstrap = pairs.is_ratio ? std::nullopt : bca_interval(pairs.differences);
  return {row, column, std::move(pairs), result, bootstrap};
}

std::optional<std::size_t> baseline_row(const Table& table, std::size_t row,
                                        const std::string& baseline) {
  auto key = table.rows[row].key;
  if (key.empty() || is_same_value(key[0], baseline)) return std::nullopt;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& other = table.rows[i].key;
    if (is_same_value(other[0], baseline) &&
        std::equal(key.begin() + 1, key.end(), other.begin() + 1)) {
      return i;
    }
  }
  return std::nullopt;
}

bool has_p(const Comparison& comparison) {
  return comparison.result && comparison.result->pairs > 1;
}

void correct_for_number(std::vector<Comparison>& comparisons) {
  std::vector<double> p;
  std::vector<Comparison*> tested;
  for (auto& comparison : comparisons) {
    if (!has_p(comparison)) continue;
    p.push_back(comparison.result->p);
    tested.push_back(&comparison);
  }
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->p_holm = adjusted[i];
}

void add_comparisons(const TableConfig& config, const Study& study, const Frame& frame,
                     const Labels& labels, Table& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (!config.compares(table.columns[column])) continue;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (const auto baseline = baseline_row(table, row, study.baseline)) {
        table.comparisons.push_back(compare(table, row, *baseline, column, frame));
        table.has_ratios = table.has_ratios || table.comparisons.back().pairs.is_ratio;
      }
    }
  }
  correct_for_number(table.comparisons);
  if (!table.comparisons.empty()) table.baseline = labels.value(study.baseline);
}

// The row of this key, which is made where there is none.
TableRow& row_with(std::vector<TableRow>& rows, std::vector<std::string> key) {
  const auto row = std::ranges::find_if(rows, [&](const auto& one) { return one.key == key; });
  if (row != rows.end()) return *row;
  return rows.emplace_back(TableRow{.key = std::move(key), .runs = {}, .cells = {}});
}

// A tuned variant has a row whether it has runs or not, in the order of the sweep.
std::vector<TableRow> group_rows(const std::vector<std::string>& axes, const Study& study,
                                 const Frame& frame) {
  std::vector<TableRow> rows;
  const auto row_of = [&](const auto& values) -> TableRow& {
    std::vector<std::string> key;
    for (const std::string& axis : axes) key.push_back(value_of_axis(values, axis));
    return row_with(rows, std::move(key));
  };
  if (study.tuned) {
    for (const auto& variant : study.tuned->variants) row_of(variant.axes);
  }
  for (const FrameRun& run : frame.runs()) row_of(run.plan.axes).runs.push_back(&run);
  return rows;
}

std::string arrow(const Metric& metric) {
  return metric.better == Better::kHigher ? " ↑" : metric.better == Better::kLower ? " ↓" : "";
}

// Rows of which more have learned are better; among those the better mean is.
bool is_better(const Cell& one, const Cell& other, const Metric& metric) {
  const auto learned = [](const Cell& cell) {
    return static_cast<double>(cell.values.size()) / static_cast<double>(cell.runs());
  };
  if (learned(one) != learned(other)) return learned(one) > learned(other);
  return metric.better == Better::kLower ? *one.mean < *other.mean : *one.mean > *other.mean;
}

// Rows that enough seeds do not tell from the best; the baseline has a sentence of its own.
std::vector<std::string> ties(const Table& table, const Frame& frame, const TableRow& best,
                              const Metric& metric, const Labels& labels) {
  std::vector<std::string> names, tied;
  std::vector<Contrast> contrasts;
  std::vector<double> p;
  for (const TableRow& row : table.rows) {
    const auto name = table.row_label(row, labels);
    if (&row == &best || is_same_value(name, table.baseline)) continue;
    const auto found = contrast(pair_runs(frame, best.runs, row.runs, table.axes, metric), metric);
    const auto needed = pairs_for_verdict(metric, table.rows.size() - 1, frame.times());
    if (!found || found->pairs < needed) continue;
    names.push_back(name);
    contrasts.push_back(*found);
    p.push_back(found->p);
  }
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_resolved(contrasts[i], adjusted[i])) tied.push_back(names[i]);
  }
  return tied;
}

std::string against_baseline(const Table& table, const Comparison& comparison, const Metric& metric,
                             const TimesConfig& times) {
  const Contrast& found = *comparison.result;
  const auto needed = pairs_for_verdict(metric, table.tested(), times);
  auto text = concat(" Against ", table.baseline, ": ", effect_cell(metric, found));
  if (found.interval) {
    text += concat(" [", range_text(metric, found.interval, found.is_ratio, ", "), "]");
  }
  text += concat(", ", found.pairs, found.pairs == 1 ? " pair of seeds" : " paired seeds");
  if (const auto lost = comparison.pairs.diverged; lost > 0) {
    text += concat(" beside ", lost, " in which a run diverged");
    if (are_too_many(lost, found.pairs + lost)) {
      return text + ": the others are no answer for all.";
    }
  }
  if (found.pairs < needed) return text + concat(": too few to say so; ", needed, " needed.");
  return text + concat(", ", named_p(comparison.p_holm), " (Holm, ",
                       number_of(table.tested(), "comparison"), ")",
                       is_resolved(found, comparison.p_holm) ? "." : ": not resolved.");
}

// True if rows differ in the task of the models: the easiest task makes no best model.
bool mixes_tasks(const Table& table) {
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    if (table.axes[axis] != "task" && !table.axes[axis].starts_with("task.")) continue;
    for (const TableRow& row : table.rows) {
      if (row.key[axis] != table.rows.front().key[axis]) return true;
    }
  }
  return false;
}

// The columns of a table, without times of runs that were not alone (data/company.h). A table that
// compares nothing else keeps them.
// @param left_out gets what is left out or doubtful, and why, as a sentence
std::vector<Metric> table_columns(const TableConfig& config, const Frame& frame,
                                  const Labels& labels, std::string& left_out) {
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
  const bool keeps = std::ranges::all_of(
      others, [](const Metric& metric) { return metric.better == Better::kNeither; });
  const std::string what = keeps ? "These times are not those of an idle machine"
                                 : concat("Left out: ", join(times), ". Runs shared a machine");
  left_out = concat(what, ": ", company, ". Times are data of runs that were alone ",
                    "(launcher.workers=1, and nothing else at work).");
  return keeps ? columns : others;
}

}  // namespace

std::string Cell::text(const Metric& metric, std::size_t expected) const {
  if (runs() == 0) return join(settings);
  std::string text;
  if (unlearned > 0) text = counted(values.size(), runs(), " learned");
  if (unlearned > 0 && !values.empty()) text += ": ";
  if (!bounds.empty()) {
    text = censored_text(*this, metric);
  } else if (!values.empty()) {
    text += value_text(*this, metric);
  }
  if (runs() != expected) text += concat(" (n = ", runs(), ")");
  return text;
}

std::size_t TableRow::count(RunState state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(runs, [state](const FrameRun* run) { return run->state == state; }));
}

std::size_t TableRow::results() const {
  return count(RunState::kFinished) + count(RunState::kDiverged);
}

std::string TableRow::troubles() const {
  if (runs.empty()) return "not tunable";
  std::vector<std::string> parts, steps;
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
       {RunState::kFailed, RunState::kInterrupted, RunState::kRunning, RunState::kNew}) {
    if (count(state) > 0) parts.push_back(concat(count(state), " ", shown(state)));
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
  table.columns = table_columns(config, frame, labels, table.left_out);
  for (const Metric& column : table.columns) {
    table.headings.push_back(labels.axis_title(column) + arrow(column));
  }
  table.rows = group_rows(table.axes, study, frame);
  for (TableRow& row : table.rows) {
    for (const Metric& metric : table.columns) row.cells.push_back(make_cell(row.runs, metric));
  }
  add_comparisons(config, study, frame, labels, table);
  return table;
}

std::size_t Table::tested() const {
  return static_cast<std::size_t>(std::ranges::count_if(comparisons, has_p));
}

std::string headline(const Table& table, const Frame& frame, const std::string& metric,
                     const Labels& labels) {
  std::size_t column = 0;
  while (column < table.columns.size() && table.columns[column].key != metric) ++column;
  if (column == table.columns.size()) return "";
  const Metric& shown = table.columns[column];
  if (shown.better == Better::kNeither || mixes_tasks(table)) return "";
  const TableRow* best = nullptr;
  std::size_t rows = 0;
  for (const TableRow& row : table.rows) {
    const auto& cell = row.cells[column];
    if (!cell.bounds.empty()) return "";  // a row that is left out may be the best
    if (!cell.mean) continue;
    ++rows;
    if (best == nullptr || is_better(cell, best->cells[column], shown)) best = &row;
  }
  if (best == nullptr) return "";
  const Cell& cell = best->cells[column];
  std::string text =
      concat("Best of ", rows, " by ", labels.heading(shown), ": ", table.row_label(*best, labels),
             " with ", cell.text(shown, cell.runs()), " (n = ", cell.runs(),
             cell.runs() == 1 ? ", no interval from one run" : "", ").");
  if (const auto names = ties(table, frame, *best, shown, labels); !names.empty()) {
    text += concat(" The seeds do not separate it from: ", join(names), ".");
  }
  for (const Comparison& comparison : table.comparisons) {
    const bool is_best = &table.rows[comparison.row] == best && comparison.column == column;
    if (is_best && comparison.result)
      text += against_baseline(table, comparison, shown, frame.times());
  }
  return text;
}

}  // namespace difflab::report
