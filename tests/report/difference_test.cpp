// Figures of paired differences: maps and lines.
#include "report/example_study.h"
#include "support/catch.h"
#include "support/problems.h"

namespace difflab::report {
namespace {

CATCH_TEST_CASE("a difference map subtracts the reference of the same seed, on one scale about 0") {
  StudyBuilder builder;
  const auto cells = [](double near, double far) {
    return Json::array({Json{{"length", 64}, {"depth", 0}, {"accuracy", near}},
                        Json{{"length", 128}, {"depth", 0}, {"accuracy", far}}});
  };
  with_cells(builder, "transformer", 0, cells(.5, .5));
  with_cells(builder, "transformer", 1, cells(.6, .4));
  with_cells(builder, "diff", 2, cells(1, 1));  // without a partner
  with_cells(builder, "diff", 1, cells(.9, .1));
  with_cells(builder, "diff", 0, cells(.7, .5));
  auto map = of_yaml<HeatmapConfig>(
      "name: difference, source: grid, x: length, y: depth, value: accuracy, facet: model, "
      "against: transformer");
  const Drawing drawing = draw(builder, map);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(drawing.columns[3] == "mean_accuracy_difference");
  // At 64: .7 − .5 and .9 − .6, mean .25. At 128: 0 and −.3, mean −.15.
  CATCH_CHECK(drawing.rows[0][0] == "diff");
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(.25));
  CATCH_CHECK(std::stod(drawing.rows[1][3]) == Approx(-.15));
  CATCH_CHECK(drawing.rows[0][6] == "2");
  const std::string spec = drawing.spec.dump();
  CATCH_CHECK_THAT(spec, Contains("\"domain\":[-0.3,0.0,0.3],\"scheme\":\"blueorange\"") ||
                             Contains("\"domain\":[-0.3,0,0.3],\"scheme\":\"blueorange\""));
  CATCH_CHECK_THAT(spec, Contains("\"sort\":[\"diff\"]"));
  CATCH_CHECK_THAT(spec, Contains("\"+.25\"") && Contains("\"−.15\""));
  CATCH_CHECK_THAT(spec, Contains("Minus transformer on equal seeds"));
}

LineConfig difference_lines() {
  return of_yaml<LineConfig>(
      "name: difference, source: grid, x: length, y: accuracy, color: model, against: transformer");
}

CATCH_TEST_CASE("lines of differences have the interval of the pairs, about a rule at 0") {
  StudyBuilder builder;
  const auto cell = [](double accuracy) {
    return Json::array({Json{{"length", 64}, {"accuracy", accuracy}}});
  };
  // Seeds differ by far more than models: only the pairs show the difference.
  const std::vector<double> easy = {.1, .4, .7};
  const std::vector<double> gain = {.10, .12, .11};
  for (int seed = 0; seed < 3; ++seed) {
    const auto i = static_cast<std::size_t>(seed);
    with_cells(builder, "transformer", seed, cell(easy[i]));
    with_cells(builder, "diff", seed, cell(easy[i] + gain[i]));
  }
  with_cells(builder, "diff", 3, cell(.9));  // without a partner
  const Drawing drawing = draw(builder, difference_lines());
  CATCH_REQUIRE(drawing.rows.size() == 1);
  CATCH_CHECK(drawing.columns[2] == "mean_accuracy_difference");
  CATCH_CHECK(drawing.rows[0][0] == "diff");
  CATCH_CHECK(std::stod(drawing.rows[0][2]) == Approx(.11));
  // Of .10, .12, .11 on Fisher's scale: tanh(artanh(.11) ± 4.3027 · .01 / √3 / (1 − .11²)).
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(.0850950).epsilon(1e-5));
  CATCH_CHECK(std::stod(drawing.rows[0][4]) == Approx(.1347676).epsilon(1e-5));
  CATCH_CHECK(drawing.rows[0][5] == "3");
  const std::string spec = drawing.spec.dump();
  CATCH_CHECK_THAT(spec, Contains("Minus transformer on equal seeds. Mean and 95 % interval"));
  CATCH_CHECK_THAT(spec, Contains("{\"zero\":0}"));
  CATCH_CHECK_THAT(spec, Contains("accuracy, difference\""));
  CATCH_CHECK_THAT(spec, !Contains("\"domain\":[0,1]") && !Contains("chance"));
  CATCH_CHECK(spec.find("\"series\":\"transformer\"") == spec.npos);
  // The shares themselves are on their whole scale.
  auto shares = difference_lines();
  shares.against.clear();
  CATCH_CHECK_THAT(draw(builder, shares).spec.dump(), Contains("\"domain\":[0,1]"));
}

CATCH_TEST_CASE("lines of differences without a partner say so") {
  StudyBuilder builder;
  with_cells(builder, "diff", 0, Json::array({Json{{"length", 64}, {"accuracy", .5}}}));
  const Drawing drawing = draw(builder, difference_lines());
  CATCH_CHECK(drawing.rows.empty());
  CATCH_CHECK_THAT(drawing.spec.dump(),
                   Contains("No finished run has a partner among those of transformer"));
}

CATCH_TEST_CASE("a line's difference needs a colour and a scale with negative numbers") {
  auto line = difference_lines();
  line.color.clear();
  line.y_scale = AxisScale::kLog;
  CATCH_CHECK(
      testing::Problems::of(line) ==
      "against is given without color; expected the axis whose value it is\n"
      "y_scale is log with against; expected linear, because differences may be negative\n");
}

}  // namespace
}  // namespace difflab::report
