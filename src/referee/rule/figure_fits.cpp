// A sentence such as "needs 0.64 times the tokens for the same loss" says what the pairs of seeds
// say.
#include <algorithm>
#include <map>

#include "referee/base/figure.h"
#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr const char* kRatio = "ratio_at_equal_";

// Series with a share of x that they need for the baseline's y, by the name of y.
struct Shares {
  std::string metric;
  std::map<std::string, double> ratios;
};

Shares shares_of(const CsvTable& data) {
  Shares found;
  for (const auto& column : data.columns) {
    if (!column.starts_with(kRatio)) continue;
    found.metric = column.substr(std::string_view(kRatio).size());
    for (std::size_t row = 0; row < data.rows.size(); ++row) {
      if (const auto ratio = data.number(row, column)) found.ratios[data.rows[row][0]] = *ratio;
    }
  }
  return found;
}

// Differences of the series to the baseline in y, of every pair of seeds' mean that is compared.
std::vector<double> paired_differences(const Reference& one, const std::string& series,
                                       const std::string& metric) {
  std::vector<double> found;
  for (const auto& table : one.comparisons) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const bool is_it = table.rows[row][0] == series && table.text(row, "metric") == metric;
      const auto difference = is_it ? table.number(row, "difference") : std::nullopt;
      if (difference) found.push_back(*difference);
    }
  }
  return found;
}

// "92 % of the steps" of a variant that is worse in every pair.
void check_sign(const Reference& one, const FigureFile& figure, const std::string& series,
                double ratio, const std::string& metric, Objections& objections) {
  const auto differences = paired_differences(one, series, metric);
  if (differences.empty()) {
    return objections.cannot_check(one, figure.data.file,
                                   concat("no paired differences of ", metric, " for ", series));
  }
  const bool lower_is_better = report::metric_of(metric).better != Better::kHigher;
  const auto better = std::count_if(differences.begin(), differences.end(),
                                    [&](double d) { return lower_is_better ? d < 0 : d > 0; });
  const auto all = static_cast<std::ptrdiff_t>(differences.size());
  const bool contradicts = (ratio < 0.995 && better == 0) || (ratio > 1.005 && better == all);
  if (!contradicts) return;
  objections.object(one, figure.data.file,
                    concat("the figure says that ", series, " needs ",
                           report::format_number(100 * ratio, 0), " % of the baseline's; it ",
                           "is better in ", better, " of ", all, " paired comparisons"));
}

// The formula itself says nothing to a reader.
bool prints_formula(const Json& spec) {
  return spec.contains("title") && spec["title"].dump().find("·x^") != std::string::npos;
}

}  // namespace

void check_fits(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    if (prints_formula(figure.spec)) {
      objections.object(one, spec_file(figure),
                        "a fit is printed as its formula; expected words, such as how many tokens "
                        "the same loss needs, with an interval");
    }
    const auto shares = shares_of(figure.data);
    for (const auto& [series, ratio] : shares.ratios) {
      check_sign(one, figure, series, ratio, shares.metric, objections);
    }
  }
}

}  // namespace difflab::referee
