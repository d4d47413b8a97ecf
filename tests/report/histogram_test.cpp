// Histograms: shares of the values in bins, averaged over runs.
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

HistogramConfig histogram() {
  return of_yaml<HistogramConfig>("name: histogram, source: grid, x: logit, color: model, bins: 2");
}

CATCH_TEST_CASE("a histogram is the mean over runs of the share of their values in each bin") {
  StudyBuilder builder;
  const auto values = [](const std::vector<double>& logits) {
    Json cells = Json::array();
    for (const double logit : logits) cells.push_back(Json{{"logit", logit}});
    return cells;
  };
  with_cells(builder, "diff", 0, values({1, 1, 2.5, 3}));  // 2 below 2, 2 above
  with_cells(builder, "diff", 1, values({1, 3, 3, 2}));    // 1 below 2; the edge counts upwards
  const Drawing drawing = draw(builder, histogram());
  CATCH_CHECK(drawing.columns == std::vector<std::string>{"model", "bin_from", "bin_to",
                                                          "mean_share", "low_share", "high_share",
                                                          "n"});
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(drawing.rows[0][1] == "1");
  CATCH_CHECK(drawing.rows[0][2] == "2");
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx((.5 + .25) / 2));
  CATCH_CHECK(std::stod(drawing.rows[1][3]) == Approx((.5 + .75) / 2));
}

CATCH_TEST_CASE(
    "cells that are bins already are weighed, and a bin that a run lacks is zero there") {
  StudyBuilder builder;
  const auto bin = [](double from, int count) {
    return Json{{"logit", from}, {"end", from + 1}, {"count", count}};
  };
  // The layers' bins of one run are added up: 0 to 1 holds 3 of 4, 1 to 2 holds 1 of 4.
  with_cells(builder, "diff", 0, Json::array({bin(0, 1), bin(0, 2), bin(1, 1)}));
  with_cells(builder, "diff", 1, Json::array({bin(0, 5)}));
  HistogramConfig config = histogram();
  config.x_end = "end";
  config.weight = "count";
  const Drawing drawing = draw(builder, config);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx((.75 + 1) / 2));
  CATCH_CHECK(std::stod(drawing.rows[1][3]) == Approx((.25 + 0) / 2));
}

CATCH_TEST_CASE("runs that chose bins of their own are spread over common ones") {
  StudyBuilder builder;
  const auto bin = [](double from, double to, double share) {
    return Json{{"logit", from}, {"end", to}, {"share", share}};
  };
  with_cells(builder, "diff", 0, Json::array({bin(0, 2, .5), bin(2, 4, .5)}));
  with_cells(builder, "diff", 1, Json::array({bin(1, 3, 1)}));
  HistogramConfig config = histogram();
  config.x_end = "end";
  config.weight = "share";
  config.bins = 4;
  // Common bins 0-1-2-3-4: the first run has a quarter in each, the second a half in the middle
  // two.
  const Drawing drawing = draw(builder, config);
  CATCH_REQUIRE(drawing.rows.size() == 4);
  const double expected[] = {.125, .375, .375, .125};
  for (std::size_t i = 0; i < 4; ++i) {
    CATCH_CHECK(std::stod(drawing.rows[i][1]) == Approx(static_cast<double>(i)));
    CATCH_CHECK(std::stod(drawing.rows[i][3]) == Approx(expected[i]));
  }
}

CATCH_TEST_CASE("bins that no run fills are drawn between filled ones alone") {
  StudyBuilder builder;
  const auto bin = [](double from, double share) {
    return Json{{"logit", from}, {"end", 2 * from}, {"share", share}};
  };
  with_cells(builder, "diff", 0,
             Json::array({bin(1, 0), bin(2, .5), bin(4, 0), bin(8, .4), bin(16, 0), bin(32, 0)}));
  with_cells(builder, "diff", 1,
             Json::array({bin(1, 0), bin(2, .5), bin(4, 0), bin(8, .4), bin(16, .1), bin(32, 0)}));
  HistogramConfig config = histogram();
  config.x_end = "end";
  config.weight = "share";
  const Drawing drawing = draw(builder, config);
  CATCH_REQUIRE(drawing.rows.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CATCH_CHECK(std::stod(drawing.rows[i][1]) == Approx(std::pow(2, i + 1)));
  }
  CATCH_CHECK(std::stod(drawing.rows[1][3]) == 0);
  CATCH_CHECK(std::stod(drawing.rows[3][3]) == Approx(.05));
}

CATCH_TEST_CASE("panels and lines may be keys of the cells, such as the layer") {
  StudyBuilder builder;
  const auto value = [](int layer, double logit) {
    return Json{{"layer", layer}, {"logit", logit}};
  };
  with_cells(builder, "diff", 0,
             Json::array({value(10, 1), value(2, 1), value(2, 3), value(2, 3)}));
  HistogramConfig config = histogram();
  config.color = "";
  config.facet = "layer";
  const Drawing drawing = draw(builder, config);
  CATCH_CHECK(drawing.spec["facet"]["sort"] == Json::array({"layer: 2", "layer: 10"}));
  CATCH_REQUIRE(drawing.rows.size() == 4);
  // Layer 2 has one of three below 2, layer 10 its only one.
  CATCH_CHECK(drawing.rows[0][0] == "2");
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(1 / 3.0));
  CATCH_CHECK(drawing.rows[2][0] == "10");
  CATCH_CHECK(drawing.rows[2][3] == "1");
  ReportConfig report;
  report.figures = {config};
  CATCH_REQUIRE(check_report(report, {"model", "seed"}).size() == 1);  // averages over model
  config.source = "";
  report.figures = {config};
  CATCH_CHECK(check_report(report, {"layers", "seed"}).at(0).message ==
              "names 'layer', which the sweep does not vary; did you mean layers?");
}

CATCH_TEST_CASE("a bin that no run fills is one of zero") {
  StudyBuilder builder;
  with_cells(builder, "diff", 0,
             Json::array({Json{{"logit", 0}}, Json{{"logit", 0}}, Json{{"logit", 4}}}));
  HistogramConfig config = histogram();
  config.bins = 4;
  const Drawing drawing = draw(builder, config);
  CATCH_REQUIRE(drawing.rows.size() == 4);  // as wide as each other
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(2. / 3));
  CATCH_CHECK(std::stod(drawing.rows[1][3]) == 0);
  CATCH_CHECK(std::stod(drawing.rows[2][3]) == 0);
  CATCH_CHECK(std::stod(drawing.rows[3][3]) == Approx(1. / 3));
}

CATCH_TEST_CASE("a histogram says what it does not draw") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"steps_to_found", 100}});
  builder.finished("diff", 1, {{"steps_to_found", 300}});
  builder.finished("diff", 2, {{"steps_to_found", nullptr}},
                   {{"censored", {{"steps_to_found", 400}}}});
  HistogramConfig config = histogram();
  config.source = "";
  config.x = "steps_to_found";
  CATCH_CHECK_THAT(draw(builder, config).spec["description"].get<std::string>(),
                   Contains("1 that never got there are not drawn"));
  builder.finished("diff", 3, {{"steps_to_found", 0}});
  config.x_scale = AxisScale::kLog;
  CATCH_CHECK_THAT(draw(builder, config).spec["description"].get<std::string>(),
                   Contains("1 not above 0 are not drawn"));
}

}  // namespace
}  // namespace difflab::report
