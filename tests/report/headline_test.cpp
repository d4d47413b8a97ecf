// The first sentence of a report: of which rows one is called the best.
#include "report/example_study.h"
#include "report/table/table.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

CATCH_TEST_CASE("a metric without a better direction has no best") {
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  for (const char* model : {"transformer", "diff"}) {
    builder.finished(model, 0, {{"logit_top1", 31.5}, {"accuracy_4_bits", .5}});
  }
  TableConfig config;
  config.rows.names = {"model"};
  config.columns = {"logit_top1", "accuracy_4_bits"};
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  const Table table = build_table(config, builder.study, frame, labels);
  CATCH_CHECK(headline(table, frame, "logit_top1", labels).empty());
  CATCH_CHECK_THAT(headline(table, frame, "accuracy_4_bits", labels),
                   Catch::Contains("Best of 2 by"));
}

CATCH_TEST_CASE("of rows with several tasks none is the best") {
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  for (const char* pairs : {"4", "16"}) {
    builder.finished("diff", pairs[0] - '0', {{"test_loss", 0.5}});
    builder.study.runs.back().axes = {{"task.pairs", pairs}, {"model", "diff"}, {"seed", "0"}};
  }
  TableConfig config;
  config.rows.names = {"model", "task.pairs"};
  config.columns = {"test_loss"};
  const Labels labels(builder.study.report.labels);
  const auto said = [&] {
    const Frame frame = frame_of(builder.study);
    return headline(build_table(config, builder.study, frame, labels), frame, "test_loss", labels);
  };
  CATCH_CHECK(said().empty());
  builder.study.runs.back().axes[0].second = "4";
  builder.study.runs.back().axes[2].second = "1";
  CATCH_CHECK_THAT(said(), Catch::Contains("Best of 1 by test loss: diff"));
}

}  // namespace
}  // namespace difflab::report
