// What an experiment calls by a name that nothing has is said before anything runs.
#include "cli/driver.h"
#include "referee/referee.h"
#include "report/archive/rebuild.h"
#include "report/archive/reproduction.h"
#include "run/metrics.h"
#include "run/run_config.h"
#include "statistics/metric_facts.h"
#include "study/study.h"
#include "support/dose.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

const char* const kNamed =
    "# @package _global_\n"
    "defaults: [override /task: needle_recall]\n"
    "baseline: transformer\n"
    "train: {steps: 1000, events: [{name: found, metric: valid_needle_accuracy, at_least: .9}]}\n"
    "evaluate: [{kind: heldout, samples: 4}, {kind: logit_quantization, name: few, bits: [4]}]\n"
    "sweep: {model: [transformer, diff], task.needle.needles: [2, 4], seed: range(2)}\n"
    "claims:\n"
    "  - {text: sooner, metric: steps_to_found, variant: diff, where: {task.needle.needles: 4}}\n"
    "  - {text: later, metric: few_accuracy_4_bits, variant: diff, where: "
    "{task.needle.needles: 2}}\n"
    "tables: [{name: table, rows: [model, task.needle.needles], columns: [train.lr, recall_loss, "
    "lambda.1, model.layers]}]\n"
    "figures:\n"
    "  - {mark: line, name: curve, y: valid_recall_loss, color: model, facet: "
    "task.needle.needles}\n"
    "  - {mark: line, name: pairs, x: task.needle.needles, y: steps_to_found, color: model}\n"
    "  - {mark: survival, name: found, event: steps_to_found, color: model, where: "
    "{task.needle.needles: 4}}\n";

struct Named : Driver {
  explicit Named(const std::string& text = kNamed) { write("experiments/named.yaml", text); }
  Answer dry_run(std::vector<std::string> overrides, std::optional<int> code = {}) const {
    overrides.insert(overrides.begin(), {"sweep", "named", "--dry-run"});
    return call(overrides, code);
  }
};

CATCH_TEST_CASE("a name that nothing has is told before anything runs, with what it may mean") {
  const Named driver;
  const auto right = driver.dry_run({});
  CATCH_INFO(right.err);
  CATCH_REQUIRE(right.code == 0);

  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"claims.0.variant=dif",
       "claims[0].variant is dif, which is not a value of model; did you mean"},
      {"claims.0.against=dif", "claims[0].against is dif, which is not a value of model"},
      {"tables.0.rows=[task.needle.needles,model]",
       "baseline is transformer, which is not a value of task.needle.needles, but of model; claims "
       "compare values of the first axis in rows of the first table: expected model there"},
      {"claims.1.margin=1", "claims[1].margin is 1, and few_accuracy_4_bits lies between 0 and 1"},
      {"claims.1.smallest=30", "claims[1].smallest is 30, and few_accuracy_4_bits lies between"},
      {"figures.1.source=fwe",
       "figures[1].source is fwe, which names no evaluation of these runs; "
       "did you mean few?"},
      {"derived=[{kind: map_area, name: area, source: fwe}]",
       "derived[0].source is fwe, which names no evaluation of these runs; did you mean few?"},
      {"derived=[{kind: equal_level, name: need, value: few_accuracy_4_bits, x: paramters, "
       "along: task.needle.needles, variants: modle}]",
       "derived[0].x is paramters, which names no metric of these runs; did you mean parameters?"},
      {"derived=[{kind: equal_level, name: need, value: few_accuracy_4_bits, along: "
       "task.needle.needels, variants: model}]",
       "derived[0].along names 'task.needle.needels', which the sweep does not vary; did you mean "
       "task.needle.needles?"},
      {"train.events.0.metric=valid_nedle_accuracy",
       "train.events[0].metric is valid_nedle_accuracy, which names no held-out"},
      {"claims.1.where={task.needle.needles: 3}",
       "is 3, which is not a value of task.needle.needles"},
      {"claims.1={text: 'at {task.needle.needles}', metric: few_accuracy_4_bits, variant: diff, "
       "where: {task.needle.needles: [2, 3]}}",
       "claims[2].where is 3, which is not a value of task.needle.needles"},
      {"claims.0.metric=steps_to_fuond",
       "claims[0].metric is steps_to_fuond, which names no metric"},
      {"claims.1.metric=few_acuracy_4_bits", "did you mean few_accuracy_*_bits?"},
      {"headline=mqar_accuracy", "headline is mqar_accuracy, which names no metric of these runs"},
      {"tables.0.columns.0=trian.lr", "tables[0].columns[0] is trian.lr, which names no metric"},
      {"tables.0.columns.1=text_loss", "tables[0].columns[1] is text_loss"},
      {"figures.0.y=valid_mqar_loss", "figures[0].y is valid_mqar_loss"},
      {"figures.1.y=steps_to_90", "figures[1].y is steps_to_90"},
      {"figures.2.event=steps_to_fond", "figures[2].event is steps_to_fond"},
      {"figures.2.where={task.needle.needles: 5}",
       "figures[2].where is 5, which is not a value of task.needle.needles"},
      {"figures.2.where={task.needle.needles: 4, modle: diff}",
       "figures[2].where names 'modle', which the sweep does not vary; did you mean model?"},
      {"figures.0={mark: line, name: few, x: step, y: valid_loss, color: model, against: dif, "
       "where: {task.needle.needles: 4}}",
       "figures[0].against is dif, which is not a value of model; did you mean diff?"},
      {"train.events.0.metric=valid_acuracy",
       "train.events[0].metric is valid_acuracy, which names no"},
      {"learned={metric: needle_accuracy}",
       "learned.metric is needle_accuracy, which names no held-"},
      {"baseline=transfomer",
       "baseline is transfomer, which is not a value of model; did you mean"},
  };
  for (const auto& [override, expected] : mistakes) {
    CATCH_INFO(override);
    CATCH_CHECK_THAT(driver.dry_run({override}, 2).err, Contains(expected));
  }
}

CATCH_TEST_CASE("other seeds than the written ones excuse no wrong name") {
  const Named driver;
  for (const char* seeds : {"seed=range(3)", "sweep.repeat=3"}) {
    CATCH_INFO(seeds);
    auto overrides = std::vector<std::string>{seeds, "claims.0.variant=dif"};
    if (std::string(seeds) == "sweep.repeat=3") overrides.insert(overrides.begin(), "~sweep.seed");
    CATCH_CHECK_THAT(driver.dry_run(overrides).err,
                     Contains("claims[0].variant is dif, which is not a value of model"));
  }
}

CATCH_TEST_CASE("a sweep that is narrowed excuses no baseline that is typed wrong with it") {
  const Named driver;
  for (const char* narrowed :
       {R"(sweep.where="seed != 1")", "+vars.x=1", "model=transformer,diff"}) {
    CATCH_INFO(narrowed);
    CATCH_CHECK(driver.dry_run({narrowed, "baseline=diff", "claims=[]"}).code == 0);
    CATCH_CHECK_THAT(driver.dry_run({narrowed, "baseline=transfomer"}, 2).err,
                     Contains("baseline is transfomer, which is not a value of model"));
  }
}

CATCH_TEST_CASE("whoever narrows a sweep by the number of its part knows what there is not") {
  const Named driver(
      "# @package _global_\n"
      "baseline: transformer\n"
      "vars: {models: [transformer, diff]}\n"
      "sweep: [{model: transformer}, {model: [diff, diff_v2]}]\n"
      "unmatched: they need not be\n"
      "claims: [{text: less, metric: valid_loss, variant: diff, expect: lower}]\n"
      "tables: [{name: table, rows: model, columns: [valid_loss]}]\n");
  for (const char* narrowed :
       {"sweep[1].model=diff_v2", "sweep.1={model: diff_v2}", "sweep.1.model=diff_v2"}) {
    CATCH_INFO(narrowed);
    driver.dry_run({narrowed}, 0);
  }
  const auto answer = driver.dry_run({"sweep={model: '${vars.models}'}", "vars.models=[diff_v2]"});
  CATCH_CHECK_THAT(answer.err, !Contains("claims[0]"));
}

CATCH_TEST_CASE("a claim or an event on what its runs do not measure is told") {
  const Named driver(
      "# @package _global_\n"
      "baseline: transformer\n"
      "evaluate: [{kind: heldout, samples: 4}]\n"
      "sweep: {model: [transformer, diff], task: [needle_recall, noisy_recall]}\n"
      "claims:\n"
      "  - {text: more, metric: needle_accuracy, variant: diff, where: {task: "
      "needle_recall}}\n"
      "tables: [{name: table, rows: [model, task], columns: [test_loss]}]\n");
  CATCH_CHECK(driver.dry_run({}).code == 0);
  const auto elsewhere = driver.dry_run({"claims.0.where={task: noisy_recall}"});
  CATCH_CHECK_THAT(
      elsewhere.err,
      Contains("claims[0].metric is needle_accuracy, which names no metric of these") &&
          Contains("(of model=diff with this where)"));
  const auto event = driver.dry_run(
      {"train.events=[{name: found, metric: valid_needle_accuracy, at_least: 0.9}]"});
  CATCH_CHECK((elsewhere.code == 2 && event.code == 2));
  CATCH_CHECK(driver
                  .dry_run({"train.events=[{name: fits, metric: train_loss, at_most: 1}]",
                            "train.event_every=${train.eval_every}"})
                  .code == 0);
  CATCH_CHECK_THAT(event.err, Contains("train.events[0].metric is valid_needle_accuracy, which"));
}

CATCH_TEST_CASE("a run that two parts of a union write in two ways is one run") {
  const Named driver(
      "# @package _global_\n"
      "sweep:\n"
      "  union:\n"
      "    - {model: [transformer, diff]}\n"
      "    - {model: [transformer, diff], train.weight_decay: [0, 0.1]}\n"
      "  seed: range(2)\n"
      "tables: [{name: table, rows: [model, train.weight_decay], columns: [valid_loss]}]\n");
  const auto answer = driver.dry_run({"--json"});
  CATCH_INFO(answer.err);
  const auto runs = Json::parse(answer.out);
  CATCH_CHECK(runs.size() == 8);
  std::set<std::string> ids;
  for (const auto& run : runs) ids.insert(run.at("id"));
  CATCH_CHECK(ids.size() == 8);
  CATCH_CHECK(runs[0]["axes"]["train.weight_decay"] == "0.1");
  // The fifth run is the first that the second part adds.
  const auto why = driver.call({"config", "named", "--run", "4", "--why", "train.weight_decay"});
  CATCH_CHECK_THAT(why.out, Contains("0") && Contains("named.yaml:5:"));
  CATCH_CHECK_THAT(driver.call({"config", "named", "--run", "6", "--why", "model.name"}).out,
                   Contains("diff"));
}

CATCH_TEST_CASE("a claim about runs that the sweep leaves out is told, not one narrowed by hand") {
  const Named driver;
  // By hand: who asks for one model knows what there is not.
  CATCH_CHECK(driver.dry_run({"model=transformer"}).code == 0);
  CATCH_CHECK(driver.dry_run({"sweep={model: [transformer, diff], seed: [0]}"}).code == 0);
  std::string left_out = kNamed;
  const std::string axes = "sweep: {model: [transformer, diff], task.needle.needles: [2, 4]";
  left_out.replace(left_out.find(axes), axes.size(),
                   "sweep: {union: [{model: [transformer, diff], task.needle.needles: 2}, "
                   "{model: transformer, task.needle.needles: 4}]");
  driver.write("experiments/named.yaml", left_out);
  CATCH_CHECK_THAT(driver.dry_run({}, 2).err,
                   Contains("claims[0] asks for model=diff where the sweep has no run"));
}

CATCH_TEST_CASE("what committed runs have measured is what their configurations announce") {
  const std::filesystem::path root = DIFFLAB_ROOT;
  ::setenv("DIFFLAB_ROOT", root.c_str(), 1);
  int checked = 0, seen = 0;
  for (const auto& name : referee::reference_names(root / "results")) {
    if (seen++ % testing::kEvery != 0) continue;
    std::set<std::string> measured;
    const auto record = Json::parse(read_file(root / "results" / name / "reference" / "runs.json"));
    for (const auto& run : record.at("runs")) {
      if (!run.contains("metrics")) continue;
      for (const auto& [metric, value] : run.at("metrics").items()) measured.insert(metric);
    }
    if (measured.empty()) continue;
    const auto folder = root / "results" / name / "reference";
    const auto of_report = report::metrics_of_report(report::read_archive(folder, folder).study);
    std::set<std::string> announced(of_report.begin(), of_report.end());
    for (const auto& run : study::written_runs(name, {"preset=reference"})) {
      for (const auto& metric : metrics_of(run)) announced.insert(metric);
    }
    for (const auto& metric : measured) {
      CATCH_INFO(name << " " << metric);
      CATCH_CHECK(std::any_of(announced.begin(), announced.end(),
                              [&](const auto& one) { return is_called(metric, one); }));
      ++checked;
    }
  }
  CATCH_CHECK(checked >= 50 / testing::kEvery);
}

}  // namespace
}  // namespace difflab
