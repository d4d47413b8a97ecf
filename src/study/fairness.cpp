#include "study/fairness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/cost.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/pairs.h"
#include "report/table/claim.h"
#include "run/input_files.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::study {
namespace {

std::vector<std::string> axes_of(const Study& study) {
  std::vector<std::string> axes;
  if (study.points.empty()) return axes;
  for (const auto& [axis, value] : study.points.front().axes) axes.push_back(axis);
  return axes;
}

struct Sized {
  std::string variant;
  std::int64_t parameters;
};

bool is_smaller(const Sized& a, const Sized& b) { return a.parameters < b.parameters; }

// One model a line, the smallest first.
std::string size_list(std::vector<Sized> models) {
  std::ranges::stable_sort(models, is_smaller);
  std::vector<std::string> parts;
  for (const auto& [variant, parameters] : models) {
    parts.push_back(concat(
        "  ", report::pad_left(report::format_number(static_cast<double>(parameters), 0), 14), "  ",
        variant));
  }
  return join(parts, "\n");
}

// The models that are compared with each other, by the settings that they share.
std::map<std::string, std::vector<Sized>> compared_models(const Study& study,
                                                          const std::string& compared) {
  std::map<std::string, std::vector<Sized>> groups;
  for (const auto& point : study.points) {
    std::vector<std::string> shared;
    std::string variant;
    for (const auto& [axis, value] : point.axes) {
      if (axis == compared) variant = value;
      if (axis != compared && axis != report::kSeedAxis) shared.push_back(axis + "=" + value);
    }
    auto& models = groups[join(shared)];
    const bool known =
        std::ranges::any_of(models, [&](const Sized& one) { return one.variant == variant; });
    if (known) continue;
    const auto& run = study.config_of(point);
    models.push_back({variant, count_parameters(run.model, vocab_size_of(run)).total()});
  }
  return groups;
}

// How many comparisons with the baseline a column of the table will have.
std::size_t compared_rows(const report::TableConfig& table, const Study& study) {
  const auto compared = report::compared_axis(study.config.report, axes_of(study));
  const auto& rows = table.rows.names;
  std::set<Axes> all;
  for (const auto& point : study.points) {
    auto axes = report::without_seed(point.axes);
    std::erase_if(axes,
                  [&](const auto& axis) { return !rows.empty() && !is_among(axis.first, rows); });
    all.insert(std::move(axes));
  }
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](Axes axes) {
    for (auto& [axis, value] : axes) {
      if (axis != compared) continue;
      if (report::is_same_value(value, study.config.baseline)) return false;
      value = study.config.baseline;
    }
    return all.count(axes) > 0;
  }));
}

// Pairs of seeds with which a comparison of the tables can be a verdict at all.
std::size_t needed_in_tables(const Study& study) {
  std::size_t needed = report::pairs_for_verdict({}, 1);
  for (const auto& table : study.config.report.tables) {
    std::vector<report::Metric> columns;
    for (const auto& column : table.columns) columns.push_back(report::metric_of(column));
    std::erase_if(columns, [&](const auto& column) { return !table.compares(column); });
    for (const auto& column : columns) {
      needed = std::max(
          needed, report::pairs_for_verdict(column, columns.size() * compared_rows(table, study),
                                            study.config.report.times));
    }
  }
  return needed;
}

}  // namespace

void require_matched(const Study& study) {
  if (!study.config.unmatched.empty()) return;
  const auto compared = report::compared_axis(study.config.report, axes_of(study));
  if (compared.empty()) return;
  for (const auto& [shared, models] : compared_models(study, compared)) {
    const auto [least, most] = std::ranges::minmax_element(models, is_smaller);
    const double apart = static_cast<double>(most->parameters - least->parameters) /
                         static_cast<double>(least->parameters);
    if (apart <= kMatchedWithin) continue;
    throw UserError(fmt::format(
        "{}: the models compared along {}{} differ by {:.1f} % in their parameters; expected at "
        "most {:.0f} %\n{}\nMatch them (./difflab params {} counts), or say in the experiment file "
        "why they are not: `unmatched: reason`",
        study.name, compared, shared.empty() ? "" : " at " + shared, 100 * apart,
        100 * kMatchedWithin, size_list(models), study.name));
  }
}

std::string too_few_seeds(const Study& study) {
  const auto& report = study.config.report;
  const bool compares =
      !report.claims.empty() || (!study.config.baseline.empty() && !report.tables.empty());
  if (!compares) return "";
  const auto pairs = std::max<std::size_t>(study.values_of(report::kSeedAxis).size(), 1);
  std::size_t needed =
      report.claims.empty() ? needed_in_tables(study) : report::pairs_for_verdict({}, 1);
  for (const auto& claim : report.claims) {
    needed = std::max(needed, report::pairs_for_verdict(report::metric_of(claim.metric),
                                                        report.claims.size(), report.times));
  }
  if (pairs >= needed) return "";
  return concat(pairs, pairs == 1 ? " seed is" : " seeds are",
                " too few for a verdict; 'seed=range(", needed, ")' has the ", needed,
                " that it needs");
}

}  // namespace difflab::study
