#include "report/table/claim.h"

#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/example_study.h"
#include "statistics/holm.h"
#include "support/catch.h"
#include "util/random.h"

namespace difflab::report {
namespace {

ClaimConfig finds_more() {
  return of_yaml<ClaimConfig>(
      "text: DIFF finds more needles, metric: needle_accuracy, variant: diff, paper: '.84 against "
      ".62 (a paper, table 2)'");
}

// Accuracies, or another metric, of paired seeds: the baseline has .3, so that the differences are
// those given.
struct Runs {
  explicit Runs(const std::vector<double>& differences, double base = 0.3,
                const std::string& metric = "needle_accuracy") {
    for (std::size_t seed = 0; seed < differences.size(); ++seed) {
      const int number = static_cast<int>(seed);
      builder.finished("transformer", number, {{metric, base}, {metric + "_chance", 0.125}});
      builder.finished("diff", number, {{metric, base + differences[seed]}});
    }
  }
  std::vector<Answer> ask(const std::vector<ClaimConfig>& claims) {
    builder.study.report.claims = claims;
    return answer_claims(builder.study, frame_of(builder.study),
                         Labels(builder.study.report.labels));
  }
  Answer ask(const ClaimConfig& claim) { return ask(std::vector{claim}).at(0); }
  StudyBuilder builder;
};

// Eight differences around a mean, whose standard deviation is s.
std::vector<double> around(double mean, double s) {
  std::vector<double> differences;
  for (const double z : {-1.3, -0.9, -0.6, -0.2, 0.2, 0.6, 0.9, 1.3}) {
    differences.push_back(mean + s * z);
  }
  return differences;
}

CATCH_TEST_CASE("a claim is supported or opposite if exact p and interval agree") {
  const auto answer = Runs(around(.4, .05)).ask(finds_more());
  CATCH_CHECK(answer.verdict == Verdict::kSupported);
  CATCH_CHECK(answer.pairs() == 8);
  CATCH_CHECK(*answer.p == 2 / 256.);
  CATCH_CHECK(answer.text ==
              "Supported with 8 seeds: DIFF finds more needles. Needle accuracy 0.700 (diff) "
              "against 0.300 (transformer), difference +0.400, 95 % interval +0.361 to +0.437, 8 "
              "paired seeds, p = 0.008. Source: .84 against .62 (a paper, table 2).");
  CATCH_CHECK(Runs(around(-.2, .05)).ask(finds_more()).verdict == Verdict::kOpposite);
  ClaimConfig lower = finds_more();
  lower.expect = Expect::kLower;
  CATCH_CHECK(Runs(around(-.2, .05)).ask(lower).verdict == Verdict::kSupported);
  CATCH_CHECK(Runs(around(.4, .05)).ask(lower).verdict == Verdict::kOpposite);
}

CATCH_TEST_CASE("chance is that of the runs that a claim is about") {
  Runs runs(around(.146, .02), .301);
  for (auto& run : runs.builder.study.runs) run.axes.insert(run.axes.begin() + 1, {"pairs", "16"});
  for (int seed = 0; seed < 8; ++seed) {  // a task whose chance is above what the other reaches
    for (const char* model : {"transformer", "diff"}) {
      runs.builder.finished(model, 100 + seed,
                            {{"needle_accuracy", .99}, {"needle_accuracy_chance", .5}});
      runs.builder.study.runs.back().axes = {
          {"model", model}, {"pairs", "2"}, {"seed", std::to_string(seed)}};
    }
  }
  auto claim = finds_more();
  claim.where.entries = {{"pairs", "16"}};
  CATCH_CHECK(runs.ask(claim).verdict == Verdict::kSupported);
  claim.where.entries = {{"pairs", "2"}};
  CATCH_CHECK(runs.ask(claim).verdict == Verdict::kUninformative);
}

CATCH_TEST_CASE("what is not resolved says how many seeds would resolve it") {
  const auto answer = Runs(around(.02, .1)).ask(finds_more());
  CATCH_CHECK(answer.verdict == Verdict::kUnresolved);
  CATCH_CHECK_THAT(answer.text, Contains("Not resolved with 8 seeds: ") &&
                                    Contains("would take about 165 seeds"));
  CATCH_CHECK_THAT(Runs(around(1e-4, .1)).ask(finds_more()).text,
                   Contains("More than 1,000 seeds"));
}

CATCH_TEST_CASE("fewer than eight pairs are no verdict, whatever they say") {
  auto few = around(.4, .05);
  few.pop_back();
  CATCH_CHECK_THAT(Runs(few).ask(finds_more()).text,
                   Contains("No verdict (7 seeds, 8 needed): DIFF finds more") &&
                       Contains("So far it points the expected way."));
  CATCH_CHECK_THAT(Runs({-.1, -.2}).ask(finds_more()).text,
                   Contains("(2 seeds, 8 needed)") && Contains("points the other way"));
  CATCH_CHECK_THAT(Runs({.5}).ask(finds_more()).text, Contains("No verdict (1 seed, 8 needed)") &&
                                                          Contains("in one pair, which has no"));
  ClaimConfig unknown = finds_more();
  unknown.variant = "diff_v2";
  CATCH_CHECK_THAT(Runs({.4, .5, .6}).ask(unknown).text,
                   Contains("Not measured: ") && Contains("No pair of finished runs of diff v2 and "
                                                          "transformer has needle accuracy."));
}

CATCH_TEST_CASE("each claim of an experiment makes it harder for the others") {
  // Two of 256 sign patterns: .0078, which survives six claims and not seven.
  const auto verdict_among = [](std::size_t claims) {
    return Runs(around(.4, .05)).ask(std::vector(claims, finds_more())).at(0);
  };
  CATCH_CHECK(verdict_among(6).verdict == Verdict::kSupported);
  CATCH_CHECK_THAT(verdict_among(6).text, Contains("p = 0.047 among 6 claims (Holm)"));
  CATCH_CHECK(verdict_among(7).verdict == Verdict::kTooFew);
  CATCH_CHECK_THAT(verdict_among(7).text, Contains("(8 seeds, 9 needed)"));
}

CATCH_TEST_CASE("a difference below the margin is equivalence, one below the smallest is none") {
  ClaimConfig claim = finds_more();
  claim.margin = 0.03;
  const auto equal = Runs(around(.001, .02)).ask(claim);
  CATCH_CHECK(equal.verdict == Verdict::kEquivalent);
  CATCH_CHECK_THAT(equal.text, Contains("Equivalent with 8 seeds") &&
                                   Contains("They differ by less than 0.030 (two one-sided tests"));
  CATCH_CHECK(Runs(around(.03, .02)).ask(claim).verdict != Verdict::kEquivalent);
  CATCH_CHECK(Runs(around(.0, .2)).ask(claim).verdict == Verdict::kUnresolved);
  // Small but there: equivalent within the margin if that is declared, else a difference.
  claim.smallest = 0.02;
  CATCH_CHECK(Runs(around(.01, .005)).ask(claim).verdict == Verdict::kEquivalent);
  claim.smallest = 0;
  CATCH_CHECK(Runs(around(.01, .005)).ask(claim).verdict == Verdict::kSupported);
}

CATCH_TEST_CASE("where both variants are at the ceiling or at chance nothing is told apart") {
  CATCH_CHECK_THAT(Runs(around(.01, .001), .98).ask(finds_more()).text,
                   Contains("Uninformative with 8 seeds") && Contains("both lie above 0.970"));
  CATCH_CHECK_THAT(Runs(around(.01, .001), .13).ask(finds_more()).text,
                   Contains("Uninformative") && Contains("both lie below 0.225"));
  // One of them away from it tells the sign.
  CATCH_CHECK(Runs(around(.4, .01), .13).ask(finds_more()).verdict == Verdict::kSupported);
  ClaimConfig loss = finds_more();
  loss.metric = "test_loss";
  CATCH_CHECK(Runs(around(.1, .01), 2.4, "test_loss").ask(loss).verdict == Verdict::kSupported);
}

CATCH_TEST_CASE("a withdrawn claim says why, shows its figures and still counts for p") {
  ClaimConfig claim = finds_more();
  claim.withdrawn = "Its opponent is too narrow";
  const auto answer = Runs(around(.4, .01), .3).ask(claim);
  CATCH_CHECK(answer.verdict == Verdict::kWithdrawn);
  CATCH_CHECK(answer.p == Runs(around(.4, .01), .3).ask(finds_more()).p);
  CATCH_CHECK_THAT(answer.text, Contains("Withdrawn with 8 seeds: ") && Contains("95 % interval") &&
                                    Contains(" Its opponent is too narrow."));
}

CATCH_TEST_CASE("a verdict needs p and the interval to agree") {
  ClaimConfig loss = finds_more();
  loss.metric = "test_loss";
  const auto torn = Runs({1, 1, 1.2, 1.1, .9, 1, 1.2, 40}, 2.4, "test_loss").ask(loss);
  CATCH_CHECK(*torn.p == 2 / 256.);
  CATCH_CHECK(torn.found->interval->low < 0);
  CATCH_CHECK(torn.verdict == Verdict::kUnresolved);
}

CATCH_TEST_CASE("times that never came count as the horizon") {
  StudyBuilder builder;
  for (int seed = 0; seed < 8; ++seed) {
    builder.finished("transformer", seed, {{"steps_to_90_accuracy", nullptr}},
                     {{"censored", Json{{"steps_to_90_accuracy", 1600}}}});
    builder.finished("diff", seed, {{"steps_to_90_accuracy", 400 + seed}});
  }
  ClaimConfig sooner = finds_more();
  sooner.metric = "steps_to_90_accuracy";
  sooner.expect = Expect::kLower;
  builder.study.report.claims = {sooner};
  const auto answers =
      answer_claims(builder.study, frame_of(builder.study), Labels(builder.study.report.labels));
  CATCH_CHECK(answers.at(0).verdict == Verdict::kSupported);
  CATCH_CHECK_THAT(answers.at(0).text,
                   Contains("times up to 1,600, which 8 of 8 pairs did not reach"));
}

CATCH_TEST_CASE("whether runs learn takes sixteen pairs, what they learned those that did") {
  StudyBuilder builder;
  for (int seed = 0; seed < 16; ++seed) {
    for (const char* model : {"transformer", "diff"}) {
      const bool learns = model[0] == 't' || seed < 8;
      const double wobble = 0.001 * (seed % 3);
      builder.finished(model, seed,
                       {{"needle_accuracy", learns ? (model[0] == 't' ? .91 : .95) + wobble : .2}});
      const Json line{{"step", 100}, {"valid_accuracy", learns ? 0.95 : 0.2}};
      write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl",
                            line.dump() + "\n");
    }
  }
  ClaimConfig learns = finds_more(), finds = finds_more();
  learns.metric = "learned";
  builder.study.report.claims = {learns, finds};
  builder.study.report.learned = {.metric = "valid_accuracy", .in_a_row = 1};
  const auto answers =
      answer_claims(builder.study, frame_of(builder.study), Labels(builder.study.report.labels));
  CATCH_CHECK(answers.at(0).verdict == Verdict::kOpposite);
  CATCH_CHECK(*answers.at(0).p == Approx(2 * 2 / 256.));  // McNemar of 0 and 8, twice
  CATCH_CHECK(answers.at(1).verdict == Verdict::kSupported);
  CATCH_CHECK_THAT(answers.at(1).text, Contains("8 paired seeds") &&
                                           Contains("8 pairs left out, as one had not learned"));
  // Of differences between −1 and 1; Student's would go on to −0.775.
  CATCH_CHECK(answers.at(0).found->interval->low == Approx(-0.72409).epsilon(1e-4));
  const auto swap = [&] {
    for (auto& run : builder.study.runs) {
      run.axes[0].second = run.axes[0].second == "diff" ? "transformer" : "diff";
    }
  };
  swap();
  const auto swapped =
      answer_claims(builder.study, frame_of(builder.study), Labels(builder.study.report.labels));
  CATCH_CHECK(swapped.at(1).pairs() == 8);
  swap();
  builder.study.runs.resize(30);
  const auto fewer =
      answer_claims(builder.study, frame_of(builder.study), Labels(builder.study.report.labels));
  CATCH_CHECK_THAT(fewer.at(0).text, Contains("No verdict (15 seeds, 16 needed)"));
}

CATCH_TEST_CASE("experiments without an effect give a false verdict in at most 5 % of cases") {
  // Both arms are drawn alike, three claims an experiment, eight pairs: what judge() asks of them.
  constexpr int kExperiments = 1'500, kClaims = 3, kPairs = 8;
  const auto uniform = [](Random& random) {
    return (static_cast<double>(random.below(1 << 30)) + 0.5) / (1 << 30);
  };
  const std::vector<std::pair<const char*, std::function<double(double)>>> outcomes = {
      {"test_loss", [](double u) { return 2.4 + 0.1 * std::log(u / (1 - u)); }},
      {"test_loss", [](double u) { return -std::log(u); }},  // skewed
      {"needle_accuracy", [](double u) { return 0.3 + 0.4 * u; }},
      {"needle_accuracy", [](double u) { return 1 - 0.1 * u * u; }},                  // near .95
      {"needle_accuracy", [](double u) { return u < 0.4 ? 0.25 : 0.99 + u / 100; }},  // two peaks
      {"steps_to_90_accuracy", [](double u) { return std::min(1200., -500 * std::log(u)); }}};
  for (const auto& [key, draw] : outcomes) {
    const Metric metric = metric_of(key);
    int wrong = 0, equal = 0;
    for (int experiment = 0; experiment < kExperiments; ++experiment) {
      Random random{stream_key(key), static_cast<std::uint64_t>(experiment)};
      std::vector<Contrast> found;
      std::vector<TwoWayP> p;
      for (int claim = 0; claim < kClaims; ++claim) {
        Pairs pairs;
        for (int pair = 0; pair < kPairs; ++pair) {
          pairs.ours.push_back(draw(uniform(random)));
          pairs.theirs.push_back(draw(uniform(random)));
          pairs.differences.push_back(pairs.ours.back() - pairs.theirs.back());
        }
        found.push_back(*contrast(pairs, metric));
        p.push_back({found.back().p, {}});
      }
      const auto adjusted = holm_of_questions(p);
      bool any = false;
      for (int claim = 0; claim < kClaims; ++claim) {
        const auto at = static_cast<std::size_t>(claim);
        any = any || is_resolved(found[at], adjusted[at].difference);
      }
      wrong += any ? 1 : 0;
      equal += adjusted[0].difference <= kAlpha ? 1 : 0;
    }
    CATCH_INFO(key << ": " << wrong << " of " << kExperiments);
    CATCH_CHECK(wrong <= kAlpha * kExperiments + 25);  // three standard errors
    CATCH_CHECK(equal > 0);                            // there is something to be wrong about
  }
}

CATCH_TEST_CASE("a claim about one setting of another axis uses its runs alone") {
  StudyBuilder builder;
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
  CATCH_CHECK_THAT(answer_claims(builder.study, frame_of(builder.study), labels).at(0).text,
                   Contains("2 paired seeds") && Contains("difference +0.405"));
  CATCH_CHECK(check_report(builder.study.report, {"model", "task.length", "seed"}).empty());
  builder.study.report.claims[0].where = {};
  const auto problems = check_report(builder.study.report, {"model", "task.length", "seed"});
  CATCH_REQUIRE(problems.size() == 1);
  CATCH_CHECK(problems[0].key == "claims[0]");
  CATCH_CHECK(problems[0].message ==
              "would average over axis 'task.length'; say with where which of its values is meant");
}

CATCH_TEST_CASE("answers stand in the terminal, in the table's file and on the page") {
  Runs runs(around(.4, .05));
  runs.builder.study.report.claims = {finds_more()};
  runs.builder.table({"needle_accuracy"});
  const Summary summary = write_report(runs.builder.study);
  const auto folder = runs.builder.study.output;
  CATCH_CHECK_THAT(summary.text, Contains("Supported with 8 seeds: DIFF finds more needles."));
  CATCH_CHECK_THAT(read_file(folder / "table.md"), Contains("\nSupported with 8 seeds: "));
  CATCH_CHECK_THAT(read_file(folder / "table.tex"), Contains("% Supported with 8 seeds: "));
  CATCH_CHECK_THAT(read_file(folder / "report.html"), Contains("<p>Supported with 8 seeds: ") &&
                                                          Contains("<strong>supported</strong>"));
}

CATCH_TEST_CASE("a claim without metric or variant, or against itself, is refused") {
  const auto problem_in = [](const std::string& text) {
    return testing::error_of(
        [&] { config::read<ReportConfig>(config::parse_yaml(text, "x.yaml")); });
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
