// Claims that are looked at again and again while seeds are added.
#include "report/table/sequence.h"

#include "report/data/frame.h"
#include "report/example_study.h"
#include "report/table/claim.h"
#include "statistics/describe.h"
#include "statistics/sequential.h"
#include "support/catch.h"
#include "support/simulated_claims.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

using testing::SimulatedExperiment, testing::SimulatedOutcome;

const std::vector<std::size_t> kFewLooks{8, 12, 16, 20};

int false_verdicts(const SimulatedOutcome& outcome, std::size_t shifted, int experiments,
                   bool equivalence) {
  const ClaimSequence fresh(3, kFewLooks);
  int wrong = 0;
  for (int i = 0; i < experiments; ++i) {
    const SimulatedExperiment experiment(outcome, 3, shifted, kFewLooks.back(),
                                         {stream_key(outcome.name), static_cast<std::uint64_t>(i)});
    bool any = false;
    for (const auto& claim : experiment.follow(fresh, kFewLooks)) {
      any = any || (testing::says_something(claim.verdict) &&
                    (claim.verdict == Verdict::kEquivalent) == equivalence);
    }
    wrong += any ? 1 : 0;
  }
  return wrong;
}

// The full dose is tests/support/simulate_claims.cpp; its tables are in docs/report.md.
CATCH_TEST_CASE("claims without an effect are answered falsely at most in 5 % of experiments") {
  constexpr int kExperiments = 1'000;
  const double allowed = 50 + 3 * std::sqrt(kExperiments * 0.05 * 0.95);  // three standard errors
  int in_all = 0;
  for (const auto& outcome : testing::outcomes_without_effect()) {
    const int wrong = false_verdicts(outcome, 0, kExperiments, /*equivalence=*/false);
    CATCH_INFO(outcome.name << ": " << wrong << " of " << kExperiments);
    CATCH_CHECK(wrong <= allowed);
    in_all += wrong;
  }
  CATCH_CHECK(in_all > 80);  // there is something to be wrong about
  const auto outcome = testing::just_not_equivalent();
  const int wrong = false_verdicts(outcome, 3, kExperiments, /*equivalence=*/true);
  CATCH_INFO(outcome.name << ": " << wrong);
  CATCH_CHECK(wrong <= allowed);
  CATCH_CHECK(wrong > 10);
  CATCH_CHECK(false_verdicts(testing::times_out_of_sight(), 3, kExperiments / 5,
                             /*equivalence=*/true) == 0);
}

CATCH_TEST_CASE("what is there is found with fewer seeds, nearly as often as with all of them") {
  constexpr int kExperiments = 300;
  const SimulatedOutcome outcome{"an effect", "test_loss", [](Random& random, bool shifted) {
                                   return (shifted ? -1.4 : 0) + random.normal();
                                 }};
  const ClaimSequence fresh(1, kFewLooks);
  int once = 0, followed = 0;
  double seeds = 0;
  for (int i = 0; i < kExperiments; ++i) {
    const SimulatedExperiment experiment(outcome, 1, 1, kFewLooks.back(),
                                         {stream_key("found"), static_cast<std::uint64_t>(i)});
    once += experiment.judge_once(kFewLooks.back()).front() == Verdict::kSupported ? 1 : 0;
    const auto claim = experiment.follow(fresh, kFewLooks).front();
    followed += claim.verdict == Verdict::kSupported ? 1 : 0;
    seeds += static_cast<double>(kFewLooks[claim.look - 1]);
  }
  // One standard deviation of the differences: a paired t test of 20 has .988.
  CATCH_CHECK(once > 0.96 * kExperiments);
  CATCH_CHECK(followed > 0.94 * kExperiments);
  CATCH_CHECK(seeds < 16 * kExperiments);
}

// A study with looks after 8, 12 and 16 seeds, and claims of three variants against the baseline.
struct LookedAt {
  LookedAt() : builder(folder.path()) {
    builder.study.looks = {8, 12, 16};
    builder.study.report.tables = {};
    for (const char* variant : {"clear", "equal", "vague"}) {
      ClaimConfig claim;
      claim.text = concat(variant, " has a lower loss");
      claim.metric = "test_loss";
      claim.variant = variant;
      claim.expect = Expect::kLower;
      claim.margin = std::string(variant) == "equal" ? 0.2 : 0;
      builder.study.report.claims.push_back(claim);
    }
  }
  // Clear differs by −1 and little more or less, equal by hardly anything, vague by ±1.
  void run(const std::string& variant, int seed) {
    const double wobble = 0.01 * ((seed * 7) % 5);
    const double shift = variant == "clear"   ? -1 + wobble
                         : variant == "equal" ? wobble - 0.02
                         : variant == "vague" ? (seed % 2 == 0 ? 1.0 : -1.0) + wobble
                                              : 0;
    builder.finished(variant, seed, {{"test_loss", 2.4 + shift}});
  }
  void run(const std::vector<std::string>& variants, int from, int to) {
    for (const auto& variant : variants) {
      for (int seed = from; seed < to; ++seed) run(variant, seed);
    }
  }
  ClaimSequence follow() const { return follow_claims(builder.study, frame_of(builder.study)); }
  std::vector<Answer> answers() const {
    return answer_claims(builder.study, frame_of(builder.study),
                         Labels(builder.study.report.labels));
  }
  TemporaryFolder folder;
  StudyBuilder builder;
};

const std::vector<std::string> kVariants{"transformer", "clear", "equal", "vague"};

CATCH_TEST_CASE("a look waits for all runs of the claims that are open, and for no others") {
  LookedAt study;
  study.run(kVariants, 0, 7);
  CATCH_CHECK(study.follow().made() == 0);
  study.run({"transformer", "clear", "equal"}, 7, 8);
  CATCH_CHECK(study.follow().made() == 0);
  study.run("vague", 7);
  const auto first = study.follow();
  CATCH_CHECK(first.made() == 1);
  // Two one-sided tests find that early what sign flips of eight pairs cannot, 2/256 at best.
  CATCH_CHECK_FALSE(first.claims()[1].is_open);
  CATCH_CHECK(first.claims()[1].verdict == Verdict::kEquivalent);
  CATCH_CHECK(first.open() == 2);
  study.run({"transformer", "clear", "vague"}, 8, 12);
  const auto second = study.follow();
  CATCH_CHECK(second.made() == 2);
  CATCH_CHECK(second.claims()[0].verdict == Verdict::kSupported);
  CATCH_CHECK(second.claims()[0].look == 2);
  CATCH_CHECK(second.claims()[1].look == 1);
  study.run({"transformer", "vague"}, 12, 16);
  const auto last = study.follow();
  CATCH_CHECK(last.made() == 3);
  CATCH_CHECK(last.claims()[2].is_open);
  CATCH_CHECK(last.claims()[2].verdict == Verdict::kUnresolved);
}

CATCH_TEST_CASE("an answer keeps its figures whatever seeds come later, and names its look") {
  LookedAt study;
  study.run(kVariants, 0, 12);
  const auto before = study.answers();
  CATCH_CHECK_THAT(before[0].text, Contains("Supported at look 2 of 3 (12 of 16 seeds): clear") &&
                                       Contains("95 % interval over all looks −") &&
                                       Contains(", 12 paired seeds, p = 0.00049, where this look "
                                                "asks for 0.0") &&
                                       Contains(" among 3 claims."));
  CATCH_CHECK_THAT(before[1].text, Contains("Equivalent at look 1 of 3 (8 of 16 seeds)") &&
                                       Contains(", 8 paired seeds, "));
  CATCH_CHECK_THAT(before[2].text, Contains("Not resolved at look 2 of 3 (12 of 16 seeds)") &&
                                       Contains("Seeds are added to both until it is, up to 16."));
  CATCH_CHECK(*before[0].p <= *before[0].level);
  CATCH_CHECK(*before[2].look == 2);
  study.run(kVariants, 12, 16);
  const auto after = study.answers();
  CATCH_CHECK(after[0].text == before[0].text);
  CATCH_CHECK(after[1].text == before[1].text);
  CATCH_CHECK_THAT(after[2].text, Contains("Not resolved at look 3 of 3 (16 of 16 seeds)") &&
                                      Contains("seeds would be needed"));
}

CATCH_TEST_CASE("intervals cover at all looks together, and are wider at early ones") {
  LookedAt study;
  study.run(kVariants, 0, 16);
  const auto levels = levels_of_looks(std::vector<double>{0.5, 0.75, 1}, 0.045);
  const auto answers = study.answers();
  std::vector<double> differences;  // of vague, all 16
  for (int seed = 0; seed < 16; ++seed) {
    differences.push_back((seed % 2 == 0 ? 1.0 : -1.0) + 0.01 * ((seed * 7) % 5));
  }
  CATCH_CHECK(answers[2].interval->low == Approx(t_interval(differences, 1 - levels[2])->low));
  CATCH_CHECK(answers[2].interval->low < t_interval(differences)->low);
  // Equal was answered at the first look, with eight.
  std::vector<double> few;
  for (int seed = 0; seed < 8; ++seed) few.push_back(0.01 * ((seed * 7) % 5) - 0.02);
  CATCH_CHECK(answers[1].interval->high == Approx(t_interval(few, 1 - levels[0])->high));
}

CATCH_TEST_CASE("before the first look there is no verdict, whatever is there") {
  LookedAt study;
  study.run(kVariants, 0, 7);
  const auto answers = study.answers();
  CATCH_CHECK(answers[0].verdict == Verdict::kTooFew);
  CATCH_CHECK_THAT(answers[0].text,
                   Contains("No verdict before look 1 of 3, which takes 8 seeds: clear") &&
                       Contains("7 paired seeds") && Contains("So far it points the expected way"));
  CATCH_CHECK_FALSE(answers[0].level);
}

CATCH_TEST_CASE("a run that diverged is there, one that failed is waited for") {
  LookedAt study;
  study.run(kVariants, 0, 7);
  study.run({"clear", "equal", "vague"}, 7, 8);
  const auto failed = study.builder.plan("transformer", 7);
  study.builder.status(failed, {{"state", "failed"}, {"message", "no memory"}});
  CATCH_CHECK(study.follow().made() == 0);
  write_file_atomically(failed / "result.json", R"({"schema": 1, "id": "transformer-7",
      "status": "diverged", "diverged_at_step": 5, "metrics": {"test_loss": null}})");
  const auto sequence = study.follow();
  CATCH_CHECK(sequence.made() == 1);
  CATCH_CHECK(sequence.claims()[0].question.found->pairs == 7);
  CATCH_CHECK(sequence.claims()[0].verdict == Verdict::kTooFew);
}

CATCH_TEST_CASE("what more seeds cannot answer is set aside at the look that finds it") {
  LookedAt study;
  auto& claims = study.builder.study.report.claims;
  claims[0].metric = "test_los";  // no run has it
  claims[1].variant = "not in the sweep";
  claims[2].regime.high = 1;  // both lie above
  study.run(kVariants, 0, 8);
  const auto sequence = study.follow();
  CATCH_CHECK(sequence.made() == 1);
  CATCH_CHECK(sequence.open() == 0);
  CATCH_CHECK(sequence.claims()[0].verdict == Verdict::kUnmeasured);
  CATCH_CHECK(sequence.claims()[1].verdict == Verdict::kUnmeasured);
  CATCH_CHECK(sequence.claims()[2].verdict == Verdict::kUninformative);
}

CATCH_TEST_CASE(
    "a claim with too few pairs for a verdict, or none yet, stays open for more seeds") {
  LookedAt few;
  few.builder.study.looks = {4, 12};
  few.builder.study.report.claims[2].regime.high =
      1;  // both lie above, but four pairs are no verdict
  few.run(kVariants, 0, 4);
  CATCH_CHECK(few.follow().claims()[2].verdict == Verdict::kTooFew);
  CATCH_CHECK(few.follow().claims()[2].is_open);
  few.run(kVariants, 4, 12);
  CATCH_CHECK(few.follow().claims()[2].verdict == Verdict::kUninformative);

  LookedAt lost;
  lost.builder.study.looks = {2, 12};
  lost.run({"transformer", "equal", "vague"}, 0, 12);
  for (int seed = 0; seed < 2; ++seed) {
    const auto run = lost.builder.plan("clear", seed);
    make_directories(run);
    write_file_atomically(run / "result.json", R"({"schema": 1, "id": "clear", "status": "diverged",
        "diverged_at_step": 5, "metrics": {"test_loss": null}})");
  }
  const auto first = lost.follow();
  CATCH_CHECK(first.made() == 1);
  CATCH_CHECK(first.claims()[0].verdict == Verdict::kUnmeasured);
  CATCH_CHECK(first.claims()[0].is_open);
  lost.run({"clear"}, 2, 12);
  CATCH_CHECK(lost.follow().claims()[0].question.found->pairs == 10);
}

CATCH_TEST_CASE("the levels of one claim are those of its looks, and the report explains them") {
  LookedAt study;
  study.run(kVariants, 0, 16);
  study.builder.study.report.claims = {study.builder.study.report.claims[2]};
  const auto levels = levels_of_looks(std::vector<double>{0.5, 0.75, 1}, 0.045);
  const auto sequence = study.follow();
  CATCH_CHECK(sequence.made() == 3);
  CATCH_CHECK(sequence.claims()[0].level == Approx(levels[2]).epsilon(1e-9));
  TableConfig table;
  table.columns = {"test_loss"};
  study.builder.study.report.tables = {table};
  const auto summary = write_report(study.builder.study);
  CATCH_CHECK_THAT(read_file(study.builder.study.output / "table.md"),
                   Contains("with a look after 8, 12, 16") && Contains("fixed number of seeds"));
  const auto said = Json::parse(read_file(study.builder.study.output / "summary.json"));
  CATCH_CHECK(said.at("answers").at(0).at("look") == 3);
  CATCH_CHECK(said.at("answers").at(0).at("level").get<double>() == sequence.claims()[0].level);
  CATCH_CHECK(said.at("best") == "");  // its p would be of a fixed number of seeds
}

CATCH_TEST_CASE("a first look at few of many seeds spends next to nothing, and has an interval") {
  for (const std::size_t most : {108, 256, 1000}) {
    const ClaimSequence sequence(1, {8, most});
    CATCH_INFO(most);
    CATCH_CHECK(sequence.confidence() < 1);
    const auto interval = t_interval(std::vector<double>{1, 2, 3, 4}, sequence.confidence());
    CATCH_CHECK((interval && interval->low < 0 && std::isfinite(interval->low)));
  }
}

}  // namespace
}  // namespace difflab::report
