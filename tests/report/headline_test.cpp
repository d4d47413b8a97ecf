// The first sentence of a report: of which rows one is called the best.
#include "report/example_study.h"
#include "report/table/table.h"
#include "support/catch.h"
#include "support/declared.h"

namespace difflab::report {
namespace {

/// What is said of the best of `column` by model, or by these axes.
std::string said_of(const StudyBuilder& builder, const std::string& column,
                    std::vector<std::string> rows = {"model"}) {
  TableConfig config;
  config.rows.names = std::move(rows);
  config.columns = {column};
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  return headline(build_table(config, builder.study, frame, labels), frame, column, labels);
}

CATCH_TEST_CASE("a metric without a better direction has no best") {
  const Declared declared({share_metric("accuracy_*_bits", Better::kHigher)});
  StudyBuilder builder;
  for (const char* model : {"transformer", "diff"}) {
    builder.finished(model, 0, {{"logit_top1", 31.5}, {"accuracy_4_bits", .5}});
  }
  CATCH_CHECK(said_of(builder, "logit_top1").empty());
  CATCH_CHECK_THAT(said_of(builder, "accuracy_4_bits"), Contains("Best of 2 by"));
}

CATCH_TEST_CASE("what diverged speaks against the best, and pairs without it are no answer") {
  StudyBuilder builder;
  for (int seed = 0; seed < 16; ++seed) {
    builder.finished("transformer", seed, {{"test_loss", 1.5 + 0.01 * seed}});
    if (seed % 2 == 0) {
      builder.finished("diff", seed, {}, {{"status", "diverged"}, {"diverged_at_step", 5}});
    } else {
      builder.finished("diff", seed, {{"test_loss", 1.1 + 0.011 * seed}});
    }
  }
  CATCH_CHECK_THAT(said_of(builder, "test_loss"),
                   Catch::EndsWith(", 8 paired seeds beside 8 in which a run diverged: the others "
                                   "are no answer for all."));
}

CATCH_TEST_CASE("a diverged run is one that has not learned, in the order of the best, too") {
  StudyBuilder builder;
  builder.study.report.learned.metric = "valid_accuracy";
  const auto run = [&](const char* model, int seed, double last) {
    builder.finished(model, seed, {{"needle_accuracy", last}});
    write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl",
                          Json{{"step", 10}, {"valid_accuracy", last}}.dump() + "\n" +
                              Json{{"step", 20}, {"valid_accuracy", last}}.dump() + "\n");
  };
  for (int seed = 0; seed < 4; ++seed) {
    if (seed < 2) {
      run("transformer", seed, 0.99);
    } else {
      builder.finished("transformer", seed, {}, {{"status", "diverged"}, {"diverged_at_step", 5}});
    }
    run("diff", seed, seed == 0 ? 0.1 : 0.98);
  }
  const auto said = said_of(builder, "needle_accuracy");
  CATCH_CHECK_THAT(said, Contains("Best of 2 by needle accuracy: diff with 3/4 learned"));
}

CATCH_TEST_CASE(
    "a variant whose interval holds zero is not told from the best, however small its p") {
  StudyBuilder builder;
  for (int seed = 0; seed < 9; ++seed) {  // eight hundredths and one whole: p = .0039
    builder.finished("best", seed, {{"test_loss", 1.0}});
    builder.finished("other", seed, {{"test_loss", seed == 8 ? 2.0 : 1.01}});
  }
  CATCH_CHECK_THAT(said_of(builder, "test_loss"),
                   Contains("The seeds do not separate it from: other"));
}

CATCH_TEST_CASE("of rows with several tasks none is the best") {
  StudyBuilder builder;
  for (const char* pairs : {"4", "16"}) {
    builder.finished("diff", pairs[0] - '0', {{"test_loss", 0.5}});
    builder.study.runs.back().axes = {{"task.pairs", pairs}, {"model", "diff"}, {"seed", "0"}};
  }
  const auto said = [&] { return said_of(builder, "test_loss", {"model", "task.pairs"}); };
  CATCH_CHECK(said().empty());
  builder.study.runs.back().axes[0].second = "4";
  builder.study.runs.back().axes[2].second = "1";
  CATCH_CHECK_THAT(said(), Contains("Best of 1 by test loss: diff"));
}

CATCH_TEST_CASE("the headline names the variants that enough seeds do not tell from the best") {
  StudyBuilder builder;
  for (int seed = 0; seed < 9; ++seed) {
    const double wobble = 0.01 * (seed % 3), sign = seed % 2 == 0 ? 1 : -1;
    builder.finished("transformer", seed, {{"needle_accuracy", 0.3 + wobble}});
    builder.finished("best", seed, {{"needle_accuracy", 0.9}});
    builder.finished("near", seed, {{"needle_accuracy", 0.89 + 0.01 * sign}});
    builder.finished("far", seed, {{"needle_accuracy", 0.5 + wobble}});
  }
  CATCH_CHECK(said_of(builder, "needle_accuracy") ==
              "Best of 4 by needle accuracy: best with 0.900 [0.900, 0.900] (n = 9). The seeds do "
              "not separate it from: near. Against transformer: +0.590 [+0.583, +0.597], 9 paired "
              "seeds, p = 0.012 (Holm, 3 comparisons).");
}

}  // namespace
}  // namespace difflab::report
