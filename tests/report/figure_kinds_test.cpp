// The figures beyond lines, bars and maps, and what all figures have in common.
#include "report/example_study.h"
#include "report/figure/parts.h"
#include "report/figure/style.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

CATCH_TEST_CASE("a panel's heading takes two lines where its panel is too narrow for one") {
  const Labels labels({});
  const auto headings = [&](const char* second) {
    std::vector<Series> panels(2);
    panels[0].label = "short";
    panels[1].label = second;
    Json spec{{"config", Json::object()}};
    split_into_panels(spec, panels, "model", labels, 2, Json{{"width", 114}});
    return std::pair(spec["facet"]["sort"], spec["config"].value("lineBreak", ""));
  };
  CATCH_CHECK(headings("twenty-six letters or less") ==
              std::pair(Json({"short", "twenty-six letters or less"}), std::string()));
  CATCH_CHECK(headings("a Transformer with half the heads") ==
              std::pair(Json({"short", "a Transformer with half the\nheads"}), std::string("\n")));
}

CATCH_TEST_CASE(
    "a line of times counts runs that never got there as long as they were waited for") {
  StudyBuilder builder;
  const Json never = {{"censored", Json{{"steps_to_found", 800}}}};
  builder.finished("diff", 0, {{"parameters", 1000}, {"steps_to_found", 200}});
  builder.finished("diff", 1, {{"parameters", 1000}, {"steps_to_found", nullptr}}, never);
  builder.finished("transformer", 0, {{"parameters", 1000}, {"steps_to_found", 300}});
  builder.finished("transformer", 1, {{"parameters", 1000}, {"steps_to_found", 500}});
  auto line = of_yaml<LineConfig>("name: times, x: parameters, y: steps_to_found, color: model");
  const Drawing drawing = draw(builder, line);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  std::map<std::string, std::vector<std::string>> by_model;
  for (const auto& row : drawing.rows) by_model[row[0]] = {row[2], row[3], row[5]};
  CATCH_CHECK(by_model["diff"] == std::vector<std::string>{"500", "", "2"});
  CATCH_CHECK(by_model["transformer"][0] == "400");
  CATCH_CHECK(by_model["transformer"][1] != "");
  CATCH_CHECK_THAT(std::string(drawing.spec["description"]),
                   Contains("over 2 runs; 1 that never got there counts with the last step"));
}

CATCH_TEST_CASE("a survival figure steps where runs got there, and counts who is on the way") {
  StudyBuilder builder;
  const Json never = {{"censored", Json{{"steps_to_found", 800}}}};
  const int times[] = {200, 400, 400};
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_found", times[seed]}});
  }
  builder.finished("diff", 0, {{"steps_to_found", 600}});
  builder.finished("diff", 1, {{"steps_to_found", nullptr}}, never);
  builder.finished("diff", 2, {{"steps_to_found", nullptr}}, never);
  auto when = of_yaml<SurvivalConfig>("name: when, event: steps_to_found, color: model");
  const Drawing drawing = draw(builder, when);
  const std::vector<std::vector<std::string>> rows = {{"transformer", "200", "3", "1"},
                                                      {"transformer", "400", "2", "2"},
                                                      {"diff", "600", "3", "1"}};
  CATCH_REQUIRE(drawing.rows.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CATCH_CHECK(std::vector(drawing.rows[i].begin(), drawing.rows[i].begin() + 4) == rows[i]);
  }
  CATCH_CHECK(std::stod(drawing.rows[0][4]) == Approx(1 / 3.));
  CATCH_CHECK(drawing.rows[1][4] == "1");
  CATCH_CHECK(drawing.rows[1][7] == "400");  // the median
  CATCH_CHECK(drawing.rows[2][7] == "");
  when.band = Band::kCi95;
  const Json banded = draw(builder, when).spec;
  std::vector<double> ends;  // of the transformer's band: it holds until the last run gets there
  for (const auto& row : banded["vconcat"][0]["data"]["values"]) {
    if (row.at("series") == "transformer" && !row.at("low").is_null()) ends.push_back(row.at("x"));
  }
  CATCH_CHECK(ends == std::vector<double>{200, 400});
  const std::string said = drawing.spec["description"];
  CATCH_CHECK_THAT(said, Contains("6 runs, of which 2 never got there"));
  CATCH_CHECK_THAT(said,
                   Contains("Medians: transformer: 400 [200, 400]; diff: > 800 [600, > 800]") &&
                       !Contains("Log-rank"));  // of three runs each
  // At risk at 0, 200, 400, 600 and 800 steps: who gets there at that very step still is.
  std::vector<int> at_risk;
  for (const auto& row : drawing.spec["vconcat"][1]["data"]["values"])
    at_risk.push_back(row["risk"]);
  CATCH_CHECK(at_risk == std::vector{3, 3, 2, 0, 0, 3, 3, 3, 3, 2});
  // Curves end where their last run did.
  const auto& curve = drawing.spec["vconcat"][0]["data"]["values"];
  CATCH_CHECK(curve.back()["x"] == 800);
  CATCH_CHECK(curve.back()["share"].get<double>() == Approx(1 / 3.));
}

CATCH_TEST_CASE("the data of a survival figure have every arm, also where nothing happened") {
  StudyBuilder builder;
  builder.finished("transformer", 0, {{"steps_to_found", 200}});
  for (int seed = 0; seed < 2; ++seed) {
    builder.finished("diff", seed, {{"steps_to_found", nullptr}},
                     {{"censored", Json{{"steps_to_found", 800}}}});
  }
  auto when = of_yaml<SurvivalConfig>("name: when, event: steps_to_found, color: model");
  const Drawing drawing = draw(builder, when);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  const auto& row = drawing.rows[1];
  CATCH_CHECK(std::vector(row.begin(), row.begin() + 5) ==
              std::vector<std::string>{"diff", "", "2", "0", "0"});
}

CATCH_TEST_CASE("a survival figure tells medians, restricted means and log-rank tests") {
  StudyBuilder builder;
  for (int seed = 0; seed < 8; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_found", 100 * (seed + 1)}});
    builder.finished("diff", seed, {{"steps_to_found", seed < 6 ? Json(500 + 100 * seed) : Json()}},
                     {{"censored", Json{{"steps_to_found", 1600}}}});
  }
  // A run whose time was over at 900 is known no longer than that.
  builder.finished("diff_v2", 0, {{"steps_to_found", nullptr}},
                   {{"censored", Json{{"steps_to_found", 900}}}});
  builder.finished("diff_v2", 1, {{"steps_to_found", 100}});
  auto when = of_yaml<SurvivalConfig>("name: when, event: steps_to_found, color: model");
  const Drawing drawing = draw(builder, when);
  const auto value = [&](const std::string& curve, const std::string& column) {
    const auto at = std::find(drawing.columns.begin(), drawing.columns.end(), column);
    CATCH_REQUIRE(at != drawing.columns.end());
    const auto row = std::find_if(drawing.rows.begin(), drawing.rows.end(),
                                  [&](const auto& one) { return one[0] == curve; });
    CATCH_REQUIRE(row != drawing.rows.end());
    return row->at(static_cast<std::size_t>(at - drawing.columns.begin()));
  };
  // Half are there from 400 to 500 steps: the middle of that.
  CATCH_CHECK(value("transformer", "median") == "450");
  CATCH_CHECK(value("transformer", "restricted_mean") == "450");
  CATCH_CHECK(value("diff", "median") == "850");
  CATCH_CHECK(value("diff", "mean_up_to") == "900");
  CATCH_CHECK(std::stod(value("diff", "restricted_mean")) == Approx((2600 + 4 * 900) / 8.));
  CATCH_CHECK(value("transformer", "log_rank_p").empty());
  CATCH_CHECK(value("diff_v2", "log_rank_p").empty());  // of two runs
  const double p = std::stod(value("diff", "log_rank_p"));
  CATCH_CHECK(p == Approx(0.00661038613).epsilon(1e-6));  // statsmodels 0.15
  CATCH_CHECK_THAT(drawing.spec["description"].get<std::string>(),
                   Contains("Log-rank against transformer: diff p = 0.00") && !Contains("Holm"));
  // Greenwood's error of 7/8 on the log-log scale, by hand.
  CATCH_CHECK(std::stod(value("transformer", "low")) == Approx(0.01860).epsilon(1e-3));
  CATCH_CHECK(std::stod(value("transformer", "high")) == Approx(0.6131).epsilon(1e-3));

  // Two tests: the smaller p counts twice.
  for (int seed = 0; seed < 8; ++seed)
    builder.finished("same", seed, {{"steps_to_found", 100 * (seed + 1)}});
  const Drawing two = draw(builder, when);
  const auto at = std::find(two.columns.begin(), two.columns.end(), "log_rank_p");
  std::map<std::string, std::string> adjusted;
  for (const auto& row : two.rows)
    adjusted[row[0]] = row[static_cast<std::size_t>(at - two.columns.begin())];
  CATCH_CHECK(std::stod(adjusted.at("diff")) == Approx(2 * 0.00661038613).epsilon(1e-6));
  CATCH_CHECK(std::stod(adjusted.at("same")) == Approx(1));
  CATCH_CHECK_THAT(two.spec["description"].get<std::string>(), Contains("(Holm)"));
}

CATCH_TEST_CASE("curves and panels are found by their number, however it is spelled") {
  StudyBuilder builder;
  for (const double scale : {1.0, 1e5}) {
    builder.finished("diff", static_cast<int>(scale), {{"steps_to_found", 100 * scale}});
    auto& run = builder.study.runs.back();
    run.axes = {{"model.scale", scale == 1 ? "1.0" : "100000"}, {"seed", "0"}};
    run.config["model"]["scale"] = scale;
  }
  auto when = of_yaml<SurvivalConfig>("name: when, event: steps_to_found, color: model.scale");
  CATCH_CHECK(draw(builder, when).rows.size() == 2);
  auto interval =
      of_yaml<IntervalConfig>("name: interval, y: seed, x: steps_to_found, facet: model.scale");
  CATCH_CHECK(draw(builder, interval).spec.dump().find("100000") != std::string::npos);
}

CATCH_TEST_CASE("panels stand in even rows, and none of few is left alone") {
  const auto across = [](int most) {
    std::vector<int> found;
    for (std::size_t panels = 1; panels <= 9; ++panels) {
      found.push_back(panels_across(panels, most));
    }
    return found;
  };
  CATCH_CHECK(across(2) == std::vector{1, 2, 1, 2, 2, 2, 2, 2, 2});
  CATCH_CHECK(across(3) == std::vector{1, 2, 3, 2, 3, 3, 3, 3, 3});
  CATCH_CHECK(across(4) == std::vector{1, 2, 3, 4, 3, 3, 4, 4, 3});
}

CATCH_TEST_CASE("intervals split into panels keep every number") {
  StudyBuilder builder;
  for (const char* model : {"transformer", "diff"}) {
    for (const char* needles : {"1", "4"}) {
      builder.finished(concat(model, needles), 0,
                       {{"needle_accuracy", needles[0] == '1' ? .9 : .5}});
      builder.study.runs.back().axes = {{"model", model}, {"needles", needles}, {"seed", "0"}};
    }
  }
  auto interval =
      of_yaml<IntervalConfig>("name: intervals, y: model, x: needle_accuracy, facet: needles");
  const Drawing drawing = draw(builder, interval);
  CATCH_REQUIRE(drawing.rows.size() == 4);
  CATCH_CHECK(drawing.rows[2][0] == "4");
  CATCH_CHECK(drawing.rows[2][1] == "transformer");
  CATCH_CHECK(drawing.rows[2][2] == "0.5");
  CATCH_CHECK(drawing.spec["facet"]["sort"] == Json::array({"needles: 1", "needles: 4"}));
  CATCH_CHECK(drawing.spec["data"]["values"][2]["panel"] == "4");
}

CATCH_TEST_CASE("a variant looks the same whatever else is swept, and in whatever order") {
  const std::vector<std::string> some = {"diff", "my_diff", "transformer", "diff_v2"};
  const std::vector<std::string> others = {"diff_no_norm", "transformer", "diff_v2", "my_diff",
                                           "diff"};
  const auto find = [](const std::vector<std::string>& values, const std::string& baseline,
                       const std::string& value) {
    const auto looks = looks_of(values, baseline);
    return looks.at(
        static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin()));
  };
  for (const char* value : {"diff", "transformer", "diff_v2", "my_diff"}) {
    const Look one = find(some, "transformer", value);
    const Look other = find(others, "diff_v2", value);
    CATCH_INFO(value);
    CATCH_CHECK(one.color == other.color);
    CATCH_CHECK(one.shape == other.shape);
    CATCH_CHECK(one.dash == other.dash);
  }
  CATCH_CHECK(find(others, "diff_v2", "transformer").color == kInk);
  // A baseline that is none of ours is ink.
  CATCH_CHECK(find({"0.2", "schedule", "0.8"}, "schedule", "schedule").color == kInk);
}

CATCH_TEST_CASE("a legend of bare numbers is headed by what they are values of") {
  const TextMap named{{{"noise", "share of noise"}}};
  const auto title = [&](std::vector<std::string> shown) {
    std::vector<Series> series;
    for (const auto& label : shown) series.push_back({label, label, "", "", {}});
    return legend_title(series, "noise", Labels(named));
  };
  CATCH_CHECK(title({"0.2", "0"}) == "share of noise");
  CATCH_CHECK(title({"0.2", "all noise"}).is_null());
  CATCH_CHECK(title({"schedule"}).is_null());
}

CATCH_TEST_CASE("eleven values of an axis have eleven colours, shapes and dashes") {
  std::vector<std::string> values = {"transformer"};
  for (int i = 0; i < 10; ++i) values.push_back(concat("variant ", i));
  std::set<std::string> colors, shapes, dashes;
  for (const Look& look : looks_of(values, "transformer")) {
    colors.insert(look.color);
    shapes.insert(look.shape);
    dashes.insert(look.dash.dump());
  }
  CATCH_CHECK(colors.size() == 11);
  CATCH_CHECK(shapes.size() == 11);
  CATCH_CHECK(dashes.size() == 11);
  std::set<std::string> without_transformer;
  std::vector<std::string> others(values.begin() + 1, values.end());
  others.push_back("in the place of the Transformer");
  for (const Look& look : looks_of(others, "")) without_transformer.insert(look.color);
  CATCH_CHECK(without_transformer.size() == 11);
  const auto eleven = looks_of(values, "transformer");
  values.push_back("one too many");
  const auto twelve = looks_of(values, "transformer");
  CATCH_CHECK(twelve.size() == 12);
  for (std::size_t i = 0; i < eleven.size(); ++i) CATCH_CHECK(twelve[i].color == eleven[i].color);
}

}  // namespace
}  // namespace difflab::report
