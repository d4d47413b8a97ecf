// Runs of a seed share what that seed makes easy or hard: where variants are compared on equal
// seeds, the bands of their means say less than the differences do.
#include <algorithm>
#include <variant>

#include "referee/rule/rules.h"
#include "report/mark/figure_config.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

using report::FigureConfig;

// The metric whose differences a figure shows, "" if it shows none.
std::string metric_of_differences(const FigureConfig& figure) {
  if (const auto* line = std::get_if<report::LineConfig>(&figure)) {
    return line->against.empty() ? "" : line->y;
  }
  if (const auto* rows = std::get_if<report::IntervalConfig>(&figure)) {
    return rows->against.empty() ? "" : rows->x;
  }
  if (const auto* map = std::get_if<report::HeatmapConfig>(&figure)) {
    return map->against.empty() ? "" : map->value;
  }
  return "";
}

}  // namespace

void check_paired(const Reference& one, Objections& objections) {
  if (!one.archive) return;  // "recomputable" says so
  const auto& study = one.archive->study;
  const std::string axis = one.compared_axis();
  for (const FigureConfig& figure : study.report.figures) {
    const auto* line = std::get_if<report::LineConfig>(&figure);
    // A curve over steps shows how one model learns.
    if (line == nullptr || line->band == report::Band::kNone || !line->against.empty() ||
        line->color != axis || axis.empty() || line->x == "step") {
      continue;
    }
    const bool has_differences =
        std::ranges::any_of(study.report.figures, [&](const FigureConfig& other) {
          return metric_of_differences(other) == line->y &&
                 report::common_of(other).source == line->source;
        });
    if (has_differences) continue;
    objections.object(one, concat("figures/", line->name, ".vl.json"),
                      concat("bands of means of ", line->y, ", and no figure of its differences"));
  }
}

}  // namespace difflab::referee
