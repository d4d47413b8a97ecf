// A fitted curve stands if it fits, and if it says what the pairs of seeds say.
#include <algorithm>
#include <cmath>
#include <map>

#include "referee/base/figure.h"
#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "statistics/describe.h"
#include "statistics/distributions.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// What a figure draws for one series: its points, its curve y = a x^−b.
struct Fitted {
  std::string series;
  std::map<double, std::vector<double>> log_y;  // by x
  double a = 0, b = 0;
  std::optional<double> ratio;  // of x to the baseline's at equal y
};

// The columns behind "run" are x and y.
std::vector<Fitted> fits_of(const CsvTable& data) {
  std::map<std::string, Fitted> fits;
  const auto run = data.column("run");
  if (!run || !data.has("fit_a") || *run + 2 >= data.columns.size()) return {};
  const auto& x_name = data.columns[*run + 1];
  const auto& y_name = data.columns[*run + 2];
  for (std::size_t row = 0; row < data.rows.size(); ++row) {
    const auto x = data.number(row, x_name), y = data.number(row, y_name);
    const auto a = data.number(row, "fit_a"), b = data.number(row, "fit_b");
    if (!x || !y || !a || !b || *y <= 0 || *x <= 0) continue;
    auto& fit = fits[data.rows[row][0]];
    fit.series = data.rows[row][0];
    fit.log_y[*x].push_back(std::log(*y));
    fit.a = *a;
    fit.b = *b;
    fit.ratio = data.number(row, "ratio_at_equal_" + y_name);
  }
  std::vector<Fitted> list;
  for (auto& [series, fit] : fits) list.push_back(std::move(fit));
  return list;
}

// The p that the means at each x lie on the curve, against the scatter of the seeds there (the F
// test for lack of fit); nothing without several seeds or a third x.
std::optional<double> lack_of_fit_p(const Fitted& fit) {
  double within = 0, between = 0;
  std::size_t points = 0;
  for (const auto& [x, values] : fit.log_y) {
    const double at = mean(values), curve = std::log(fit.a) - fit.b * std::log(x);
    for (const double value : values) within += (value - at) * (value - at);
    between += static_cast<double>(values.size()) * (at - curve) * (at - curve);
    points += values.size();
  }
  if (fit.log_y.size() < 3 || points <= fit.log_y.size() || within <= 0) return std::nullopt;
  const auto levels = static_cast<double>(fit.log_y.size());
  const double degrees = levels - 2, others = static_cast<double>(points) - levels;
  return f_tail((between / degrees) / (within / others), degrees, others);
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
void check_sign(const Reference& one, const FigureFile& figure, const Fitted& fit,
                const std::string& metric, Objections& objections) {
  if (!fit.ratio) return;
  const auto differences = paired_differences(one, fit.series, metric);
  if (differences.empty()) {
    return objections.cannot_check(
        one, figure.data.file, concat("no paired differences of ", metric, " for ", fit.series));
  }
  const bool lower_is_better = report::metric_of(metric).better != Better::kHigher;
  const auto better = std::count_if(differences.begin(), differences.end(),
                                    [&](double d) { return lower_is_better ? d < 0 : d > 0; });
  const auto all = static_cast<std::ptrdiff_t>(differences.size());
  const bool contradicts =
      (*fit.ratio < 0.995 && better == 0) || (*fit.ratio > 1.005 && better == all);
  if (!contradicts) return;
  objections.object(one, figure.data.file,
                    concat("the fit says that ", fit.series, " needs ",
                           report::format_number(100 * *fit.ratio, 0), " % of the baseline's; it ",
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
    const auto run = figure.data.column("run");
    for (const auto& fit : fits_of(figure.data)) {
      const auto p = lack_of_fit_p(fit);
      if (!p) {
        objections.cannot_check(
            one, figure.data.file,
            concat("the fit of ", fit.series, " has too few points for a lack-of-fit test"));
      } else if (*p < 0.05) {
        objections.object(
            one, figure.data.file,
            concat("the curve does not fit ", fit.series, ": lack of fit, ", report::named_p(*p)));
      }
      check_sign(one, figure, fit, figure.data.columns[*run + 2], objections);
    }
  }
}

}  // namespace difflab::referee
