#include "report/claim.h"

#include "config/reader.h"
#include "config/yaml.h"
#include "report/example_study.h"
#include "report/frame.h"
#include "report/metric.h"
#include "support/catch.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

using Catch::Contains;

ClaimConfig finds_more() {
  ClaimConfig claim;
  claim.text = "DIFF finds more needles";
  claim.metric = "needle_accuracy";
  claim.variant = "diff";
  claim.paper = ".84 against .62 (a paper, table 2)";
  return claim;
}

// Accuracies of three seeds: the baseline has .2 .3 .4, so that the differences are those given.
struct Runs {
  explicit Runs(const std::vector<double>& differences) : builder(folder.path()) {
    for (std::size_t seed = 0; seed < differences.size(); ++seed) {
      const double base = 0.2 + 0.1 * static_cast<double>(seed);
      const int number = static_cast<int>(seed);
      builder.finished("transformer", number, {{"needle_accuracy", base}});
      builder.finished("diff", number, {{"needle_accuracy", base + differences[seed]}});
    }
  }
  Answer ask(const ClaimConfig& claim) {
    builder.study.report.claims = {claim};
    return answer_claims(builder.study, Frame(builder.study), Labels(builder.study.report.labels))
        .at(0);
  }
  TemporaryFolder folder;
  StudyBuilder builder;
};

CATCH_TEST_CASE("a claim is supported, opposite or not resolved by the paired interval") {
  // Mean .5, s .1, half width 4.302653 · .1 / √3 = .248.
  CATCH_CHECK(Runs({.4, .5, .6}).ask(finds_more()).text ==
              "Supported with 3 seeds: DIFF finds more needles. Needle accuracy 0.800 (diff) "
              "against 0.300 (transformer), difference +0.500, 95 % interval +0.252 to +0.748, 3 "
              "paired seeds. Source: .84 against .62 (a paper, table 2).");
  CATCH_CHECK(Runs({-.4, -.5, -.6}).ask(finds_more()).verdict == Verdict::kOpposite);
  // Mean .1, the same half width: the interval includes zero.
  CATCH_CHECK_THAT(Runs({.0, .1, .2}).ask(finds_more()).text,
                   Contains("Not resolved with 3 seeds: ") &&
                       Contains("difference +0.100, 95 % interval −0.148 to +0.348"));
  ClaimConfig lower = finds_more();
  lower.expect = Expect::kLower;
  CATCH_CHECK(Runs({-.4, -.5, -.6}).ask(lower).verdict == Verdict::kSupported);
  CATCH_CHECK(Runs({.4, .5, .6}).ask(lower).verdict == Verdict::kOpposite);
}

CATCH_TEST_CASE("one pair, a censored pair and a variant without runs are no answer, and say so") {
  CATCH_CHECK_THAT(Runs({.5}).ask(finds_more()).text,
                   Contains("Not resolved with 1 seed: ") && Contains("in one pair, which has no"));
  ClaimConfig unknown = finds_more();
  unknown.variant = "diff_v2";
  CATCH_CHECK_THAT(Runs({.4, .5, .6}).ask(unknown).text,
                   Contains("Not measured: ") && Contains("No pair of finished runs of diff v2 and "
                                                          "transformer has needle accuracy."));
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_90_accuracy", nullptr}},
                     {{"censored", Json{{"steps_to_90_accuracy", 1600}}}});
    builder.finished("diff", seed, {{"steps_to_90_accuracy", 400 + seed}});
  }
  ClaimConfig sooner = finds_more();
  sooner.metric = "steps_to_90_accuracy";
  sooner.expect = Expect::kLower;
  builder.study.report.claims = {sooner};
  const auto answers =
      answer_claims(builder.study, Frame(builder.study), Labels(builder.study.report.labels));
  CATCH_CHECK(answers.at(0).verdict == Verdict::kUnresolved);
  CATCH_CHECK_THAT(answers.at(0).text, Contains("in 3 of 3 pairs a run had not got there"));
}

CATCH_TEST_CASE("a claim about one setting of another axis uses its runs alone") {
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  for (int seed = 0; seed < 2; ++seed) {
    for (const char* model : {"transformer", "diff"}) {
      for (const char* length : {"64", "128"}) {
        const bool long_diff = std::string(model) == "diff" && std::string(length) == "128";
        builder.finished(concat(model, length), seed,
                         {{"needle_accuracy", long_diff ? 0.9 + 0.01 * seed : 0.5}});
        builder.study.runs.back().axes = {
            {"model", model}, {"task.length", length}, {"seed", concat(seed)}};
      }
    }
  }
  ClaimConfig claim = finds_more();
  claim.where.entries = {{"task.length", "128"}};
  builder.study.report.claims = {claim};
  builder.study.report.tables = {};
  const Labels labels(builder.study.report.labels);
  // Differences .40 and .41 at 128: mean .405.
  CATCH_CHECK_THAT(answer_claims(builder.study, Frame(builder.study), labels).at(0).text,
                   Contains("Supported with 2 seeds") && Contains("difference +0.405"));
  CATCH_CHECK(check_report(builder.study.report, {"model", "task.length", "seed"}).empty());
  builder.study.report.claims[0].where = {};
  const auto problems = check_report(builder.study.report, {"model", "task.length", "seed"});
  CATCH_REQUIRE(problems.size() == 1);
  CATCH_CHECK(problems[0].key == "claims[0]");
  CATCH_CHECK(problems[0].message ==
              "would average over axis 'task.length'; say with where which of its values is meant");
}

CATCH_TEST_CASE("answers stand in the terminal, in the table's file and on the page") {
  Runs runs({.4, .5, .6});
  runs.builder.study.report.claims = {finds_more()};
  TableConfig table;
  table.columns = {"needle_accuracy"};
  runs.builder.study.report.tables = {table};
  const Summary summary = write_report(runs.builder.study);
  const auto folder = runs.builder.study.output;
  CATCH_CHECK_THAT(summary.text, Contains("Supported with 3 seeds: DIFF finds more needles."));
  CATCH_CHECK_THAT(read_file(folder / "table.md"), Contains("\nSupported with 3 seeds: "));
  CATCH_CHECK_THAT(read_file(folder / "table.tex"), Contains("% Supported with 3 seeds: "));
  CATCH_CHECK_THAT(read_file(folder / "report.html"), Contains(">Supported with 3 seeds: "));
}

CATCH_TEST_CASE("a claim without metric or variant, or against itself, is refused") {
  const auto problem_in = [](const std::string& text) -> std::string {
    try {
      config::read<ReportConfig>(config::parse_yaml(text, "x.yaml"));
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CATCH_CHECK_THAT(problem_in("claims: [{text: a, metric: b}]\n"),
                   Contains("claims[0].variant is missing"));
  CATCH_CHECK_THAT(problem_in("claims: [{text: a, metric: b, variant: c, expect: more}]\n"),
                   Contains("expected one of higher, lower"));
  CATCH_CHECK_THAT(problem_in("claims: [{text: a, metric: b, variant: c, against: c}]\n"),
                   Contains("is the variant itself"));
}

}  // namespace
}  // namespace difflab::report
