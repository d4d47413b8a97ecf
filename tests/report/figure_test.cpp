#include "report/example_study.h"
#include "report/page/figure_files.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

// Accuracy at steps 10 and 20 of three seeds; the third diverged after step 10. Lines without the
// metric stand in between, as the training loss is written more often.
void fill_curves(StudyBuilder& builder) {
  const double at_10[] = {0.1, 0.2, 0.3};
  const double at_20[] = {0.5, 0.7, 0};
  for (int seed = 0; seed < 3; ++seed) {
    const bool diverges = seed == 2;
    Json more = Json::object();
    if (diverges) more = {{"status", "diverged"}, {"diverged_at_step", 15}};
    builder.finished("diff", seed, {{"needle_accuracy", diverges ? Json(nullptr) : Json(0.9)}},
                     more);
    std::string curve;
    curve += Json{{"step", 5}, {"train_loss", 3.0}}.dump() + "\n";
    curve += Json{{"step", 10}, {"needle_accuracy", at_10[seed]}}.dump() + "\n";
    if (!diverges) curve += Json{{"step", 20}, {"needle_accuracy", at_20[seed]}}.dump() + "\n";
    write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl", curve);
  }
}

LineConfig learning() {
  return of_yaml<LineConfig>("name: learning, y: needle_accuracy, color: model");
}

CATCH_TEST_CASE("a learning curve is the mean and interval of the runs that reached the step") {
  StudyBuilder builder;
  fill_curves(builder);
  const Drawing drawing = draw(builder, learning());
  CATCH_CHECK(drawing.columns == std::vector<std::string>{"model", "step", "mean_needle_accuracy",
                                                          "low_needle_accuracy",
                                                          "high_needle_accuracy", "n"});
  CATCH_REQUIRE(drawing.rows.size() == 2);  // nothing at step 5, where it was not measured
  // Step 10: mean .2, s .1, φ = .01 / .16, c = 4.302653² φ / 3: (.2 + c/2 ± √(.16 c + c²/4)) / (1 +
  // c).
  CATCH_CHECK(drawing.rows[0][1] == "10");
  CATCH_CHECK(std::stod(drawing.rows[0][2]) == Approx(0.2));
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(0.0565514).epsilon(1e-5));
  CATCH_CHECK(drawing.rows[0][5] == "3");
  // Step 20: 0.5 and 0.7, s = 0.2 / √2: not beyond 1.
  CATCH_CHECK(std::stod(drawing.rows[1][2]) == Approx(0.6));
  CATCH_CHECK(std::stod(drawing.rows[1][4]) == Approx(0.978258).epsilon(1e-5));
  CATCH_CHECK(drawing.rows[1][5] == "2");
  CATCH_CHECK(drawing.spec["title"]["subtitle"].dump().find("Diverged: diff (step 15)") !=
              std::string::npos);
}

CATCH_TEST_CASE("a learning curve ends with its first run, and shows no choice of them") {
  const int first = GENERATE(20, 25);  // a look of the others, or between two
  StudyBuilder builder;
  const int stops[] = {first, 30, 40};
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("diff", seed, {{"needle_accuracy", 0.9}});
    std::string lines;
    for (int step = 0; step <= stops[seed]; step += step == 20 && stops[seed] == 25 ? 5 : 10) {
      Json line = {{"step", step}, {"needle_accuracy", step / 40.}};
      if (step > 0) line["train_loss"] = 1;  // of which there is none before the first step
      lines += line.dump() + "\n";
    }
    write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl", lines);
  }
  for (const char* y : {"needle_accuracy", "train_loss"}) {
    auto line = learning();
    line.y = y;
    const Drawing drawing = draw(builder, line);
    CATCH_REQUIRE(drawing.rows.size() == (line.y == "needle_accuracy" ? 3 : 2));
    for (const auto& row : drawing.rows) CATCH_CHECK(row[5] == "3");
    CATCH_CHECK(drawing.rows.back()[1] == "20");
    CATCH_CHECK(drawing.spec["title"]["subtitle"].dump().find("A line ends where the first") !=
                std::string::npos);
  }
}

CATCH_TEST_CASE("a single run has a line and no band") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"needle_accuracy", 0.9}});
  write_file_atomically(builder.study.runs[0].directory.path / "metrics.jsonl",
                        "{\"step\":10,\"needle_accuracy\":0.5}\n");
  const Drawing drawing = draw(builder, learning());
  CATCH_REQUIRE(drawing.spec["data"]["values"].size() == 1);
  CATCH_CHECK(drawing.spec["data"]["values"][0]["mean"] == 0.5);
  CATCH_CHECK(drawing.spec["data"]["values"][0]["low"].is_null());
}

Json cell(int needles, int length, int depth, int correct) {
  return {{"needles", needles}, {"length", length},           {"depth", depth},         {"n", 10},
          {"correct", correct}, {"accuracy", correct / 10.0}, {"chance", 1.0 / needles}};
}

void fill_cells(StudyBuilder& builder) {
  for (int seed = 0; seed < 2; ++seed) {
    const Json cells = Json::array({cell(4, 64, 0, 8 + seed), cell(4, 64, 50, 6),
                                    cell(4, 128, 0, 2 + 2 * seed), cell(1, 64, 0, 10)});
    builder.finished("diff", seed, {{"needle_accuracy", 0.9}, {"needle_accuracy_chance", 0.125}},
                     {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
  }
}

CATCH_TEST_CASE("cells of one run are averaged first, because only runs are independent") {
  StudyBuilder builder;
  fill_cells(builder);
  auto line = of_yaml<LineConfig>(
      "name: length, source: grid, x: length, y: accuracy, color: model, where: {needles: 4}");
  const Drawing drawing = draw(builder, line);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  // Length 64: run means (0.8 + 0.6) / 2 = 0.70 and (0.9 + 0.6) / 2 = 0.75.
  CATCH_CHECK(drawing.rows[0][1] == "64");
  CATCH_CHECK(std::stod(drawing.rows[0][2]) == Approx(0.725));
  CATCH_CHECK(drawing.rows[0][5] == "2");
  CATCH_CHECK(std::stod(drawing.rows[1][2]) == Approx(0.3));
}

CATCH_TEST_CASE("categories stand side by side under their labels, in the order of the cells") {
  StudyBuilder builder;
  const auto at_bits = [](int bits) { return Json{{"bits", bits}, {"accuracy", 0.5}}; };
  const Json cells = Json::array({at_bits(0), at_bits(16), at_bits(4), at_bits(2)});
  builder.finished("diff", 0, {}, {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
  builder.study.report.labels.entries.emplace_back("0", "as they are");
  auto line = of_yaml<LineConfig>(
      "name: bits, source: grid, x: bits, y: accuracy, color: model, x_scale: category");
  const Drawing drawing = draw(builder, line);
  CATCH_CHECK(drawing.spec["data"]["values"][0]["x"] == "as they are");
  for (const Json& layer : drawing.spec["layer"]) {
    const Json& x = layer["encoding"]["x"];
    CATCH_CHECK(x["type"] == "ordinal");
    CATCH_CHECK(x["sort"] == Json::array({"as they are", "16", "4", "2"}));
  }
  line.x_scale = LineScale::kLinear;
  CATCH_CHECK(draw(builder, line).spec["data"]["values"][0]["x"] == 0);
}

CATCH_TEST_CASE("the chance of a cell is that of its accuracy, and of nothing else") {
  StudyBuilder builder;
  const Json cells = Json::array({Json{{"distractors", 1},
                                       {"accuracy", 0.5},
                                       {"invented", 0.3},
                                       {"misread", 0.2},
                                       {"misread_chance", 0.5},
                                       {"chance", 0.25}}});
  builder.finished("diff", 0, {}, {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
  const auto chance_of = [&](const char* measure) {
    auto line = of_yaml<LineConfig>(
        concat("name: line, source: grid, x: distractors, color: model, y: ", measure));
    Json levels = Json::array();
    const Drawing drawing = draw(builder, line);
    for (const Json& layer : drawing.spec["layer"]) {
      if (layer.contains("data")) levels.push_back(layer["data"]["values"][0]["chance"]);
    }
    return levels;
  };
  CATCH_CHECK(chance_of("accuracy") == Json::array({0.25}));
  CATCH_CHECK(chance_of("invented") == Json::array());
  CATCH_CHECK(chance_of("misread") == Json::array({0.5}));
}

CATCH_TEST_CASE("a heat map has one scale from 0 to 1, pooled counts and the chance level") {
  StudyBuilder builder;
  fill_cells(builder);
  auto heatmap = of_yaml<HeatmapConfig>(
      "name: grid, source: grid, x: length, y: depth, value: accuracy, facet: model, where: "
      "{needles: 4}");
  const Drawing drawing = draw(builder, heatmap);
  CATCH_REQUIRE(drawing.rows.size() == 3);  // no cell for length 128 at depth 50: nobody ran it
  const auto& first = drawing.rows[0];
  CATCH_CHECK(first[0] == "diff");
  CATCH_CHECK(first[7] == "17");
  CATCH_CHECK(first[8] == "20");
  // Wilson for 17 of 20, z = 1.959964: (0.85 + 0.096036 ± 0.179586) / 1.192073.
  CATCH_CHECK(std::stod(first[9]) == Approx(0.6396).margin(0.0001));
  CATCH_CHECK(std::stod(first[10]) == Approx(0.9476).margin(0.0001));
  CATCH_CHECK(drawing.spec.dump().find("\"domain\":[0,1],\"scheme\":\"viridis\"") !=
              std::string::npos);
  CATCH_CHECK(drawing.spec["title"]["subtitle"].dump().find("chance level 0.250") !=
              std::string::npos);
}

CATCH_TEST_CASE("a heat map may show the runs alone that got to an event, and says so") {
  StudyBuilder builder;
  for (int seed = 0; seed < 3; ++seed) {
    const bool got_there = seed > 0;
    builder.finished(
        "diff", seed, {{"steps_to_found", got_there ? Json(100 + seed) : Json()}},
        {{"censored", Json{{"steps_to_found", 400}}},
         {"evaluations",
          Json{{"grid", Json{{"cells", Json::array({cell(4, 64, 0, got_there ? 9 : 2)})}}}}}});
  }
  auto heatmap = of_yaml<HeatmapConfig>(
      "name: grid, source: grid, x: length, y: depth, value: accuracy, reached: steps_to_found");
  const Drawing drawing = draw(builder, heatmap);
  CATCH_REQUIRE(drawing.rows.size() == 1);
  CATCH_CHECK(std::stod(drawing.rows[0][3]) == Approx(0.9));
  CATCH_CHECK(drawing.spec["title"]["subtitle"].dump().find(
                  "2 of 3 runs; the others never got there (steps to found)") != std::string::npos);
}

CATCH_TEST_CASE("a heat map of few cells outlines and labels each, one of many stays readable") {
  const auto drawn_with = [](int places) {
    StudyBuilder builder;
    Json cells = Json::array();
    for (int query = 0; query < places; ++query) {
      for (int key = 0; key <= query; ++key) {
        cells.push_back({{"query", query}, {"key", key}, {"share", 0.1}});
      }
    }
    for (const char* model : {"diff", "transformer"}) {
      builder.finished(model, 0, Json::object(),
                       {{"evaluations", Json{{"map", Json{{"cells", cells}}}}}});
    }
    auto heatmap = of_yaml<HeatmapConfig>(
        "name: map, source: map, x: key, y: query, value: share, facet: model");
    return draw(builder, heatmap).spec["spec"];
  };
  const Json few = drawn_with(6), many = drawn_with(64);
  CATCH_CHECK(few["layer"].size() == 2);  // with its numbers
  CATCH_CHECK(few["layer"][0]["mark"].contains("stroke"));
  CATCH_CHECK_FALSE(few["layer"][0]["encoding"]["x"]["axis"].contains("labelOverlap"));
  CATCH_CHECK(many["layer"].size() == 1);
  CATCH_CHECK_FALSE(many["layer"][0]["mark"].contains("stroke"));
  for (const char* axis : {"x", "y"}) {
    CATCH_CHECK(many["layer"][0]["encoding"][axis]["axis"]["labelOverlap"] == "greedy");
  }
  CATCH_CHECK(many["height"] == 384);  // 64 rows of 6 pixels: no more than 400
}

CATCH_TEST_CASE("a variant has one colour, dash and shape in all figures, the baseline ink") {
  StudyBuilder builder;
  fill_like_headline(builder);
  const Labels labels(builder.study.report.labels);
  const auto series = Style{labels}.series(frame_of(builder.study), "model");
  CATCH_REQUIRE(series.size() == 8);
  CATCH_CHECK(series[0].value == "transformer");
  CATCH_CHECK(series[0].color == kInk);
  std::set<std::string> colors;
  std::set<std::string> shapes;
  for (const Series& one : series) {
    colors.insert(one.color);
    shapes.insert(one.shape);
  }
  CATCH_CHECK(colors.size() == 8);
  CATCH_CHECK(shapes.size() == 8);
  const Json expected = color_scale(series);
  for (const FigureConfig& figure : headline_report().figures) {
    const Json spec = std::visit([&](const auto& f) { return draw(builder, f).spec; }, figure);
    CATCH_CHECK(Json::parse(spec.dump()) == spec);
    if (std::holds_alternative<HeatmapConfig>(figure)) continue;
    CATCH_CHECK(spec.dump().find(expected.dump().substr(1, expected.dump().size() - 2)) !=
                std::string::npos);
  }
}

CATCH_TEST_CASE("the order of a figure is the order of the sweep") {
  StudyBuilder builder;
  fill_like_headline(builder);
  auto interval = of_yaml<IntervalConfig>("name: accuracy, y: model, x: needle_accuracy");
  const Drawing drawing = draw(builder, interval);
  CATCH_REQUIRE(drawing.rows.size() == 8);
  CATCH_CHECK(drawing.rows[0][0] == "transformer");
  CATCH_CHECK(drawing.rows[3][0] == "diff");
  CATCH_CHECK(drawing.rows[7][0] == "diff_v2");
}

CATCH_TEST_CASE("without the renderer data and specifications appear, an old figure stays") {
  StudyBuilder builder;
  fill_curves(builder);
  builder.study.report.figures = {learning()};
  builder.study.renderer.python = builder.folder() / "no-python";
  const auto figures = builder.study.output / "figures";
  make_directories(figures);
  for (const char* old : {"learning.svg", "learning.pdf", "learning.png"}) {
    write_file_atomically(figures / old, "a picture of other data");
  }
  const Summary summary = write_report(builder.study);
  CATCH_REQUIRE(summary.warnings.size() == 1);
  CATCH_CHECK_FALSE(summary.has_failed_to_draw);
  CATCH_CHECK(summary.warnings[0].find("no-python is missing") != std::string::npos);
  CATCH_CHECK(summary.text.find("Warning: Figures are not drawn") != std::string::npos);
  for (const char* old : {"learning.svg", "learning.pdf", "learning.png"}) {
    CATCH_CHECK(read_file(figures / old) == "a picture of other data");
    std::filesystem::remove(figures / old);
  }
  CATCH_CHECK_FALSE(std::filesystem::exists(figures / "learning.csv"));
  write_report(builder.study);
  CATCH_CHECK(Json::parse(read_file(figures / "learning.vl.json"))["$schema"] ==
              "https://vega.github.io/schema/vega-lite/v5.json");
  CATCH_CHECK(read_file(figures / "learning.csv").substr(0, 11) == "model,step,");
}

}  // namespace
}  // namespace difflab::report
