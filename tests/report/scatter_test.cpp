// Every run as a point, and how much of x a variant needs for the y that the baseline reaches.
#include <set>

#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

ScatterConfig scaling() {
  return of_yaml<ScatterConfig>("name: scaling, x: parameters, y: test_loss, color: model");
}

const std::vector<double> kSizes = {1e4, 4e4, 16e4, 64e4};

/// Models of four sizes and some seeds; the loss is a power of the parameters, of which a model
/// needs a share for the same loss. Seeds differ, but alike for all models.
struct Sizes {
  Sizes() { builder.study.baseline = "transformer"; }
  /// One seed of the baseline and of a model that needs this share.
  explicit Sizes(double share) : Sizes() {
    add("transformer", 0, kSizes, 1);
    add("diff", 0, kSizes, share);
  }
  void add(const std::string& model, int seed, const std::vector<double>& sizes, double share) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double loss = (8 + seed) * std::pow(sizes[i] / share, -.25);
      builder.finished(model, 100 * seed + static_cast<int>(i),
                       {{"parameters", sizes[i]}, {"test_loss", loss}});
      builder.study.runs.back().axes = {
          {"model", model}, {"size", std::to_string(i)}, {"seed", std::to_string(seed)}};
    }
  }
  /// A run of the smallest size that never got there.
  void never(const std::string& model, const std::string& seed) {
    builder.finished(model, 900 + std::stoi(seed), {{"parameters", 1e4}, {"test_loss", nullptr}},
                     {{"censored", Json{{"test_loss", 99}}}});
    builder.study.runs.back().axes = {{"model", model}, {"size", "0"}, {"seed", seed}};
  }
  StudyBuilder builder;
};

CATCH_TEST_CASE("every run is a point, and the line goes through the means") {
  Sizes sizes;
  for (int seed = 0; seed < 3; ++seed) {
    sizes.add("transformer", seed, kSizes, 1);
    sizes.add("diff", seed, kSizes, 0.62);
  }
  const Drawing drawing = draw(sizes.builder, scaling());
  const std::string said = drawing.spec["description"];
  CATCH_CHECK_THAT(said, Contains("Every run is a point (n = 24)") && !Contains("^"));
  CATCH_CHECK(drawing.columns ==
              std::vector<std::string>{"model", "run", "parameters", "test_loss"});
  const Json& line = drawing.spec["layer"][0]["data"]["values"];
  CATCH_REQUIRE(line.size() == 8);
  CATCH_CHECK(line[0]["y"] == 9 * std::pow(1e4, -.25));
}

CATCH_TEST_CASE("what a variant needs for the baseline's level is a metric, seed by seed") {
  Sizes sizes;
  const double shares[] = {0.60, 0.62, 1.5};
  for (int seed = 0; seed < 3; ++seed) {
    sizes.add("transformer", seed, kSizes, 1);
    sizes.add("diff", seed, kSizes, shares[seed]);
    sizes.add("apart", seed, kSizes, 0.001);  // its smallest is better than the other's largest
  }
  const auto config =
      of_yaml<EqualLevelConfig>("name: needs, value: test_loss, along: size, variants: model");
  const auto needs = [&](std::string_view model, std::string_view seed) {
    sizes.builder.study.report.derived = {config};
    std::set<std::optional<double>> all;
    const Frame frame = frame_of(sizes.builder.study);
    for (const auto& run : frame.runs()) {
      if (run.axis("model") == model && run.axis("seed") == seed) all.insert(run.metric("needs"));
    }
    CATCH_REQUIRE(all.size() == 1);  // the same for each size
    return *all.begin();
  };
  CATCH_CHECK(needs("diff", "0").value() == Approx(0.60));
  CATCH_CHECK(needs("diff", "1").value() == Approx(0.62));
  CATCH_CHECK(needs("diff", "2").value() == Approx(1.5));
  CATCH_CHECK(needs("transformer", "2") == 1);
  CATCH_CHECK_FALSE(needs("apart", "0"));
  sizes.never("diff", "1");  // one size has no loss
  CATCH_CHECK_FALSE(needs("diff", "1"));
  CATCH_CHECK(needs("diff", "0").value() == Approx(0.60));
  sizes.never("transformer", "0");
  CATCH_CHECK_FALSE(needs("diff", "0"));

  CATCH_CHECK_THROWS_WITH(of_yaml<EqualLevelConfig>("name: needs"),
                          Contains("value is missing") && Contains("along is missing"));
}

CATCH_TEST_CASE("runs whose time never came are counted, and no mean is drawn of the others") {
  Sizes sizes(0.5);
  sizes.never("diff", "9");
  const Drawing drawing = draw(sizes.builder, scaling());
  const std::string said = drawing.spec["description"];
  CATCH_CHECK_THAT(said,
                   Contains("Not drawn: 1 of 5 runs of diff never got there, so there is no line"));
  CATCH_CHECK_THAT(said, Contains("(n = 8)"));
  CATCH_CHECK(drawing.spec["layer"][0]["data"]["values"].size() == 4);  // the baseline's means
  CATCH_CHECK(drawing.rows.size() == 9);
  CATCH_CHECK(drawing.rows.back()[3].empty());
}

CATCH_TEST_CASE("no line is drawn where the figure wants none") {
  Sizes sizes(0.5);
  auto config = scaling();
  config.line = Through::kNone;
  const Drawing drawing = draw(sizes.builder, config);
  CATCH_CHECK(drawing.spec["layer"].size() == 1);
}

CATCH_TEST_CASE("an axis with a value of 0 is not logarithmic, as no other value would be seen") {
  Sizes sizes;
  sizes.add("diff", 0, kSizes, 1);
  const auto type_of_x = [&](const Drawing& drawing) {
    return drawing.spec["layer"][0]["encoding"]["x"]["scale"].value("type", "linear");
  };
  CATCH_CHECK(type_of_x(draw(sizes.builder, scaling())) == "log");
  sizes.builder.finished("diff", 900, {{"parameters", 0}, {"test_loss", 3}});
  sizes.builder.study.runs.back().axes = {{"model", "diff"}, {"size", "9"}, {"seed", "9"}};
  CATCH_CHECK(type_of_x(draw(sizes.builder, scaling())) == "linear");
}

}  // namespace
}  // namespace difflab::report
