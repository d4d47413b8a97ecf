#include "config/schema/traits.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "report/settings/study.h"
#include "report/table/claim.h"
#include "report/table/grid.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string where_text(const ClaimConfig& claim) {
  std::vector<std::string> parts;
  for (const auto& [axis, value] : claim.where.entries) parts.push_back(concat(axis, "=", value));
  return join(parts, " ");
}

}  // namespace

std::string claims_csv(const Study& study, const std::vector<Answer>& answers) {
  std::vector<std::string> head = {"claim",  "metric",  "variant",    "against",      "where",
                                   "expect", "verdict", "difference", "low",          "high",
                                   "p",      "level",   "pairs",      "pairs_needed", "published"};
  const bool has_ratios = study.report.times.compare == Compared::kRatios;
  if (has_ratios) head.insert(head.end(), kRatioColumns.begin(), kRatioColumns.end());
  std::string out = csv_line(head);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& claim = study.report.claims[i];
    const auto& answer = answers[i];
    const auto effect = effect_fields(answer.difference, answer.interval, answer.is_ratio);
    std::vector<std::string> line = {claim.text,
                                     claim.metric,
                                     claim.variant,
                                     answer.against,
                                     where_text(claim),
                                     std::string(config::name_of(claim.expect)),
                                     std::string(name_of(answer.verdict))};
    line.insert(line.end(), effect.begin(), effect.begin() + 3);
    line.insert(line.end(), {plain_number(answer.p), "" /* level */, concat(answer.pairs),
                             concat(answer.needed), claim.paper});
    if (has_ratios) {
      line.insert(line.end(), effect.begin() + 3, effect.end());
      line.push_back(answer.test);
    }
    out += csv_line(line);
  }
  return out;
}

std::string claims_tex(const Study& study, const std::vector<Answer>& answers,
                       const Labels& labels) {
  Grid grid;
  const bool has_ratios = study.report.times.compare == Compared::kRatios;
  grid.columns = {{"claim", true},
                  {"metric", true},
                  {has_ratios ? "difference or ratio" : "difference", false},
                  {"95 % interval", false},
                  {"p (Holm)", false},
                  {"pairs", false},
                  {"verdict", true}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& claim = study.report.claims[i];
    const auto& answer = answers[i];
    const Metric metric = metric_of(claim.metric);
    grid.rows.push_back(
        {claim.text, labels.heading(metric),
         answer.difference ? effect_cell(metric, *answer.difference, answer.is_ratio) : "",
         range_text(metric, answer.interval, answer.is_ratio), answer.p ? p_text(*answer.p) : "",
         concat(answer.pairs), std::string(name_of(answer.verdict))});
  }
  return tex_comment("Claims of " + study.name + ", corrected for their number.") +
         tex_comment("Needs \\usepackage{array,booktabs}.") + to_tex(grid);
}

}  // namespace difflab::report
