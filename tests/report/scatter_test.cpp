// Every run as a point, and how much of x a line needs for the y that both reach.
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
    builder.finished(model, std::stoi(seed), {{"parameters", 1e4}, {"test_loss", nullptr}},
                     {{"censored", Json{{"test_loss", 99}}}});
    builder.study.runs.back().axes = {{"model", model}, {"size", "0"}, {"seed", seed}};
  }
  std::string said() const { return draw(builder, scaling()).spec["description"]; }
  StudyBuilder builder;
};

CATCH_TEST_CASE("a scatter says how much of x a line needs for the same y, seed by seed") {
  Sizes sizes;
  const double shares[] = {0.60, 0.62, 0.64};
  for (int seed = 0; seed < 3; ++seed) {
    sizes.add("transformer", seed, kSizes, 1);
    sizes.add("diff", seed, kSizes, shares[seed]);
  }
  const Drawing drawing = draw(sizes.builder, scaling());
  const std::string said = drawing.spec["description"];
  CATCH_CHECK_THAT(said, Contains("Every run is a point (n = 24)"));
  // log .60, .62, .64: mean −.4789, sd .03227; t of two degrees of freedom at .975 is 4.3027
  CATCH_CHECK_THAT(said,
                   Contains("diff needs 0.62 [0.57, 0.67] times the parameters of transformer "
                            "for the same test loss (3 seeds, interpolated)"));
  CATCH_CHECK_THAT(said, !Contains("^"));
  CATCH_CHECK(drawing.columns == std::vector<std::string>{"model", "run", "parameters", "test_loss",
                                                          "ratio_at_equal_test_loss", "ratio_low",
                                                          "ratio_high"});
  CATCH_CHECK(drawing.rows[0][4].empty());
  CATCH_CHECK(std::stod(drawing.rows.back()[4]) == Approx(0.6198).epsilon(1e-3));
  // The line goes through the means over seeds.
  const Json& line = drawing.spec["layer"][0]["data"]["values"];
  CATCH_REQUIRE(line.size() == 8);
  CATCH_CHECK(line[0]["y"] == 9 * std::pow(1e4, -.25));
}

CATCH_TEST_CASE("a worse line needs more, and what lies beyond the sizes is not said") {
  const Sizes sizes(1.5);
  CATCH_CHECK_THAT(sizes.said(), Contains("diff needs 1.50 times the parameters of transformer"));
  const Sizes apart(0.001);  // its smallest is better than the other's largest
  CATCH_CHECK_THAT(apart.said(), !Contains("needs"));
}

CATCH_TEST_CASE("runs whose time never came are counted, and no mean is drawn of the others") {
  Sizes sizes(0.5);
  sizes.never("diff", "9");
  const Drawing drawing = draw(sizes.builder, scaling());
  const std::string said = drawing.spec["description"];
  CATCH_CHECK_THAT(said,
                   Contains("Not drawn: 1 of 5 runs of diff never got there, so there is no line"));
  CATCH_CHECK_THAT(said, Contains("(n = 8)") && !Contains("needs"));
  CATCH_CHECK(drawing.spec["layer"][0]["data"]["values"].size() == 4);  // the baseline's means
  CATCH_CHECK(drawing.rows.size() == 9);
  CATCH_CHECK(drawing.rows.back()[3].empty());
}

CATCH_TEST_CASE("nothing is compared with a baseline of which a run never got there") {
  Sizes sizes(0.5);
  sizes.never("transformer", "8");
  CATCH_CHECK_THAT(sizes.said(), !Contains("needs"));
}

CATCH_TEST_CASE("no line is drawn where the figure wants none") {
  Sizes sizes(0.5);
  auto config = scaling();
  config.line = Through::kNone;
  const Drawing drawing = draw(sizes.builder, config);
  CATCH_CHECK(drawing.spec["layer"].size() == 1);
  CATCH_CHECK_THAT(drawing.spec["description"].get<std::string>(), !Contains("needs"));
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
