// Each rule is silent on good references and finds the defect that is planted for it.
#include <set>

#include "referee/good_results.h"
#include "support/catch.h"

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
    CATCH_CHECK(statement.p == 0.03125);
    CATCH_REQUIRE(statement.interval);
    CATCH_CHECK(statement.interval->high < 0);
    CATCH_CHECK(statement.metric == "steps_to_found");
  }
  CATCH_CHECK(contrast.figures.size() == 1);
  CATCH_CHECK(contrast.comparisons.size() == 1);
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
  results.set_cell("claims.csv", "pairs", 0, "7");
  CATCH_CHECK_THAT(results.against("seeds"),
                   Contains(kClaim) && Contains("supported with 7 pairs; 8 are needed"));
  results.set_cell("claims.csv", "verdict", 0, "no verdict");
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
                   Contains("diff and transformer differ in seeds: 7 and 8"));
}

CATCH_TEST_CASE("verdicts: against interval, p, or the runs") {
  const auto against = [](const char* column, const char* text) {
    const GoodResults results;
    results.set_cell("claims.csv", column, 0, text);
    return results.against("verdicts");
  };
  CATCH_CHECK_THAT(against("verdict", "opposite"),
                   Contains("it says opposite with 8 pairs; the runs say supported with 8"));
  CATCH_CHECK_THAT(against("p", "0.31"), Contains("supported beside p = 0.310"));
  CATCH_CHECK_THAT(against("p", ""), Contains("cannot be checked: its adjusted p"));
  CATCH_CHECK_THAT(against("pairs", "5"), Contains("with 5 pairs; the runs say supported with 8"));
  CATCH_CHECK_THAT(against("high", "3"), Contains("supported beside an interval that contains 0"));
  CATCH_CHECK_THAT(against("low", ""), Contains("cannot be checked: it shows no interval"));
  const GoodResults results;
  fs::remove(results.folder("contrast") / "claims.csv");
  CATCH_CHECK_THAT(results.against("verdicts"), Contains("it has 0 of 4 claims"));
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
    for (std::size_t claim = 0; claim < 4; ++claim) {
      results.set_cell("claims.csv", "verdict", claim, "supported");
    }
    return results.against("regime");
  };
  CATCH_CHECK_THAT(judged(0.98), Contains(kClaim) && Contains("both lie above 0.97"));
  CATCH_CHECK(judged(0.95) == "");
  CATCH_CHECK(judged(0.966) == "");  // one of the two lies below
  CATCH_CHECK_THAT(judged(0.3), Contains("both lie below chance + 0.1 (0.350)"));
  results.set_cell("claims.csv", "verdict", 0, "uninformative");
  CATCH_CHECK_THAT(results.against("regime"), !Contains(kClaim));

  results.edit("runs.json", [](Json& json) {
    for (Json& run : json["runs"]) run["metrics"].erase("needle_accuracy_chance");
  });
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

CATCH_TEST_CASE("tuning: nobody tuned, small grids, picks at the edge") {
  const auto against = [](const std::function<void(std::optional<report::Tuned>&)>& change) {
    GoodResults results;
    results.contrast = [&](report::Study& study) { change(study.tuned); };
    results.write();
    return results.against("tuning");
  };
  const std::string nobody = "contrast runs.json: nothing tunes the rate of transformer, diff";
  CATCH_CHECK_THAT(against([](auto& tuned) { tuned.reset(); }), Contains(nobody));
  CATCH_CHECK_THAT(against([](auto& tuned) { tuned->key = "train.beta2"; }), Contains(nobody));
  CATCH_CHECK_THAT(against([](auto& tuned) {
                     tuned->grid = {1, 2, 3, 4};
                     tuned->seeds = {1};
                   }),
                   Contains("a grid of 4 rates; 5 are needed") &&
                       Contains("1 seeds a rate; 3 are needed") && !Contains("edge"));
  CATCH_CHECK_THAT(against([](auto& tuned) { tuned->variants[0].at_edge = true; }),
                   Contains("contrast observations.json: the best rate is at the edge of the grid "
                            "for transformer, 0.125, target (0.003)"));
  CATCH_CHECK(against([](auto& tuned) { tuned->variants[1].value.reset(); }) == "");
  CATCH_CHECK_THAT(
      against([](auto& tuned) { tuned->again = 7; }),
      Contains("contrast observations.json: 7 more seeds of the best two rates; 8 are"));
  CATCH_CHECK(against([](auto& tuned) { tuned->again = 8; }) == "");
}

CATCH_TEST_CASE("tuning: rates that are asked are at least five, with each arm's best inside") {
  const auto against = [](std::size_t rates, int first) {
    GoodResults results;
    results.contrast = [&](report::Study& study) {
      const std::vector<std::string> values = {"0.001", "0.002", "0.004", "0.008", "0.016"};
      study.tuned.reset();
      for (auto& run : study.runs) {
        const auto seed = static_cast<std::size_t>(std::stoi(run.axes.back().second) + first);
        run.axes.insert(run.axes.end() - 1, {"train.lr", values.at(seed % rates)});
      }
      study.report.tables.front().rows.names.push_back("train.lr");
      study.report.figures.clear();
      for (auto& claim : study.report.claims) {
        claim.where.entries.emplace_back("train.lr", values.front());
      }
    };
    results.write();
    return results.against("tuning");
  };
  CATCH_CHECK(against(5, 3) == "");
  CATCH_CHECK_THAT(against(5, 0), Contains("contrast runs.json: the best steps_to_found is at an "
                                           "end of the rates for transformer"));
  CATCH_CHECK_THAT(against(4, 3), Contains("an axis of 4 rates; 5 are needed"));
}

CATCH_TEST_CASE("opponents: DIFF beside fewer than four shapes of a Transformer") {
  const std::vector<std::pair<int, const char*>> shapes = {
      {4, "none"}, {4, "rms"}, {2, "none"}, {2, "rms"}};
  const std::vector<std::string> names = {"4 heads", "4 heads with a norm", "2 heads",
                                          "2 heads with a norm"};
  const auto against = [&](std::set<std::size_t> left_out, const char* kind = "diff_v1",
                           const char* withdrawn = "") {
    GoodResults results;
    results.contrast = [&](report::Study& study) {
      for (auto& claim : study.report.claims) claim.withdrawn = withdrawn;
    };
    std::vector<std::pair<int, const char*>> there;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (left_out.count(i) == 0) there.push_back(shapes[i]);
    }
    results.each_run = [&](Run& run) {
      const auto& shape = there[static_cast<std::size_t>(run.seed) % there.size()];
      run.config["model"]["attention"] =
          run.model == "diff"
              ? Json{{"kind", kind}, {"heads", 2}, {"head_norm", "rms"}}
              : Json{{"kind", "softmax"}, {"heads", shape.first}, {"head_norm", shape.second}};
    };
    results.write();
    return results.against("opponents");
  };
  CATCH_CHECK(against({}) == "");
  for (std::size_t i = 1; i < names.size(); ++i) {
    CATCH_CHECK_THAT(against({i}), Contains("no Transformer with " + names[i]));
  }
  CATCH_CHECK_THAT(against({1, 2, 3}), Contains(names[1] + ", none with " + names[2]));
  CATCH_CHECK_THAT(against({3}, "diff_v2"), Contains(names[3]));
  CATCH_CHECK(against({1, 2, 3}, "softmax") == "");  // no DIFF
  CATCH_CHECK(against({1, 2, 3}, "diff_v1", "Its opponents are narrow") == "");
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
                   Contains("cannot be checked: how often steps_to_found is checked is unknown"));
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
  results.edit("summary.json", [](Json& json) { json["answers"][0] = 7; });
  results.edit("figures/learning.vl.json", [](Json& json) { json = 7; });
  CATCH_CHECK_THAT(told(results.all()), Contains("figures/learning.vl.json, summary.json"));
  for (const Json& run : {Json(7), Json{{"id", 7}}, Json{{"id", "a"}, {"status", "finished"}}}) {
    results.edit("runs.json", [&](Json& json) { json["runs"][1] = run; });
    CATCH_CHECK_THAT(results.against("recomputable"),
                     Contains("it holds something that is not a run"));
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
  fs::remove_all(tuning);
  write_file_atomically(results.folder("contrast") / "summary.json", "{");
  CATCH_CHECK_THAT(results.against("recomputable"), Contains("summary.json is damaged"));
  fs::remove(results.folder("contrast") / "summary.json");
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("3 files differ") && Contains("summary.json"));
  results.edit("runs.json", [](Json& json) { json["runs"][3].erase("metrics"); });
  fs::remove(results.folder("tuning") / "runs.json");
  CATCH_CHECK_THAT(results.against("recomputable"),
                   Contains("runs.json: 1 of 64 runs have no metrics there") &&
                       Contains("cannot be rebuilt") &&
                       Contains("tuning the folder: holds no report: runs.json is missing"));
}

}  // namespace
}  // namespace difflab::referee
