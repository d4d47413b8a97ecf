#include "study/load/tuning_report.h"

#include <set>
#include <string>

#include "config/schema/reader.h"
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

// Lines for the values of the first axis, panels for those of the second. A line is a mean over
// all axes that it does not name, so there is a figure for each combination of the others.
Json figures_of_tuning(const StudyConfig& study, const std::vector<sweep::Axes>& variants,
                       const std::vector<std::string>& axes) {
  Json figures = Json::array();
  std::set<Json> shown;
  for (const auto& variant : variants) {
    Json where = Json::object();
    std::string title = "Tuning";
    for (std::size_t i = 2; i < variant.size(); ++i) {
      const auto& [axis, value] = variant[i];
      where[axis] = value;
      title = concat(title, i == 2 ? ": " : ", ", report::Labels(study.report.labels).value(value));
    }
    if (!shown.insert(where).second) continue;
    const auto name = shown.size() == 1 ? "tuning" : concat("tuning_", shown.size());
    Json figure = {{"mark", "line"},      {"name", name},           {"title", title},
                   {"x", study.tune.key}, {"y", study.tune.metric}, {"x_scale", "log"}};
    if (!axes.empty()) figure["color"] = axes[0];
    if (axes.size() > 1) figure["facet"] = axes[1];
    if (!where.empty()) figure["where"] = std::move(where);
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace

report::ReportConfig report_of_tuning(const StudyConfig& study,
                                      const std::vector<sweep::Axes>& variants) {
  Json rows = Json::array(), columns = Json::array();
  std::vector<std::string> axes;
  for (const auto& [axis, value] : variants.front()) {
    rows.push_back(axis);
    axes.push_back(axis);
  }
  rows.push_back(study.tune.key);
  if (study.report.learned.given()) columns.push_back(report::kLearned);
  columns.push_back(study.tune.metric);
  Json report = {
      {"tables", Json::array({{{"name", "table"}, {"rows", rows}, {"columns", columns}}})},
      {"figures", figures_of_tuning(study, variants, axes)}};
  auto read = config::read<report::ReportConfig>(config::from_json(report));
  read.learned = study.report.learned;
  read.labels = study.report.labels;
  read.headline = study.tune.metric;
  return read;
}

}  // namespace difflab::cli
