// Which runs are made again, and how they are compared.
#include "report/archive/reproduction.h"

#include "report/data/derived.h"
#include "report/data/frame.h"
#include "report/settings/study.h"
#include "support/catch.h"
#include "support/declared.h"

namespace difflab::report {
namespace {

const std::vector<std::string> kOfReport{"learned", "steps_to_learn", "effective_length"};

CATCH_TEST_CASE("the same draw gives the same runs, another one others, each as often") {
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back("run" + std::to_string(i));
  auto turned = ids;
  std::reverse(turned.begin(), turned.end());
  CATCH_CHECK(drawn(ids, "commit", 3) == drawn(turned, "commit", 3));
  CATCH_CHECK(drawn(ids, "commit", 3) != drawn(ids, "another", 3));
  CATCH_CHECK(drawn(ids, "commit", 30).size() == 20);
  std::map<std::string, int> times;
  for (int draw = 0; draw < 400; ++draw) {
    const auto some = drawn(ids, std::to_string(draw), 3);
    CATCH_REQUIRE(std::set<std::string>(some.begin(), some.end()).size() == 3);
    for (const auto& id : some) ++times[id];
  }
  CATCH_REQUIRE(times.size() == 20);  // 60 times each is expected, with a standard deviation of 7
  for (const auto& [id, count] : times) {
    CATCH_CHECK(count > 25);
    CATCH_CHECK(count < 95);
  }
}

CATCH_TEST_CASE("every number is compared to its last bit, but for those of the machine") {
  const Declared declared({{.name = "training_memory_mib_t*", .of_machine = OfMachine::kMemory}});
  const Json committed{{"id", "a"},
                       {"metrics",
                        {{"test_loss", 0.1},
                         {"steps_to_found", nullptr},
                         {"needle_accuracy", 0.9},
                         {"train_seconds", 7.0},
                         {"training_memory_mib_t256", 151.5},
                         {"tokens_per_second", 100.0}}}};
  Json result{{"metrics", committed.at("metrics")}};
  result["metrics"]["training_memory_mib_t256"] = 162.5;
  result["metrics"]["train_seconds"] = 9.0;
  result["metrics"]["a_metric_of_today"] = 1;
  const auto same = compare_run(committed, result, kOfReport);
  CATCH_CHECK(same.id == "a");
  CATCH_CHECK(same.numbers == 3);
  CATCH_CHECK(same.differences.empty());

  result["metrics"]["test_loss"] = 0.1 + 1.5e-17;
  result["metrics"]["steps_to_found"] = 400;
  result["metrics"].erase("needle_accuracy");
  CATCH_CHECK(compare_run(committed, result, kOfReport).differences ==
              std::vector<std::string>{"test_loss is 0.10000000000000002 instead of 0.1",
                                       "steps_to_found is 400 instead of null",
                                       "needle_accuracy is missing"});
  CATCH_CHECK(compare_run(committed, Json(), kOfReport).differences.size() == 3);
}

CATCH_TEST_CASE("other data or initial weights are told from other arithmetic") {
  const auto began = [](const char* batch, const char* weights) {
    return Json{{"fingerprints", {{"first_batch", batch}, {"initial_weights", weights}}}};
  };
  CATCH_CHECK(how_begun(began("a", "b"), began("a", "b")) ==
              "the same first batch and initial weights");
  CATCH_CHECK(how_begun(began("a", "b"), began("c", "b")) == "another first batch");
  CATCH_CHECK(how_begun(began("a", "b"), began("a", "c")) == "other initial weights");
  CATCH_CHECK(how_begun(began("a", "b"), began("c", "d")) ==
              "another first batch and other initial weights");
  CATCH_CHECK(how_begun(Json::object(), began("a", "b")).empty());
}

CATCH_TEST_CASE("what the report reads off a curve is not asked of a result") {
  const Json committed{
      {"id", "a"},
      {"metrics",
       {{"test_loss", 0.1}, {"learned", 1}, {"steps_to_learn", 40}, {"effective_length", 128}}}};
  const auto found = compare_run(committed, {{"metrics", {{"test_loss", 0.1}}}}, kOfReport);
  CATCH_CHECK(found.numbers == 1);
  CATCH_CHECK(found.differences.empty());
  CATCH_CHECK(found.confirms());
}

CATCH_TEST_CASE("derived metrics are the report's own") {
  Study study;
  MapAreaConfig area;
  area.name = "area";
  study.report.derived = {area};
  CATCH_CHECK(metrics_of_report(study) ==
              std::vector<std::string>{"learned", "steps_to_learn", "area"});
}

CATCH_TEST_CASE("conditions are those that change rounding") {
  const Json then{{"cpu", "A"}, {"libtorch", "2.13.0"}, {"device", "cpu"}, {"host", "x"}};
  Json now = then;
  now["host"] = "y";
  CATCH_CHECK(other_conditions(then, now) == "");
  now["cpu"] = "B";
  now["libtorch"] = "2.14.0";
  CATCH_CHECK(other_conditions(then, now) ==
              "processor B instead of A, LibTorch 2.14.0 instead of 2.13.0");
  now = then;
  now["instruction_set"] = "AVX2";  // which older runs do not tell
  CATCH_CHECK(other_conditions(then, now) == "instructions AVX2 instead of unrecorded");
}

// A cell of four runs that took 100 to 130 steps, and one of which a run took more than 400.
struct Cells {
  Cells() {
    study.report.headline = "steps_to_found";
    add("a", {100, 110, 120, 130});
    add("late", {300, 350, 380, 400});
    plans[7].result = {{"metrics", {{"steps_to_found", nullptr}}},
                       {"censored", {{"steps_to_found", 400}}}};
  }
  void add(const std::string& arm, const std::vector<double>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      FrameRun run;
      run.plan.id = concat(arm, i);
      run.plan.axes = {{"model", arm}, {"seed", std::to_string(i)}};
      run.state = RunState::kFinished;
      run.result = {{"metrics", {{"steps_to_found", steps[i]}}}};
      plans.push_back(run);
    }
  }
  Elsewhere judge(const std::string& id, const Json& result) const { return judge({{id, result}}); }
  Elsewhere judge(const std::vector<MadeAgain>& runs) const {
    return judge_elsewhere(study, Frame(plans, "", {}, {}), runs);
  }
  Study study;
  std::vector<FrameRun> plans;
};

CATCH_TEST_CASE("a run of another machine must lie where other seeds of its cell would") {
  Cells cells;
  const auto steps = [](double value) { return Json{{"metrics", {{"steps_to_found", value}}}}; };
  // 115 ± 12.92 · 12.91 · √1.25, t of three degrees of freedom at .9995 being 12.92
  CATCH_CHECK(cells.judge("a0", steps(301)).outside.empty());
  CATCH_CHECK(cells.judge("a0", steps(301)).judged == 1);
  const auto far = cells.judge("a0", steps(302));
  CATCH_REQUIRE(far.outside.size() == 1);
  CATCH_CHECK(
      far.outside[0] ==
      "steps_to_found lies 14.5 standard deviations above other seeds (chance: up to 14.4)");
  // A censored time is its bound, here and there.
  CATCH_CHECK(cells
                  .judge("late0", {{"metrics", {{"steps_to_found", nullptr}}},
                                   {"censored", {{"steps_to_found", 400}}}})
                  .judged == 1);
  CATCH_CHECK(cells.judge("late0", steps(2000)).outside.size() == 1);

  CATCH_CHECK(cells.judge("a0", Json::object()).outside ==
              std::vector<std::string>{"steps_to_found is missing"});
  // A study of speeds is judged by all that is no speed.
  cells.study.report.claims.emplace_back().metric = "tokens_per_second";
  CATCH_CHECK(cells.judge("a0", steps(301)).judged == 1);
  CATCH_CHECK(cells.judge("a0", steps(302)).outside.size() == 1);
  CATCH_CHECK(cells.judge("nobody", steps(302)).judged == 0);
}

CATCH_TEST_CASE("several runs of another machine are judged by the mean of their distances") {
  Cells cells;
  std::vector<double> steps;
  for (int i = 0; i < 20; ++i) steps.push_back(100 + 10 * (i % 2));  // 105 ± 5.13
  cells.add("many", steps);
  const auto shifted = [](int count, double value) {
    std::vector<MadeAgain> runs;
    for (int i = 0; i < count; ++i)
      runs.push_back({concat("many", i), {{"metrics", {{"steps_to_found", value}}}}});
    return runs;
  };
  // t of 19 degrees of freedom is 3.883: 3.979 standard deviations for one, 1.624 for eight.
  CATCH_CHECK(cells.judge(shifted(1, 125)).stands());
  CATCH_CHECK_FALSE(cells.judge(shifted(1, 126)).stands());
  CATCH_CHECK(cells.judge(shifted(8, 113)).stands());
  CATCH_CHECK(cells.judge(shifted(8, 114)).outside ==
              std::vector<std::string>{"steps_to_found lies 1.8 standard deviations above other "
                                       "seeds (chance: up to 1.6)"});
  // Runs of two cells count by their own: one is as far above as the other below.
  auto both = shifted(1, 125);
  both.push_back({"a0", {{"metrics", {{"steps_to_found", 70}}}}});
  CATCH_CHECK(cells.judge(both).judged == 1);
  CATCH_CHECK(cells.judge(both).stands());
}

CATCH_TEST_CASE("seeds that all agree leave a hundredth, and two seeds leave nothing to judge") {
  Cells cells;
  cells.plans.clear();
  cells.add("same", {100, 100, 100});
  cells.add("few", {100, 200});
  const auto steps = [](double value) { return Json{{"metrics", {{"steps_to_found", value}}}}; };
  CATCH_CHECK(cells.judge("same1", steps(101)).outside.empty());
  CATCH_CHECK(cells.judge("same1", steps(102)).outside.size() == 1);
  CATCH_CHECK(cells.judge("few0", steps(102)).judged == 0);
}

}  // namespace
}  // namespace difflab::report
