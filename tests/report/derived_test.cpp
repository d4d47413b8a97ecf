#include "report/data/derived.h"

#include "report/data/frame.h"
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

Json cell(int length, int depth, double accuracy, double chance = 0.1) {
  const int right = static_cast<int>(accuracy * 100 + 0.5);
  return {{"needles", 4},     {"length", length},     {"depth", depth},  {"n", 100},
          {"correct", right}, {"accuracy", accuracy}, {"chance", chance}};
}

// The derived metric `name` of a run with these cells, as a frame gives it.
std::optional<double> derived(const DerivedConfig& config, const Json& cells) {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"steps", 10}},
                   {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
  builder.study.report.derived = {config};
  return frame_of(builder.study).runs()[0].metric("mine");
}

EffectiveLengthConfig effective() {
  return of_yaml<EffectiveLengthConfig>("name: mine, source: grid");
}

MapAreaConfig area() { return of_yaml<MapAreaConfig>("name: mine, source: grid"); }

CATCH_TEST_CASE("the effective length is the longest with 85 % of the base score") {
  // Base (.8 + .6) / 2 = .7, of which 85 % is .595: .6 at 128 is enough, .59 at 256 is not.
  Json cells = Json::array({cell(64, 0, .8), cell(64, 50, .6), cell(128, 0, .7), cell(128, 50, .5),
                            cell(256, 0, .6), cell(256, 50, .58)});
  CATCH_CHECK(derived(effective(), cells) == 128);
  cells.push_back(cell(512, 0, .6));  // kept to the end: the longest asked
  CATCH_CHECK(derived(effective(), cells) == 512);
  EffectiveLengthConfig strict = effective();
  strict.share = 1;
  CATCH_CHECK(derived(strict, cells) == 64);
}

CATCH_TEST_CASE("a run at chance keeps its score for ever, which counts as no length at all") {
  // 28 of 100: Wilson's interval is .201 to .375, and chance .25 lies in it.
  const Json at_chance = Json::array({cell(64, 0, .28, .25), cell(512, 0, .28, .25)});
  CATCH_CHECK(derived(effective(), at_chance) == 0);
  const Json above = Json::array({cell(64, 0, .45, .25), cell(512, 0, .45, .25)});
  CATCH_CHECK(derived(effective(), above) == 512);
  CATCH_CHECK_FALSE(derived(effective(), Json::array()));
}

CATCH_TEST_CASE("only cells that match where count") {
  EffectiveLengthConfig config = effective();
  config.where.entries = {{"depth", "0"}};
  CATCH_CHECK(derived(config, Json::array({cell(64, 0, .8), cell(128, 0, .2), cell(128, 50, .9),
                                           cell(256, 50, .9)})) == 64);
}

CATCH_TEST_CASE("the area under the map is the trapezoid rule in depth and log length") {
  // Lengths 64, 128, 512 stand at log2 0, 1, 3: weights 1/6, 3/6, 2/6. Depths 0 and 100: 1/2 each.
  // (.9 + .7)/2/6 + (.6 + .4)/2 · 3/6 + (.3 + .1)/2 · 2/6 = .13333 + .25 + .06667 = .45.
  const Json cells = Json::array({cell(64, 0, .9), cell(64, 100, .7), cell(128, 0, .6),
                                  cell(128, 100, .4), cell(512, 0, .3), cell(512, 100, .1)});
  CATCH_CHECK(derived(area(), cells).value() == Approx(.45));
  Json holed = cells;
  holed.erase(5);
  CATCH_CHECK_FALSE(derived(area(), holed));
  CATCH_CHECK(derived(area(), Json::array({cell(64, 0, .9), cell(64, 100, .5)})).value() ==
              Approx(.7));
}

CATCH_TEST_CASE("a derived metric is a column like any other") {
  StudyBuilder builder;
  for (int seed = 0; seed < 2; ++seed) {
    const Json cells = Json::array({cell(64, 0, .8), cell(seed == 0 ? 128 : 256, 0, .8)});
    builder.finished("diff", seed, {{"steps", 10}},
                     {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
  }
  builder.study.report = config::read<ReportConfig>(config::parse_yaml(R"(
derived: [{kind: effective_length, name: effective_length, source: grid}]
tables: [{columns: [effective_length]}]
)",
                                                                       "x.yaml"));
  write_report(builder.study);
  // 128 and 256: mean 192, half width 12.7062 · 64 = 813.
  CATCH_CHECK_THAT(
      read_file(builder.study.output / "table.md"),
      Contains("effective length (tokens) ↑ |") && Contains("| diff | 2 | 192 \\[0, 1,005\\] |"));
}

CATCH_TEST_CASE("runs below a bound are counted, and those without the metric are not asked") {
  StudyBuilder builder;
  for (int seed = 0; seed < 5; ++seed) {
    builder.finished("diff", seed, {{"lambda.0", seed == 4 ? 0.0 : -0.1 * (seed + 1)}});
    builder.finished("transformer", seed, {{"steps", 10}});
  }
  const char* report = R"(
derived: [{kind: below, name: is_negative, value: lambda.0}]
tables: [{columns: [is_negative]}]
labels: {is_negative: λ negative}
)";
  builder.study.report = config::read<ReportConfig>(config::parse_yaml(report, "x.yaml"));
  write_report(builder.study);
  const auto table = read_file(builder.study.output / "table.md");
  CATCH_CHECK_THAT(table,
                   Contains("λ negative |") && Contains("| diff | 5 | 4/5 \\[0.38, 0.96\\] |"));
  CATCH_CHECK_THROWS_WITH(of_yaml<BelowConfig>("name: negative, value: lambda.0"),
                          Contains("expected one that begins with is_"));
}

CATCH_TEST_CASE("a source's numbers stand beside the measured ones, as the source prints them") {
  StudyBuilder builder;
  for (int seed = 0; seed < 5; ++seed) {
    builder.finished("diff", seed, {{"ar_hit_loss", 1.5 + 0.1 * seed}});
    builder.finished("transformer", seed, {{"ar_hit_loss", 1.6}});
  }
  const char* report = R"(
derived: [{kind: published, name: published_ar_hit_loss, value: ar_hit_loss, numbers: {diff: 0.88}}]
tables: [{columns: [ar_hit_loss, published_ar_hit_loss]}]
)";
  builder.study.report = config::read<ReportConfig>(config::parse_yaml(report, "x.yaml"));
  write_report(builder.study);
  CATCH_CHECK_THAT(read_file(builder.study.output / "table.md"),
                   Contains("| published ar hit loss |") && Contains(" | 0.88 |\n") &&
                       Contains(" |  |\n") && !Contains("0.8800"));
  // LaTeX keeps the place of an empty cell.
  CATCH_CHECK_THAT(read_file(builder.study.output / "table.tex"),
                   Contains("& 0.88 \\\\\n") && Contains("0.0000 &  \\\\\n"));
  CATCH_CHECK_THROWS_WITH(of_yaml<PublishedConfig>("name: published_a"),
                          Contains("value is missing; expected: metric of result.json"));
  CATCH_CHECK_THROWS_WITH(
      of_yaml<PublishedConfig>("name: published, value: loss, numbers: {a: b}"),
      Contains("begins with published_") && Contains("numbers.a is 'b'; expected a number"));
}

CATCH_TEST_CASE("looks are cells of their metrics, and of each layer's λ") {
  const auto cells = cells_of_looks(Json::parse(
      R"({"every": 5, "valid_accuracy": [null, 0.5], "lambda.0": [0.2, 0.1], "lambda.1": [0.3, -0.4]})"));
  CATCH_CHECK(cells == std::vector<Json>{{{"step", 5.0}},
                                         {{"step", 5.0}, {"layer", 0}, {"lambda", 0.2}},
                                         {{"step", 5.0}, {"layer", 1}, {"lambda", 0.3}},
                                         {{"step", 10.0}, {"valid_accuracy", 0.5}},
                                         {{"step", 10.0}, {"layer", 0}, {"lambda", 0.1}},
                                         {{"step", 10.0}, {"layer", 1}, {"lambda", -0.4}}});
}

}  // namespace
}  // namespace difflab::report
