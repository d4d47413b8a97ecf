// Each rule is silent on good references and finds the defect that is planted for it.
#include "referee/good_results.h"
#include "support/catch.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

using Run = GoodResults::Run;

constexpr const char* kClaim = "claim \"DIFF finds needles sooner (0.125, target)\"";

std::string told(const std::vector<Objection>& all) {
  std::string text;
  for (const auto& one : all) text += concat(one.rule, " ", one.where, ": ", one.what, "\n");
  return text;
}

CATCH_TEST_CASE("good references are met with silence") {
  const GoodResults results;
  CATCH_CHECK(told(results.all()) == "");
  // And they do claim something, by every figure that rules read.
  const auto all = read_references(results.folder("contrast").parent_path().parent_path());
  CATCH_REQUIRE(all.size() == 2);
  const auto& contrast = all[0];
  CATCH_REQUIRE(contrast.statements.size() == 4);
  for (const auto& statement : contrast.statements) {
    CATCH_CHECK(statement.verdict == "supported");
    CATCH_CHECK(statement.pairs == 8);
    CATCH_CHECK(statement.p == 0.031);
    CATCH_REQUIRE((statement.interval && statement.difference && statement.ours));
    CATCH_CHECK(statement.interval->high < 0);
    CATCH_CHECK(statement.interval->low < *statement.difference);
    CATCH_CHECK(std::abs(*statement.ours - *statement.theirs - *statement.difference) <= 1);
    CATCH_CHECK(contrast.metric_of(statement) == "steps_to_found");
  }
  CATCH_CHECK(contrast.figures.size() == 1);
  CATCH_CHECK(contrast.comparisons.size() == 1);
}

CATCH_TEST_CASE("what can be read from the text of a report is what its archive says") {
  const GoodResults results;
  const auto whole = read_reference("contrast", results.folder("contrast"));
  fs::remove(results.folder("contrast") / "observations.json");
  const auto text = read_reference("contrast", results.folder("contrast"));
  CATCH_REQUIRE((whole.archive && !text.archive));
  CATCH_CHECK(text.compared_axis() == "model");
  CATCH_CHECK(text.arms() == whole.arms());
  for (const char* key : {"task.kind", "train.schedule", "train.event_every", "train.lr",
                          "model.embedding_std", "train.loss.per"}) {
    CATCH_INFO(key);
    CATCH_CHECK(text.values(key).size() > 0);
    CATCH_CHECK(text.values(key) == whole.values(key));
  }
  CATCH_CHECK(text.values("task.length").empty());
  for (const auto& statement : text.statements) {
    CATCH_CHECK(text.metric_of(statement) == "steps_to_found");
  }
  CATCH_CHECK(text.keys.at("needle accuracy") == "needle_accuracy");
}

CATCH_TEST_CASE("a statement is read as it is printed") {
  const auto read = [](const char* figures, std::size_t pairs) {
    return read_statement({{"verdict", "opposite"}, {"figures", figures}, {"pairs", pairs}});
  };
  const auto whole = read(
      "training, tokens/s at 256 11,872 (DIFF, λ_init = 0.8) against 10,873 (Transformer), "
      "difference +999, 95 % interval \u22121,179 to +3,177, 9 paired seeds, p < 0.001 among 2 "
      "claims "
      "(Holm)",
      7);
  CATCH_CHECK(whole.heading == "training, tokens/s at 256");
  CATCH_CHECK(whole.variant == "DIFF, λ_init = 0.8");
  CATCH_CHECK(whole.against == "Transformer");
  CATCH_CHECK((whole.ours == 11872 && whole.theirs == 10873 && whole.difference == 999));
  CATCH_REQUIRE(whole.interval);
  CATCH_CHECK((whole.interval->low == -1179 && whole.interval->high == 3177));
  CATCH_CHECK((whole.p == 0.001 && whole.pairs == 9 && whole.takes_sides()));
  const auto one = read(
      "loss 3.1 (a) against 2.9 (b), difference +0.2 in one pair, which has no "
      "interval",
      1);
  CATCH_CHECK((one.difference == 0.2 && !one.interval && !one.p && one.pairs == 1));
  const auto look = read(
      "steps to found 550 (a) against 860 (b), difference −310, 95 % interval over all looks −540 "
      "to "
      "−113, 16 paired seeds, p = 3.1e-05, where this look asks for 0.0031 among 3 claims",
      16);
  CATCH_REQUIRE(look.interval);
  CATCH_CHECK((look.interval->low == -540 && look.interval->high == -113));
  CATCH_CHECK(*look.p == Approx(3.1e-5));
  const auto none = read("no pair of finished runs of a and b has loss", 0);
  CATCH_CHECK((!none.ours && !none.difference && none.pairs == 0));
}

CATCH_TEST_CASE("intervals: limits beyond the range of the metric") {
  const GoodResults results;
  results.set_cell("table.csv", "high_needle_accuracy", 1, "1.05");
  CATCH_CHECK_THAT(results.against("intervals"),
                   Contains("contrast table.csv: 1 of ") &&
                       Contains("the first: transformer, 0.125, sequence, needle_accuracy 0.9") &&
                       Contains("to 1.050"));
  results.set_cell("table.csv", "low_steps_to_found", 2, "-3");
  CATCH_CHECK_THAT(results.against("intervals"), Contains("table.csv: 2 of "));
  results.set_cell("figures/learning.csv", "low_valid_accuracy", 3, "-0.2");
  CATCH_CHECK_THAT(results.against("intervals"), Contains("figures/learning.csv: 1 of "));
  // A difference of shares may be negative, though not below −1.
  results.set_cell("table.paired.csv", "metric", 0, "needle_accuracy");
  results.set_cell("table.paired.csv", "low", 0, "-0.9");
  results.set_cell("table.paired.csv", "high", 0, "0.1");
  CATCH_CHECK_THAT(results.against("intervals"), !Contains("paired"));
  results.set_cell("table.paired.csv", "low", 0, "-1.2");
  CATCH_CHECK_THAT(results.against("intervals"), Contains("table.paired.csv: 1 of "));
}

CATCH_TEST_CASE("learned: means over runs that learned and runs that did not") {
  const GoodResults results;
  results.set_cell("table.csv", "censored_steps_to_found", 0, "3");
  CATCH_CHECK_THAT(results.against("learned"),
                   Contains("1 means over") && Contains("with 3 of 8 runs not there yet"));
  // All of them late is one outcome.
  results.set_cell("table.csv", "censored_steps_to_found", 0, "8");
  CATCH_CHECK(results.against("learned") == "");
  // The interval of a share tells its standard deviation; in the middle it is symmetric, and .4
  // from .5 is one of .4 · √8 / 2.365 · √(.25 / .09).
  results.set_cell("table.csv", "mean_needle_accuracy", 0, "0.5");
  results.set_cell("table.csv", "low_needle_accuracy", 0, "0.1");
  results.set_cell("table.csv", "high_needle_accuracy", 0, "0.9");
  CATCH_CHECK_THAT(results.against("learned"), Contains("a standard deviation of 0.80"));

  // As the report itself writes it, of runs of two kinds and of runs between them.
  for (const bool is_mixed : {true, false}) {
    GoodResults written;
    written.each_run = [&](auto& run) {
      if (run.seed >= 100 || run.model != "diff") return;
      const double between = 0.05 + 0.1 * run.seed;
      run.metrics["needle_accuracy"] = is_mixed ? (run.seed % 2 == 0 ? 0.97 : 0.2) : between;
    };
    written.write();
    CATCH_INFO(is_mixed);
    CATCH_CHECK((written.against("learned") == "") != is_mixed);
  }

  GoodResults silent;
  silent.contrast = [](report::Study& study) {
    study.report.learned = {};
    study.report.tables[0].columns = {"steps_to_found", "needle_accuracy"};
  };
  silent.write();
  CATCH_CHECK_THAT(silent.against("learned"),
                   Contains("cannot be checked: nothing says which runs learned"));
}

CATCH_TEST_CASE("seeds: a verdict of too few") {
  const GoodResults results;
  results.replace("summary.json", "8 paired seeds", "7 paired seeds");
  CATCH_CHECK_THAT(results.against("seeds"),
                   Contains(kClaim) && Contains("supported with 7 pairs; 8 are needed"));
  results.replace("summary.json", "\"verdict\": \"supported\"", "\"verdict\": \"no verdict\"");
  CATCH_CHECK(results.against("seeds") == "");

  GoodResults unlike;
  unlike.contrast = [](report::Study& study) {
    const auto of_diff = [](const auto& run) {
      return report::value_of_axis(run.axes, "model") == "diff";
    };
    study.runs.erase(std::find_if(study.runs.begin(), study.runs.end(), of_diff));
  };
  unlike.write();
  CATCH_CHECK_THAT(unlike.against("seeds"),
                   Contains("diff and transformer have unlike seeds: 7 and 8"));
}

CATCH_TEST_CASE("verdicts: against interval, p, or the runs") {
  const auto against = [](const char* from, const char* to) {
    const GoodResults results;
    results.replace("summary.json", from, to);
    return results.against("verdicts");
  };
  CATCH_CHECK_THAT(against("\"verdict\": \"supported\"", "\"verdict\": \"opposite\""),
                   Contains("it says opposite with 8 pairs; the runs say supported with 8"));
  CATCH_CHECK_THAT(against("p = 0.031", "p = 0.310"), Contains("supported beside p = 0.310"));
  CATCH_CHECK_THAT(against(", p = 0.031", ""), Contains("cannot be checked: its adjusted p"));
  CATCH_CHECK_THAT(against("8 paired seeds, p = 0.031", "5 paired seeds"),
                   Contains("though no exact p of 5 pairs among 4 claims is below 0.0"));
  CATCH_CHECK_THAT(against(" to \u2212", " to +"),
                   Contains("supported beside an interval that holds zero"));
  const GoodResults results;
  results.edit("summary.json", [](Json& json) { json["answers"].erase(3); });
  CATCH_CHECK_THAT(results.against("verdicts"), Contains("it answers 3 claims of 4"));
}

CATCH_TEST_CASE("regime: shares at their ceiling or floor") {
  GoodResults results;
  double added = 0;
  results.contrast = [](report::Study& study) {
    for (auto& claim : study.report.claims) claim.metric = "needle_accuracy";
  };
  results.each_run = [&](Run& run) {
    auto& accuracy = run.metrics["needle_accuracy"];
    if (run.seed < 100) {
      accuracy = added + 0.001 * run.seed + (run.model == "diff" ? 0.002 : 0);
      run.metrics["needle_accuracy_chance"] = 0.25;
    }
  };
  const auto judged = [&](double accuracy) {
    added = accuracy;
    results.write();
    results.edit("summary.json", [](Json& json) {
      for (Json& answer : json["answers"]) answer["verdict"] = "supported";
    });
    return results.against("regime");
  };
  CATCH_CHECK_THAT(judged(0.98), Contains(kClaim) && Contains("both lie above 0.97"));
  CATCH_CHECK(judged(0.95) == "");
  CATCH_CHECK(judged(0.966) == "");  // one of the two lies below
  CATCH_CHECK_THAT(judged(0.3), Contains("both lie below chance + 0.1 (0.350)"));
  results.replace("summary.json", "\"verdict\": \"supported\"", "\"verdict\": \"uninformative\"");
  CATCH_CHECK_THAT(results.against("regime"), !Contains(kClaim));

  // The level that a table tells will do where no run tells one.
  results.edit("runs.json", [](Json& json) {
    for (Json& run : json["runs"]) run["metrics"].erase("needle_accuracy_chance");
  });
  CATCH_CHECK_THAT(results.against("regime"), Contains("both lie below chance + 0.1 (0.350)"));
  results.replace("table.md", "- Chance level of", "- The level of");
  CATCH_CHECK_THAT(results.against("regime"),
                   Contains("cannot be checked: the chance level of needle_accuracy"));
}

CATCH_TEST_CASE("language: models that do not beat counts of trigrams") {
  GoodResults results;
  std::optional<double> trigrams;
  results.contrast = [](report::Study& study) {
    for (auto& claim : study.report.claims) claim.metric = "test_loss";
  };
  results.each_run = [&](Run& run) {
    run.config["task"]["kind"] = "text";
    run.metrics["test_loss"] = 2.4 + 0.01 * run.seed - (run.model == "diff" ? 0.1 : 0);
    if (trigrams) run.metrics["trigram_loss"] = *trigrams;
  };
  results.write();
  CATCH_CHECK_THAT(results.against("language"),
                   Contains("cannot be checked: no run has the loss of a trigram count model"));
  trigrams = 2.093;
  results.write();
  CATCH_CHECK_THAT(results.against("language"),
                   Contains("a model is no better than trigram counts, 2.093"));
  trigrams = 2.6;
  results.write();
  CATCH_CHECK(results.against("language") == "");
}

CATCH_TEST_CASE("tuning: small grids, picks at the edge, arms that no rate or nobody tuned") {
  GoodResults results;
  results.rates = {"0.001", "0.003", "0.01", "0.03"};
  results.tuning_seeds = 2;
  results.write();
  CATCH_CHECK_THAT(results.against("tuning"), Contains("a grid of 4 rates; 5 are needed") &&
                                                  Contains("2 seeds a rate; 3 are needed") &&
                                                  !Contains("edge"));
  GoodResults edge;
  edge.each_run = [](Run& run) {
    if (run.rate == "0.03" && run.model == "diff") run.metrics["needle_accuracy"] = 0.99;
  };
  edge.write();
  CATCH_CHECK_THAT(edge.against("tuning"),
                   Contains("at the edge of the grid for diff (0.03)") && !Contains("transformer"));
  GoodResults dead;
  dead.each_run = [](Run& run) {
    if (run.model == "diff" && run.seed >= 100) run.metrics["needle_accuracy"] = 0.2;
  };
  dead.write();
  CATCH_CHECK_THAT(dead.against("tuning"),
                   Contains("no rate works for diff (0.200) by needle_accuracy"));
  GoodResults other;
  other.each_run = [](Run& run) {
    if (run.seed < 100) run.config["task"]["kind"] = "mqar";
  };
  other.write();
  CATCH_CHECK_THAT(other.against("tuning"),
                   Contains("no reference tunes the rate on task mqar of transformer, diff"));
}

CATCH_TEST_CASE("tuning: a reference that tuned its own arms is held to the same") {
  GoodResults results;
  const auto tuned_by = [&](report::Tuned tuned) {
    tuned.key = "train.lr";
    tuned.variants = {{{{"model", "transformer"}}, 0.01, tuned.variants.at(0).at_edge},
                      {{{"model", "diff"}}, std::nullopt, false}};
    results.contrast = [tuned](report::Study& study) { study.tuned = tuned; };
    // Nobody else tunes on this task.
    results.each_run = [](Run& run) {
      if (run.seed < 100) run.config["task"]["kind"] = "mqar";
    };
    results.write();
    return results.against("tuning");
  };
  const std::vector<double> grid{0.001, 0.003, 0.01, 0.03, 0.1};
  const std::vector<std::int64_t> seeds{10'000, 10'001, 10'002};
  CATCH_CHECK(tuned_by({.grid = grid, .seeds = seeds, .variants = {{}}}) == "");
  CATCH_CHECK_THAT(tuned_by({.grid = {1, 2, 3}, .seeds = {1}, .variants = {{}}}),
                   Contains("a grid of 3 rates") && Contains("1 seeds a rate"));
  CATCH_CHECK_THAT(
      tuned_by({.grid = grid, .seeds = seeds, .variants = {{{}, 0.01, true}}}),
      Contains("contrast observations.json: the best rate is at the edge of the grid for "
               "transformer (0.01)"));
}

CATCH_TEST_CASE("horizon: times that are not compared, seldom read, or under a falling rate") {
  GoodResults results;
  results.each_run = [](Run& run) { run.config["train"]["event_every"] = 25; };
  results.write();
  // The earliest median is 207.5: 10 steps are 5 % of it.
  CATCH_CHECK_THAT(results.against("horizon"),
                   Contains("steps_to_found is read every 25 steps, 12 % of the earliest median"));
  results.each_run = [](Run& run) { run.config["train"].erase("event_every"); };
  results.write();
  CATCH_CHECK_THAT(results.against("horizon"),
                   Contains("cannot be checked: how often steps_to_found is looked for"));
  results.each_run = [](Run& run) { run.config["train"]["schedule"] = "cosine"; };
  results.write();
  CATCH_CHECK_THAT(results.against("horizon"), Contains("a rate that falls to the horizon"));

  GoodResults dropped;
  dropped.contrast = [](report::Study& study) {
    study.report.tables[0].compare = {"needle_accuracy"};
  };
  dropped.write();
  CATCH_CHECK(dropped.against("horizon") == "");  // all got there: nothing is lost
  dropped.set_cell("table.csv", "censored_steps_to_found", 0, "2");
  CATCH_CHECK_THAT(dropped.against("horizon"),
                   Contains("table.paired.csv: steps_to_found is not compared, as 2 of 64 runs"));
}

CATCH_TEST_CASE("a file that is JSON and no report stops no rule") {
  const GoodResults results;
  results.edit("figures/learning.vl.json", [](Json& json) {
    json["columns"] = "two";
    json["facet"] = 7;
    json["layer"] = Json::array({7, Json{{"mark", 1}, {"encoding", {{"x", {{"type", 2}}}}}}});
    json["data"]["values"] = {1, 2};
  });
  results.edit("summary.json", [](Json& json) { json["answers"][0] = 7; });
  CATCH_CHECK_THAT(told(results.all()), Contains("labels the folder: cannot be checked"));
  for (const Json& run : {Json(7), Json{{"id", 7}}, Json{{"id", "a"}, {"status", "finished"}}}) {
    results.edit("runs.json", [&](Json& json) { json["runs"][1] = run; });
    CATCH_CHECK_THAT(results.against("recomputable"), Contains("it holds a run that is none"));
  }
  results.edit("runs.json", [](Json& json) { json = {{"runs", 7}}; });
  CATCH_CHECK_FALSE(results.against("recomputable").empty());
}

CATCH_TEST_CASE("recomputable: metrics, observations, and files that differ from them") {
  const GoodResults results;
  results.replace("table.md", "transformer", "transformers");
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("table.md: 1 files differ from what the folder gives today: table.md"));
  results.edit("summary.json", [](Json& json) { json.erase("figure"); });
  CATCH_CHECK_THAT(results.against("recomputable"), Contains("1 files differ"));
  results.edit("summary.json", [](Json& json) { json["answers"][0]["pairs"] = 7; });
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("2 files differ from what") && Contains("summary.json, table.md"));
  results.edit("summary.json", [](Json& json) { json["answers"][0]["pairs"] = 8; });
  const auto stale = results.folder("contrast") / "renamed.paired.csv";
  fs::copy(results.folder("contrast") / "table.csv", stale);  // no report writes it any more
  CATCH_CHECK_THAT(results.against("recomputable"), Contains("renamed.paired.csv"));
  fs::remove(stale);
  results.replace("figures/learning.csv", "0.98", "0.99");
  CATCH_CHECK_THAT(results.against("recomputable"), Contains("2 files differ"));
  const auto tuning = results.folder("contrast") / "tuning";
  fs::copy(results.folder("tuning"), tuning, fs::copy_options::recursive);
  write_file_atomically(tuning / "table.csv", read_file(tuning / "table.csv") + "more\n");
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("3 files differ") && Contains("tuning/table.csv"));
  results.edit("runs.json", [](Json& json) { json["runs"][3].erase("metrics"); });
  CATCH_CHECK_THAT(
      results.against("recomputable"),
      Contains("runs.json: 1 of 64 runs have no metrics there") && Contains("cannot be rebuilt"));
  write_file_atomically(results.folder("contrast") / "summary.json", "{");
  CATCH_CHECK_THAT(results.against("recomputable"), Contains("summary.json is damaged"));
  fs::remove(results.folder("contrast") / "summary.json");
  fs::remove(results.folder("tuning") / "runs.json");
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("summary.json is missing") && Contains("runs.json"));
}

}  // namespace
}  // namespace difflab::referee
