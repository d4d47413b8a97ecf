// Means with bands need their differences beside them.
#include "referee/good_results.h"
#include "report/mark/figure_config.h"
#include "support/catch.h"

namespace difflab::referee {
namespace {

report::LineConfig by_scale() {
  report::LineConfig line;
  line.name = "scale";
  line.x = "model.embedding_std";
  line.y = "steps_to_found";
  line.color = "model";
  line.where.entries = {{"train.loss.per", "target"}};
  return line;
}

std::string said_of(const std::vector<report::FigureConfig>& figures) {
  GoodResults results;
  results.contrast = [&](report::Study& study) {
    for (const auto& figure : figures) study.report.figures.push_back(figure);
  };
  results.write();
  CATCH_REQUIRE(results.against("recomputable") == "");
  return results.against("paired");
}

CATCH_TEST_CASE("paired: bands of means stand where their differences are drawn, too") {
  const std::string objection =
      "contrast figures/scale.vl.json: bands of means of steps_to_found, and no figure of its "
      "differences";
  CATCH_CHECK_THAT(said_of({by_scale()}), Contains(objection));

  auto difference = by_scale();
  difference.name = "difference";
  difference.against = "transformer";
  CATCH_CHECK(said_of({by_scale(), difference}).empty());
  CATCH_CHECK(said_of({difference}).empty());
  difference.y = "needle_accuracy";
  CATCH_CHECK_THAT(said_of({by_scale(), difference}), Contains(objection));

  report::IntervalConfig rows;
  rows.name = "rows";
  rows.y = "model";
  rows.x = "steps_to_found";
  rows.facet = "model.embedding_std";
  rows.where = by_scale().where;
  CATCH_CHECK_THAT(said_of({by_scale(), rows}), Contains(objection));
  rows.against = "transformer";
  CATCH_CHECK(said_of({by_scale(), rows}).empty());

  report::HeatmapConfig map;
  map.name = "map";
  map.x = "model.embedding_std";
  map.y = "train.loss.per";
  map.value = "steps_to_found";
  map.facet = "model";
  map.source = "needle_grid";
  map.against = "transformer";
  CATCH_CHECK_THAT(said_of({by_scale(), map}), Contains(objection));  // of another source
  auto cells = by_scale();
  cells.source = map.source;
  CATCH_CHECK(said_of({cells, map}).empty());
  map.against = "";
  CATCH_CHECK_THAT(said_of({cells, map}), Contains(objection));
}

CATCH_TEST_CASE("learned: a difference may vary as much as both of its sides") {
  GoodResults results;
  auto means = by_scale(), differences = by_scale();
  means.y = differences.y = "needle_accuracy";
  differences.name = "difference";
  differences.against = "transformer";
  results.contrast = [&](report::Study& study) {
    study.report.figures.emplace_back(means);
    study.report.figures.emplace_back(differences);
  };
  results.write();
  const auto with_half_width = [&](const char* file, const char* key, const char* low,
                                   const char* high) {
    results.set_cell(file, concat("mean_", key), 0, "0.5");
    results.set_cell(file, concat("low_", key), 0, low);
    results.set_cell(file, concat("high_", key), 0, high);
    return results.against("learned");
  };
  CATCH_CHECK(with_half_width("figures/scale.csv", "needle_accuracy", "0.3", "0.7") == "");
  // On Fisher's scale [.0, .8] of 8 runs is a standard deviation of .49, [.25, .69] one of .27.
  CATCH_CHECK(with_half_width("figures/difference.csv", "needle_accuracy_difference", "0.25",
                              "0.69") == "");
  CATCH_CHECK_THAT(
      with_half_width("figures/difference.csv", "needle_accuracy_difference", "0.0", "0.8"),
      Contains("1 of 2 means of needle_accuracy_difference have a standard deviation above 0.41"));
  CATCH_CHECK_THAT(
      with_half_width("figures/scale.csv", "needle_accuracy", "0.25", "0.75"),
      Contains("1 of 4 means of needle_accuracy have a standard deviation above 0.29"));
}

CATCH_TEST_CASE("paired: a line without a band, or of other than the variants, claims nothing") {
  auto line = by_scale();
  line.band = report::Band::kNone;
  CATCH_CHECK(said_of({line}).empty());
  line = by_scale();
  std::swap(line.x, line.color);
  CATCH_CHECK(said_of({line}).empty());
}

}  // namespace
}  // namespace difflab::referee
