// The rule that a contrast holds under a second convention and weighting, and where it asks.
#include "referee/good_results.h"
#include "support/catch.h"

namespace difflab::referee {
namespace {

CATCH_TEST_CASE("robustness: contrasts at one scale of the embeddings, one weighting") {
  GoodResults results;
  results.contrast = [](report::Study& study) {
    std::erase_if(study.runs, [](const auto& run) { return run.axes[1].second == "1"; });
    study.report.claims.resize(2);
  };
  results.write();
  CATCH_CHECK_THAT(results.against("robustness"),
                   Contains(" at a second scale of the embeddings "
                            "(model.embedding_std is 0.125 everywhere)") &&
                       !Contains("weighting"));

  // Conventions with names vary it by other keys.
  GoodResults named;
  named.each_run = [](GoodResults::Run& run) {
    const char* drawn = run.embedding_std == "1" ? "unit" : "inverse_sqrt_width";
    run.config["model"] = {{"name", run.model}, {"init", {{"embedding", drawn}}}};
  };
  named.write();
  CATCH_CHECK(named.against("robustness") == "");

  // What counts is that both variants of the first claim were tried so, not that some run was.
  GoodResults half;
  half.contrast = [](report::Study& study) {
    const auto first = study.report.claims.front().variant;
    std::erase_if(study.runs, [&](const auto& run) {
      return run.axes[1].second == "1" && run.axes[0].second == first;
    });
    study.report.claims.resize(2);
  };
  half.write();
  CATCH_CHECK_THAT(half.against("robustness"),
                   Contains("no reference compares") && Contains("second scale of the embeddings"));
}

CATCH_TEST_CASE("robustness: a task with one kind of question has nothing to weigh") {
  for (const bool has_repetition : {false, true}) {
    GoodResults results;
    results.each_run = [&](GoodResults::Run& run) {
      run.metrics["needle_loss"] = 1;
      run.metrics["needle_accuracy_chance"] = 0.5;
      run.metrics["ar_hit_loss"] = 1;  // tokens of the same question
      run.metrics["ar_hit_accuracy"] = 0.5;
      if (!has_repetition) return;
      run.metrics["recall_loss"] = 1;
      run.metrics["recall_accuracy_chance"] = 0.5;
    };
    results.contrast = [](report::Study& study) {
      std::erase_if(study.runs, [](const auto& run) { return run.axes[2].second != "target"; });
      study.report.claims.resize(1);
    };
    results.write();
    const auto against = results.against("robustness");
    CATCH_INFO(against);
    CATCH_CHECK((against.find("second weighting of the loss") != against.npos) == has_repetition);
  }
}

}  // namespace
}  // namespace difflab::referee
