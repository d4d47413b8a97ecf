// Times that are compared as ratios.
#include "report/archive/rebuild.h"
#include "report/example_study.h"
#include "report/page/gallery.h"
#include "report/table/claim.h"
#include "report/table/question.h"
#include "statistics/distributions.h"
#include "support/catch.h"
#include "support/problems.h"

namespace difflab::report {
namespace {

// Eight seeds of three variants: DIFF takes the share `ratio` of the Transformer's steps.
struct Timed {
  explicit Timed(double ratio) {
    builder.study.report.times = {Compared::kRatios, {0.1}};
    for (int seed = 0; seed < 8; ++seed) {
      const double wobble = std::exp(0.02 * ((3 * seed) % 8 - 3.5));
      const double other = std::exp(0.02 * ((5 * seed) % 8 - 3.5));
      builder.finished("transformer", seed, {{"steps_to_found", 400 * other}});
      builder.finished("diff", seed, {{"steps_to_found", 400 * ratio * wobble}});
    }
  }
  Answer ask(const std::string& more) {
    builder.study.report.claims = {of_yaml<ClaimConfig>(
        "text: DIFF is sooner, metric: steps_to_found, variant: diff, " + more)};
    return answers().front();
  }
  std::vector<Answer> answers() const {
    return answer_claims(builder.study, frame_of(builder.study),
                         Labels(builder.study.report.labels));
  }
  StudyBuilder builder;
};

CATCH_TEST_CASE(
    "a claim about times tells the ratio of geometric means, its interval and its test") {
  Timed timed(0.65);
  const auto answer = timed.ask("expect: lower");
  CATCH_CHECK(answer.verdict == Verdict::kSupported);
  CATCH_CHECK(answer.found->difference == Approx(std::log(0.65)));
  // All of ours lie below all of theirs: the smallest p there is, and what the choice costs.
  CATCH_CHECK(*answer.p == Approx(1.01 * 2 * std::exp(-log_binomial(16, 8))));
  CATCH_CHECK(answer.found->interval->high < std::log(0.7));
  CATCH_CHECK_THAT(answer.text,
                   Contains("Steps to found 260 (diff) against 400 (transformer), "
                            "geometric means, ratio 0.65, 95 % interval 0.6") &&
                       Contains("8 seeds each, p < 0.001 by permutations of all runs"));
  const auto csv = claims_csv(timed.builder.study, timed.answers());
  CATCH_CHECK_THAT(csv, Contains("published,ratio,ratio_low,ratio_high,test\n") &&
                            Contains(",supported,,,,0.000156") && Contains(",8,8,,0.6499") &&
                            Contains(",0.616"));
  CATCH_CHECK_THAT(claims_tex(timed.builder.study, timed.answers(), Labels({})),
                   Contains("difference or ratio") && Contains("0.65 "));
}

CATCH_TEST_CASE(
    "equivalence of times is asked within the suite's margin, where a claim expects it") {
  const auto verdict = [](double ratio, const char* more = "expect: equivalent") {
    return Timed(ratio).ask(more).verdict;
  };
  CATCH_CHECK(verdict(1.02) == Verdict::kSupported);
  CATCH_CHECK(verdict(1 / 1.02) == Verdict::kSupported);
  CATCH_CHECK(verdict(1.08) == Verdict::kUnresolved);
  CATCH_CHECK(verdict(1.3) == Verdict::kOpposite);
  CATCH_CHECK(verdict(1 / 1.3) == Verdict::kOpposite);
  CATCH_CHECK(verdict(1.02, "expect: equivalent, margin: 0.01") == Verdict::kUnresolved);
  CATCH_CHECK(verdict(1.02, "expect: lower") == Verdict::kUnresolved);  // pays for no margin
  CATCH_CHECK_THAT(Timed(1.02).ask("expect: equivalent").text,
                   Contains("They differ by less than 10 % (two one-sided tests, p"));
  CATCH_CHECK(verdict(0.9, "expect: lower, smallest: 0.2") == Verdict::kUnresolved);
}

CATCH_TEST_CASE("a margin of the suite costs a claim about a direction nothing") {
  Timed timed(0.97);
  const auto with = timed.ask("expect: lower");
  timed.builder.study.report.claims.push_back(timed.builder.study.report.claims.front());
  const auto adjusted = *timed.answers()[0].p;
  timed.builder.study.report.times.margin = {};
  CATCH_CHECK(*timed.answers()[0].p == adjusted);
  CATCH_CHECK(*with.raw < 0.5);
  CATCH_CHECK(adjusted == Approx(2 * *with.raw));
}

CATCH_TEST_CASE("a claim held at two values of the opponent's tuning has the larger p of the two") {
  Timed timed(0.8);
  timed.ask("expect: lower");
  const auto questions = [&] {
    return questions_of(timed.builder.study, frame_of(timed.builder.study)).front();
  };
  const auto held = [&](double at) {
    auto question = questions();
    hold_at_both(question, std::vector<double>{0.99 * at, at, 1.01 * at, 1.02 * at});
    return question;
  };
  CATCH_CHECK(questions().p.difference < 0.001);
  // All twelve apart: 2 of the C(12, 4) ways.
  CATCH_CHECK(held(380).p.difference == Approx(2.0 / 495));
  CATCH_CHECK(held(320).p.difference > 0.2);
  CATCH_CHECK(held(250).p.difference == 1);  // points to the other side
  CATCH_CHECK_THAT(held(400).at_both, Contains("4 runs, ratio 0.80, p = 0.004"));
}

// Committed runs whose paired differences contradicted their own exact test, as ratios.
// The Transformer of 400 steps beside one with wide heads that takes the share `wide` of them; both
// were tuned, with the finalists' times that are given.
Timed with_opponents(double wide, std::vector<double> narrow_finals,
                     std::vector<double> wide_finals) {
  Timed timed(0.65);
  for (int seed = 0; seed < 8; ++seed) {
    timed.builder.finished("wide", seed,
                           {{"steps_to_found", 400 * wide * std::exp(0.01 * (seed - 3.5))}});
  }
  timed.builder.study.report.opponents = {"transformer", "wide"};
  if (narrow_finals.empty()) return timed;
  Tuned tuned{.key = "train.lr", .again = 8, .metric = "steps_to_found", .is_geometric = true};
  for (const auto& [model, times] :
       {std::pair{"transformer", narrow_finals}, std::pair{"wide", wide_finals}}) {
    Tuned::Variant variant{.axes = {{"model", model}}, .value = 0.01};
    variant.finalists = {{.value = 0.01, .metrics = times, .learned = {}}};
    tuned.variants.push_back(variant);
  }
  timed.builder.study.tuned = tuned;
  return timed;
}

CATCH_TEST_CASE("a claim against the best is one against the opponent that tuning found best") {
  const char* sooner = "against: best, expect: lower";
  // Untuned, the best by the runs themselves.
  CATCH_CHECK(with_opponents(0.7, {}, {}).ask(sooner).against == "wide");
  CATCH_CHECK(with_opponents(1.4, {}, {}).ask(sooner).against == "transformer");
  // Tuned, the best by other seeds, whatever the runs say.
  CATCH_CHECK(with_opponents(1.4, {400, 410}, {300, 310}).ask(sooner).against == "wide");
  CATCH_CHECK(with_opponents(0.7, {250, 260}, {300, 310}).ask(sooner).against == "transformer");
  // A geometric mean heeds one slow run less: 360 against 350.
  const auto answer = with_opponents(0.7, {350, 350}, {180, 720}).ask(sooner);
  CATCH_CHECK(answer.against == "transformer");
  CATCH_CHECK_THAT(answer.text, Contains("260 (diff) against 400 (transformer)"));
  auto equal = with_opponents(0.66, {400, 410}, {300, 310});
  CATCH_CHECK(equal.ask("against: best, expect: equivalent").verdict == Verdict::kSupported);
  CATCH_CHECK_THAT(claims_csv(equal.builder.study, equal.answers()), Contains(",diff,wide,"));
}

CATCH_TEST_CASE("a claim against an opponent of two tuned values that tie holds at both") {
  auto tied = with_opponents(0.7, {500, 510}, {300, 310});
  const auto before = tied.ask("against: best, expect: lower");
  auto& finals = tied.builder.study.tuned->variants[1].finalists;
  // As good as 300 and 310 by their intervals, and sooner than DIFF's 260 in three runs of eight.
  finals[0].metrics = {150, 210, 250, 280, 300, 340, 420, 500};
  finals.push_back(
      {.value = 0.02, .metrics = {150, 215, 245, 280, 310, 335, 430, 490}, .learned = {}});
  const auto both = tied.answers().front();
  CATCH_CHECK(before.verdict == Verdict::kSupported);
  CATCH_CHECK(both.verdict == Verdict::kUnresolved);
  CATCH_CHECK(*both.p > 0.1);
  CATCH_CHECK_THAT(both.text,
                   Contains("at the other value of its tuning that ties, 8 runs, ratio"));
  finals[1].metrics = {1500, 1600, 1700, 1800, 1900, 2000, 2100, 2200};  // no tie
  CATCH_CHECK(*tied.answers().front().p == *before.p);
}

CATCH_TEST_CASE("what one slow run had left open resolves as a ratio") {
  for (const auto& [name, claim] :
       {std::pair("attention_scale", 4u), std::pair("uneven_groups", 1u)}) {
    const auto folder = std::filesystem::path(DIFFLAB_ROOT) / "results" / name / "reference";
    auto archive = read_archive(folder, folder);
    auto& report = archive.study.report;
    const auto before =
        answer_claims(archive.study, archive.frame, Labels(report.labels)).at(claim);
    report.times = {Compared::kRatios, {0.1}};
    for (auto& one : report.claims) one.margin = 0;
    const Frame frame(archive.frame.runs(), archive.study.baseline, {}, {}, report.times);
    const auto after = answer_claims(archive.study, frame, Labels(report.labels)).at(claim);
    CATCH_INFO(name << ": " << before.text << "\n" << after.text);
    const bool excludes = after.found->interval->low > 0 || after.found->interval->high < 0;
    CATCH_CHECK(before.verdict == Verdict::kUnresolved);
    CATCH_CHECK(*before.p <= kAlpha);
    CATCH_CHECK((*after.p <= kAlpha) == (after.verdict != Verdict::kUnresolved));
    CATCH_CHECK((*after.raw <= kAlpha) == excludes);
  }
}

CATCH_TEST_CASE("a margin of times is a share, and stands where ratios are asked for") {
  const auto read = [](const std::string& text) {
    return config::read<ReportConfig>(config::parse_yaml(text, "x.yaml")).times;
  };
  CATCH_CHECK(read("times: {compare: ratios, margin: 10 %}").margin.value == 0.1);
  CATCH_CHECK(read("times: {compare: ratios, margin: 0.07}").margin.value == 0.07);
  for (const char* wrong : {"times: {compare: ratios, margin: 50}", "times: {margin: 10 %}",
                            "times: {compare: ratios, margin: ten %}"}) {
    CATCH_CHECK_THROWS_AS(read(wrong), UserError);
  }
}

CATCH_TEST_CASE("the gallery counts the verdicts that survive a false discovery rate") {
  // Of .001, .02, .03, .9 the limits are .0125, .025, .0375, .05.
  const std::vector<Exhibit> exhibits = {
      {.name = "a",
       .title = "",
       .topic = "",
       .summary = nullptr,
       .folder = {},
       .core_time = {},
       .tests = {{0.001, true}, {0.03, true}, {0.9, false}, {0.02, false}}}};
  CATCH_CHECK_THAT(gallery_markdown(exhibits), Contains("Of 2 verdicts on a direction, 2 survive"));
  auto fewer = exhibits;
  fewer[0].tests[3].p = 0.8;
  CATCH_CHECK_THAT(gallery_html(fewer), Contains("Of 2 verdicts on a direction, 1 survive"));
}

}  // namespace
}  // namespace difflab::report
