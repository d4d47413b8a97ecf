// A row per variant: its runs, their mean and interval.
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

IntervalConfig steps_by_model() {
  return of_yaml<IntervalConfig>("name: steps, y: model, x: steps_to_found");
}

void never_found(StudyBuilder& builder, const std::string& model, int seed, double bound) {
  builder.finished(model, seed, {{"steps_to_found", nullptr}},
                   {{"censored", {{"steps_to_found", bound}}}});
}

// The line that is drawn where the data say.
std::vector<double> origins(const Drawing& drawing) {
  std::vector<double> found;
  for (const Json& row : drawing.spec["data"]["values"]) {
    if (!row.at("origin").is_null()) found.push_back(row.at("origin").get<double>());
  }
  return found;
}

CATCH_TEST_CASE("an interval figure has a row per variant with the mean of its runs") {
  StudyBuilder builder;
  builder.study.baseline = "transformer";
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_found", 300 + 10 * seed}});
    builder.finished("diff", seed, {{"steps_to_found", 200 + 20 * seed}});
  }
  const Drawing drawing = draw(builder, steps_by_model());
  CATCH_CHECK(drawing.columns ==
              std::vector<std::string>{"model", "mean_steps_to_found", "median_steps_to_found",
                                       "low_steps_to_found", "high_steps_to_found", "n",
                                       "values_steps_to_found"});
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(drawing.rows[0][0] == "transformer");
  CATCH_CHECK(std::stod(drawing.rows[0][1]) == Approx(310));
  CATCH_CHECK(drawing.rows[0][2].empty());  // all got there
  // 4.302653 · 10 / √3, Student's t of two degrees of freedom
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(310 - 24.8414).epsilon(1e-6));
  CATCH_CHECK(std::stod(drawing.rows[0][4]) == Approx(310 + 24.8414).epsilon(1e-6));
  CATCH_CHECK(drawing.rows[0][6] == "300 310 320");
  CATCH_CHECK(origins(drawing) == std::vector<double>{310});  // the baseline's
  CATCH_CHECK_THAT(drawing.spec["title"]["subtitle"].dump(),
                   Contains("over 3 runs") && Contains("line: transformer"));

  auto log = steps_by_model();
  log.x_scale = AxisScale::kLog;
  CATCH_CHECK_THAT(draw(builder, log).spec.dump(),
                   Contains("\"nice\":false") && !Contains("\"nice\":true"));

  auto difference = steps_by_model();
  difference.against = "transformer";
  const Drawing paired = draw(builder, difference);
  CATCH_REQUIRE(paired.rows.size() == 1);
  CATCH_CHECK(paired.columns[1] == "mean_steps_to_found_difference");
  CATCH_CHECK(paired.rows[0][6] == "-100 -90 -80");
  CATCH_CHECK(std::stod(paired.rows[0][1]) == Approx(-90));
  CATCH_CHECK(origins(paired) == std::vector<double>{0});
  // A difference from what was cut at a bound has no interval of its own.
  never_found(builder, "transformer", 3, 4000);
  builder.finished("diff", 3, {{"steps_to_found", 260}});
  CATCH_CHECK(draw(builder, difference).rows[0][3].empty());
}

CATCH_TEST_CASE("an interval figure shows the median where some runs never got there") {
  StudyBuilder builder;
  for (int seed = 0; seed < 4; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_found", 100 * (seed + 1)}});
  }
  never_found(builder, "transformer", 4, 4000);
  for (int seed = 0; seed < 5; ++seed) never_found(builder, "diff", seed, 4000);
  const Drawing drawing = draw(builder, steps_by_model());
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(drawing.rows[0][1].empty());  // not the mean, 1,000
  CATCH_CHECK(drawing.rows[0][2] == "300");
  CATCH_CHECK(drawing.rows[0][6] == "100 200 300 400 >4000");
  CATCH_CHECK(drawing.rows[1][2].empty());  // no median: none got there
  CATCH_CHECK(drawing.spec["data"]["values"][1]["center"].is_null());
  CATCH_CHECK(drawing.rows[1][4].empty());  // an interval without a right end
  CATCH_CHECK(drawing.rows[1][6] == ">4000 >4000 >4000 >4000 >4000");
  CATCH_CHECK_THAT(drawing.spec["title"]["subtitle"].dump(),
                   Contains("medians where some never got"));
  const Json& row = drawing.spec["data"]["values"][0];
  CATCH_CHECK(row["runs"] == Json::array({100.0, 200.0, 300.0, 400.0, 4000.0}));
  CATCH_CHECK(row["is_open"] == Json::array({false, false, false, false, true}));
}

CATCH_TEST_CASE("a panel whose baseline never got there has no line, and the others have one") {
  StudyBuilder builder;
  builder.study.baseline = "transformer";
  const auto add = [&](const char* init, const char* model, int seed, bool found) {
    if (found) {
      builder.finished(model, seed, {{"steps_to_found", 100 + seed}});
    } else {
      never_found(builder, model, seed, 4000);
    }
    builder.study.runs.back().axes = {
        {"init", init}, {"model", model}, {"seed", std::to_string(seed)}};
  };
  for (int seed = 0; seed < 3; ++seed) {
    add("yoco", "transformer", seed, true);
    add("yoco", "diff", seed + 3, true);
    add("llama", "transformer", seed + 6, false);
    add("llama", "diff", seed + 9, true);
  }
  auto config = steps_by_model();
  config.facet = "init";
  const Drawing drawing = draw(builder, config);
  CATCH_CHECK(origins(drawing) == std::vector<double>{101});
  // Vega warns of a scale without an extent where a layer has no value in a panel.
  CATCH_CHECK_THAT(drawing.spec.dump(), Contains("as\":\"place") && !Contains("field\":\"origin"));
}

CATCH_TEST_CASE("an interval figure tells ratios to the best opponent of each panel") {
  StudyBuilder builder;
  const auto add = [&](const char* init, const char* model, int seed, double steps) {
    builder.finished(model, seed, {{"steps_to_found", steps}});
    builder.study.runs.back().axes = {
        {"init", init}, {"model", model}, {"seed", std::to_string(seed)}};
  };
  int seed = 0;
  // Geometric means: narrow 200, wide 100, diff 50; with the other embeddings wide 400.
  for (const double factor : {0.5, 2.0}) {
    add("yoco", "narrow", seed, 200 * factor);
    add("yoco", "wide", ++seed, 100 * factor);
    add("yoco", "diff", ++seed, 50 * factor);
    add("llama", "narrow", ++seed, 200 * factor);
    add("llama", "wide", ++seed, 400 * factor);
    add("llama", "diff", ++seed, 300 * factor);
    ++seed;
  }
  auto config = steps_by_model();
  config.facet = "init";
  config.shared = true;
  config.opponents = {"narrow", "wide"};
  const Drawing drawing = draw(builder, config);
  std::vector<std::string> ratios;
  for (const Json& row : drawing.spec["data"]["values"]) ratios.push_back(row["ratio"]);
  CATCH_CHECK(ratios ==
              std::vector<std::string>{"× 2.00", "× 1.00", "× 0.50", "× 1.00", "× 2.00", "× 1.50"});
  std::vector<bool> lines;  // the best of its panel has one
  for (const Json& row : drawing.spec["data"]["values"]) lines.push_back(!row["origin"].is_null());
  CATCH_CHECK(lines == std::vector<bool>{false, true, false, true, false, false});
  CATCH_CHECK(drawing.spec["columns"] == 1);
  CATCH_CHECK_FALSE(drawing.spec.contains("resolve"));
  CATCH_CHECK_THAT(drawing.spec["title"]["subtitle"].dump(),
                   Contains("× 1.00: the best of 2 opponents in these runs"));
  never_found(builder, "wide", seed, 4000);
  builder.study.runs.back().axes = {{"init", "llama"}, {"model", "wide"}, {"seed", "99"}};
  const Drawing censored = draw(builder, config);  // its mean would be too short
  CATCH_CHECK(censored.spec["data"]["values"][4]["ratio"] == "");
}

CATCH_TEST_CASE("an interval figure needs an axis, a metric and room for negative differences") {
  CATCH_CHECK_THROWS_WITH(of_yaml<IntervalConfig>("name: a, against: transformer"),
                          Contains("y is missing") && Contains("x is missing; expected: metric"));
  CATCH_CHECK_THROWS_WITH(
      of_yaml<IntervalConfig>("name: a, y: model, x: loss, against: transformer, x_scale: log"),
      Contains("x_scale is log with against; expected linear"));
}

}  // namespace
}  // namespace difflab::report
