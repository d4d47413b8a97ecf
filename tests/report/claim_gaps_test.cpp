// What is said of a claim where runs are missing or diverged, and where nothing came about.
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "report/example_study.h"
#include "report/table/claim.h"
#include "report/table/table.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

constexpr double kSteps = 4'000;

/// Runs that are stopped when they have found something, or after kSteps.
struct Times {
  Times() {
    claim.text = "DIFF is sooner";
    claim.metric = "steps_to_found";
    claim.variant = "diff";
    claim.expect = Expect::kLower;
    claim.margin = 100;
    builder.study.report.learned = learned;
  }
  void configure() {
    builder.study.runs.back().config = {
        {"train", {{"steps", kSteps}, {"events", {{{"name", "found"}}}}, {"stop_at", stop_at}}}};
  }
  void found(const std::string& model, int seed, double steps, const Json& more = {}) {
    Json metrics{{"steps_to_found", steps}, {"test_loss", 1 + steps / kSteps}};
    if (more.is_object()) metrics.update(more);
    builder.finished(model, seed, metrics);
    configure();
  }
  void never(const std::string& model, int seed, double bound = kSteps) {
    builder.finished(model, seed, {{"steps_to_found", nullptr}, {"test_loss", 2}},
                     {{"censored", {{"steps_to_found", bound}}}});
    configure();
  }
  void diverged(const std::string& model, int seed) {
    builder.finished(model, seed, {{"parameters", 1}},
                     {{"status", "diverged"}, {"diverged_at_step", 150}});
    configure();
  }
  /// Each model has the other's runs from now on.
  void swap() {
    for (auto& run : builder.study.runs) {
      auto& model = run.axes[0].second;
      model = model == "diff" ? "transformer" : "diff";
    }
  }
  Answer ask() {
    builder.study.report.claims = {claim};
    builder.study.report.learned = learned;
    return answer_claims(builder.study, frame_of(builder.study), Labels(no_labels)).at(0);
  }

  StudyBuilder builder;
  ClaimConfig claim;
  LearnedConfig learned;
  TextMap no_labels;
  std::string stop_at = "found";
};

CATCH_TEST_CASE("times are not equivalent where most runs never got there") {
  Times times;
  times.claim.margin = 100;
  const auto run = [&](int seed, bool gets_there) {
    if (gets_there) {
      times.found("transformer", seed, kSteps - 10 + seed % 2);
      times.found("diff", seed, kSteps - 10 + (seed + 1) % 2);
    } else {
      times.never("transformer", seed);
      times.never("diff", seed);
    }
  };
  for (int seed = 0; seed < 18; ++seed) run(seed, true);
  for (int seed = 18; seed < 20; ++seed) run(seed, false);
  CATCH_CHECK(times.ask().verdict == Verdict::kEquivalent);  // a tenth may be missing

  run(20, false);
  const auto answer = times.ask();
  CATCH_CHECK(answer.verdict == Verdict::kUnresolved);
  CATCH_CHECK_THAT(answer.text, Contains("Too many did not get there to call them equivalent."));
}

CATCH_TEST_CASE("runs that never got there are not equally fast") {
  Times times;
  for (int seed = 0; seed < 8; ++seed) {
    times.never("transformer", seed);
    times.never("diff", seed);
  }
  const auto answer = times.ask();
  CATCH_CHECK(answer.verdict == Verdict::kUninformative);
  CATCH_CHECK_THAT(answer.text, Contains("No run got there within 4,000."));
}

CATCH_TEST_CASE("what happened in no run, or in every run, tells nothing apart") {
  const auto answer_to = [](const std::vector<std::pair<int, int>>& outcomes, double margin) {
    Times times;
    times.claim.metric = kLearned;
    times.claim.margin = margin;
    for (std::size_t seed = 0; seed < outcomes.size(); ++seed) {
      const int number = static_cast<int>(seed);
      times.builder.finished("transformer", number, {{kLearned, outcomes[seed].first}});
      times.builder.finished("diff", number, {{kLearned, outcomes[seed].second}});
    }
    return times.ask();
  };
  using Outcomes = std::vector<std::pair<int, int>>;
  CATCH_CHECK(answer_to(Outcomes(16, {0, 0}), 0.05).verdict == Verdict::kUninformative);
  CATCH_CHECK(answer_to(Outcomes(16, {1, 1}), 0.05).verdict == Verdict::kUninformative);
  // Of 16 pairs none differs: .95^16 = .44 for a share of .05, .7^16 = .003 for one of .3.
  Outcomes mixed(16, {0, 0});
  for (std::size_t i = 0; i < 8; ++i) mixed[i] = {1, 1};
  CATCH_CHECK(answer_to(mixed, 0.05).verdict == Verdict::kUnresolved);
  CATCH_CHECK(answer_to(mixed, 0.3).verdict == Verdict::kEquivalent);
}

CATCH_TEST_CASE("a run that diverged has not got there in all its steps, and cuts no other short") {
  Times times;
  for (int seed = 0; seed < 16; ++seed) {
    times.found("transformer", seed, 1'100 + 10 * seed);
    seed == 3 ? times.diverged("diff", seed) : times.found("diff", seed, 600 + 10 * seed);
  }
  const auto answer = times.ask();
  CATCH_CHECK(answer.pairs() == 16);
  CATCH_CHECK_THAT(answer.text, Contains("times up to 4,000, which 1 of 16 pairs did not reach"));
  CATCH_CHECK(answer.found->difference == Approx((15 * -500 + (4'000 - 1'130)) / 16.0));

  times.claim.metric = "test_loss";
  times.claim.margin = 0;
  const auto loss = times.ask();
  CATCH_CHECK(loss.pairs() == 15);
  CATCH_CHECK_THAT(loss.text, Contains("; 1 pair left out, as one diverged"));
  CATCH_CHECK(loss.verdict == Verdict::kSupported);
}

CATCH_TEST_CASE("of what a diverged run never reached no time is left out") {
  Times times;
  times.diverged("diff", 0);
  times.found("diff", 1, 500, {{"steps_to_90_accuracy", 450}});
  times.builder.study.report.learned.metric = "valid_accuracy";
  const auto frame = frame_of(times.builder.study);
  CATCH_CHECK(frame.runs()[0].censored_above("steps_to_90_accuracy") == kSteps);
  CATCH_CHECK(frame.runs()[0].censored_above("steps_to_found") == kSteps);
  CATCH_CHECK(frame.runs()[0].censored_above(kStepsToLearn) == kSteps);
  times.builder.study.runs[0].config["train"]["seconds"] = 60;  // nobody knows how many steps
  CATCH_CHECK_FALSE(frame_of(times.builder.study).runs()[0].censored_above("steps_to_found"));
}

CATCH_TEST_CASE("of a run that was restored without its curve nobody knows whether it learned") {
  Times times;
  times.found("transformer", 0, 1'100);
  times.learned.metric = "valid_accuracy";
  CATCH_CHECK_NOTHROW(times.ask());
  write_file_atomically(times.builder.study.runs.back().directory.path / "provenance.json",
                        R"({"restored_from": "a/reference"})");
  CATCH_CHECK_THROWS_WITH(times.ask(),
                          Contains("was restored without the lines of valid_accuracy"));
}

CATCH_TEST_CASE("the runs that did not diverge are no answer for all") {
  Times times;
  times.claim.metric = "test_loss";
  for (int seed = 0; seed < 16; ++seed) {
    times.found("transformer", seed, 1'100 + 10 * seed);
    seed % 2 == 0 ? times.diverged("diff", seed) : times.found("diff", seed, 600 + 10 * seed);
  }
  const auto answer = times.ask();
  CATCH_CHECK(answer.verdict == Verdict::kUninformative);
  CATCH_CHECK_THAT(answer.text, Contains("In 8 of 16 pairs a run diverged"));
  times.swap();
  CATCH_CHECK(times.ask().verdict == Verdict::kUninformative);
}

CATCH_TEST_CASE("times that are compared up to a bound before others got there answer nothing") {
  Times times;
  for (int seed = 0; seed < 8; ++seed) {
    times.found("transformer", seed, 1'000 + 10 * seed);
    seed == 0 ? times.never("diff", seed, 100) : times.found("diff", seed, 500 + 10 * seed);
  }
  const auto answer = times.ask();
  CATCH_CHECK(answer.verdict == Verdict::kUninformative);
  CATCH_CHECK_THAT(answer.text, Contains("A run was followed up to 100 alone"));
  // Whoever got there later need not be the last.
  times.found("transformer", 8, 60);
  times.found("diff", 8, 50);
  CATCH_CHECK(times.ask().verdict == Verdict::kUninformative);
}

CATCH_TEST_CASE("there is no verdict while planned runs are missing") {
  Times times;
  for (int seed = 0; seed < 10; ++seed) {
    times.found("transformer", seed, 1'000 + 10 * seed);
    if (seed < 9) {
      times.found("diff", seed, 500 + 11 * seed);
    } else {
      times.builder.plan("diff", seed);
    }
  }
  const auto answer = times.ask();
  CATCH_CHECK(answer.verdict == Verdict::kTooFew);
  CATCH_CHECK_THAT(answer.text, Contains("No verdict yet (9 of 10 seeds): DIFF is sooner.") &&
                                    Contains("So far it points the expected way."));
  times.swap();
  CATCH_CHECK(times.ask().verdict == Verdict::kTooFew);
  times.swap();
  times.found("diff", 9, 612);
  times.builder.study.runs.erase(times.builder.study.runs.end() - 2);  // as it was planned
  CATCH_CHECK(times.ask().verdict == Verdict::kSupported);
}

CATCH_TEST_CASE("a run that stopped at its event has learned, though its row was cut short") {
  Times times;
  times.learned = {.metric = "valid_accuracy", .in_a_row = 2};
  times.builder.study.report.learned = times.learned;
  const auto curve = [&](double last) {
    std::string lines;
    for (const auto& [step, value] : std::vector<std::pair<int, double>>{{400, .3}, {575, last}}) {
      lines += Json{{"step", step}, {"valid_accuracy", value}}.dump() + "\n";
    }
    write_file_atomically(times.builder.study.runs.back().directory.path / "metrics.jsonl", lines);
  };
  times.found("transformer", 0, 550);
  curve(.95);
  times.found("diff", 0, 550);
  curve(.6);
  times.never("diff", 1);
  curve(.95);
  const auto frame = frame_of(times.builder.study);
  CATCH_CHECK(frame.runs()[0].metric("learned") == 1);
  CATCH_CHECK(frame.runs()[0].metric("steps_to_learn") == 575);
  CATCH_CHECK(frame.runs()[1].metric("learned") == 0);
  CATCH_CHECK(frame.runs()[2].metric("learned") == 0);
}

CATCH_TEST_CASE("no row is called the best where one has runs that did not get there") {
  Times times;
  for (int seed = 0; seed < 3; ++seed) {
    times.found("transformer", seed, 1'000);
    times.found("diff", seed, 500);
  }
  const auto said = [&] {
    TableConfig config;
    config.rows.names = {"model"};
    config.columns = {"steps_to_found"};
    const auto frame = frame_of(times.builder.study);
    const auto table = build_table(config, times.builder.study, frame, Labels(times.no_labels));
    return headline(table, frame, "steps_to_found", Labels(times.no_labels));
  };
  CATCH_CHECK_THAT(said(), Contains("Best of 2 by steps to found: diff"));
  times.never("diff", 3);
  CATCH_CHECK(said().empty());
}

}  // namespace
}  // namespace difflab::report
