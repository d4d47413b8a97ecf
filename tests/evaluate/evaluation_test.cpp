// Evaluations of models whose answers are known by hand.

#include "evaluate/evaluation_config.h"
#include "model/score.h"
#include "support/catch.h"
#include "support/parrot.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const NeedleConfig kNeedles{.length = 24, .needles = 4, .queries = 2};

using testing::parrot;

/// How often value 0 is an answer, and in how many samples it is every answer.
std::pair<std::int64_t, std::int64_t> count_value(const Batch& batch, std::int64_t token) {
  const auto hits = batch.targets.eq(token).sum(1);
  return {hits.sum().item<std::int64_t>(),
          hits.eq(batch.targets.ge(0).sum(1)).sum().item<std::int64_t>()};
}

CATCH_TEST_CASE("a score counts right answers, wholly right sequences and the cross-entropy") {
  const auto vocabulary = kNeedles.vocabulary();
  auto model = parrot(vocabulary.token(NeedleConfig::kValues), vocabulary.size(), 2.0);
  const auto batch = kNeedles.build()->batch(0, Split::kTest, 0, 300);
  const auto [hits, whole] = count_value(batch, vocabulary.token(NeedleConfig::kValues));
  CATCH_REQUIRE(hits > 0);
  const auto result = score(model, batch.inputs, batch.targets);
  CATCH_CHECK(result.sequences == 300);
  CATCH_CHECK(result.targets == 600);
  CATCH_CHECK(result.correct == hits);
  CATCH_CHECK(result.all_correct == whole);
  // One logit is 2, the other V − 1 are 0.
  const double log_sum = std::log(std::exp(2.0) + static_cast<double>(vocabulary.size() - 1));
  const double expected = log_sum - 2.0 * static_cast<double>(hits) / 600;
  CATCH_CHECK(result.loss() == Approx(expected).epsilon(1e-5));
  CATCH_CHECK(mean_loss(model, batch.inputs, batch.targets).item<double>() ==
              Approx(expected).epsilon(1e-5));
}

CATCH_TEST_CASE("the needle grid has one cell per possible combination, with n and its interval") {
  const auto vocabulary = kNeedles.vocabulary();
  auto model = parrot(vocabulary.token(NeedleConfig::kValues), vocabulary.size(), 2.0);
  const TaskConfig task_config = kNeedles;
  const auto task = build_task(task_config);
  const NeedleGridConfig grid{.needles = {1, 4},
                              .queries = {1, 2},
                              .lengths = {24, 40},
                              .depths = {0, 50, 100},
                              .samples = 40};
  const auto result = grid.run({model, task_config, *task, 5});
  const auto& cells = result.details["cells"];
  CATCH_REQUIRE(cells.size() == (1 + 2) * 2 * 3);  // R = 2 of N = 1 is left out
  double sum = 0;
  for (const auto& cell : cells) {
    NeedleConfig config = kNeedles;
    config.needles = cell["needles"];
    config.queries = cell["queries"];
    config.length = cell["length"];
    config.depth = cell["depth"].get<double>();
    // score_batches cuts the samples into batches of 4,096 tokens: here all 40 are the first.
    const auto batch = config.build()->batch(5, Split::kTest, 0, 40);
    const auto [hits, whole] = count_value(batch, vocabulary.token(NeedleConfig::kValues));
    CATCH_CHECK(cell["samples"] == 40);
    CATCH_CHECK(cell["n"] == 40 * config.queries);
    CATCH_CHECK(cell["correct"] == hits);
    CATCH_CHECK(cell["accuracy"].get<double>() ==
                Approx(static_cast<double>(hits) / static_cast<double>(40 * config.queries)));
    CATCH_CHECK(cell["all_correct"].get<double>() == Approx(static_cast<double>(whole) / 40));
    CATCH_CHECK(cell["accuracy_low"] <= cell["accuracy"]);
    CATCH_CHECK(cell["accuracy_high"] > cell["accuracy"]);
    sum += cell["accuracy"].get<double>();
  }
  double four_and_two = 0, of_40 = 0;
  for (const auto& cell : cells) {
    if (cell["needles"] == 4 && cell["queries"] == 2) {
      four_and_two += cell["all_correct"].get<double>() / 6;
    }
    if (cell["length"] == 40) of_40 += cell["accuracy"].get<double>() / 9;
  }
  CATCH_CHECK(result.metrics["all_correct_n4_r2"].get<double>() == Approx(four_and_two));
  CATCH_CHECK(result.metrics["accuracy_t40"].get<double>() == Approx(of_40));
  CATCH_CHECK(result.metrics["accuracy_n4_r1_chance"] == 0.25);
  CATCH_CHECK(result.metrics["accuracy_t40_chance"].get<double>() == Approx(0.5));  // 1, ¼ and ¼
  CATCH_CHECK(result.metrics["grid_accuracy"].get<double>() ==
              Approx(sum / static_cast<double>(cells.size())));
}

}  // namespace
}  // namespace difflab
