// In-context shots asked of answerers whose accuracy and margin are known by hand.
#include "evaluate/retrieval/in_context_shots.h"

#include "evaluate/base/answerer.h"
#include "support/catch.h"
#include "support/parrot.h"
#include "support/problems.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const InContextConfig kShotsTask{.classes = 2, .features = 2, .symbols = 8, .labels = 4, .flip = 0};
const InContextShotsConfig kShotsAsked{
    .shots = {2, 7}, .episodes = 20, .queries = 15, .orders = 10};

/// Answers every sequence with read(tokens), a program that sees what the model sees.
template <class Read>
Answerer shots_reader(Read read) {
  return {.answer =
              [read](const Batch& batch) {
                auto said = at::full_like(batch.targets, kIgnore);
                for (std::int64_t row = 0; row < batch.inputs.size(0); ++row) {
                  const auto* begin = batch.inputs[row].const_data_ptr<std::int64_t>();
                  said[row][-1] =
                      read(std::vector<std::int64_t>(begin, begin + batch.inputs.size(1)));
                }
                return said;
              },
          .go_on = {}};
}

// The label behind the example that looks like the last one: B (f f l)* f f.
std::int64_t copy_label(const std::vector<std::int64_t>& tokens) {
  const auto T = tokens.size();
  for (std::size_t t = 1; t + 4 < T; t += 3) {
    if (tokens[t] == tokens[T - 2] && tokens[t + 1] == tokens[T - 1]) return tokens[t + 2];
  }
  return kIgnore;
}

CATCH_TEST_CASE("a reader that copies the label of the same example is always right") {
  const auto result = kShotsAsked.ask(shots_reader(copy_label), kShotsTask, 3);
  CATCH_CHECK(result.metrics["shots_accuracy"] == 1.0);
  CATCH_CHECK(result.metrics["shots_accuracy_chance"] == 0.5);
  CATCH_CHECK(result.metrics["random_order_margin"] == 0.0);
  CATCH_CHECK(result.metrics["alternating_order_margin"] == 0.0);
  const auto& cells = result.details["cells"];
  CATCH_REQUIRE(cells.size() == 4);
  for (const auto& cell : cells) {
    CATCH_CHECK(cell["n"] == 20 * 15);
    CATCH_CHECK(cell["accuracy"] == 1.0);
    CATCH_CHECK(cell["accuracy_low"].get<double>() == Approx(300 / (300 + 1.959964 * 1.959964)));
  }
  CATCH_CHECK(cells[0]["shots"] == 2);
  CATCH_CHECK(cells[3]["shots"] == 7);
  CATCH_CHECK(cells[2]["order"] == "random");
  CATCH_CHECK(cells[3]["order"] == "alternating");
}

CATCH_TEST_CASE(
    "a reader that repeats the last label is as good as chance and lives by the order") {
  // Alternating with 2 shots of 2 classes: the last label is either class, each in some of 10
  // orders. The share a of queries of one class gives accuracies a and 1 − a: best − worst =
  // |2a − 1|, whose mean over episodes of 15 queries is that of a binomial's distance from its
  // mean.
  const auto last_label = [](const std::vector<std::int64_t>& tokens) {
    return tokens[tokens.size() - 3];
  };
  const auto result = kShotsAsked.ask(shots_reader(last_label), kShotsTask, 3);
  double expected = 0, chosen = 1;  // 15 choose k
  for (int k = 0; k <= 15; ++k) {
    expected += chosen / std::pow(2.0, 15) * std::abs(2.0 * k / 15 - 1);
    chosen = chosen * (15 - k) / (k + 1);
  }
  for (const auto& cell : result.details["cells"]) {
    if (cell["shots"] != 2) continue;
    // 5 standard deviations: of 300 questions, and of 20 margins with sd below 0.2
    CATCH_CHECK(std::abs(cell["accuracy"].get<double>() - 0.5) < 5 * 0.5 / std::sqrt(300));
    CATCH_CHECK(std::abs(cell["margin"].get<double>() - expected) < 5 * 0.2 / std::sqrt(20));
    CATCH_CHECK(cell["best"].get<double>() - cell["worst"].get<double>() ==
                Approx(cell["margin"].get<double>()));
    CATCH_CHECK(cell["margin"] > 0.05);
  }
}

CATCH_TEST_CASE("a model that ignores the context has no margin, whatever the order") {
  const TaskConfig task_config = kShotsTask;
  const auto task = build_task(task_config);
  const auto label = kShotsTask.vocabulary().token(InContextConfig::kLabel, 0);
  auto model = testing::parrot(label, task->vocab_size(), 2.0);
  const auto result = kShotsAsked.run({model, task_config, *task, 3});
  CATCH_CHECK(result.metrics["random_order_margin"] == 0.0);
  // One label in four belongs to an episode's class with 2 of 4, and then to half of its queries.
  CATCH_CHECK(std::abs(result.metrics["shots_accuracy"].get<double>() - 0.25) <
              5 * 0.27 / std::sqrt(20));
  CATCH_CHECK(result.metrics["shots_accuracy"] > 0.0);
}

CATCH_TEST_CASE("shots that leave a class out, or another task, are refused") {
  const auto problems_of = [](const InContextShotsConfig& asked, const TaskConfig& task) {
    return testing::Problems::found([&](auto& problems) { asked.validate_task(task, problems); });
  };
  CATCH_CHECK(problems_of({.shots = {1, 4}}, kShotsTask) ==
              "shots has 1; expected at least the task's classes, 2, so that every class is "
              "shown\n");
  CATCH_CHECK(problems_of(kShotsAsked, NeedleConfig{}) ==
              "kind is in_context_shots; expected a task of kind in_context\n");
  CATCH_CHECK(kShotsAsked.longest(kShotsTask) == 1 + 7 * 3 + 2);
}

}  // namespace
}  // namespace difflab
