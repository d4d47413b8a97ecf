// Hallucination measured on answerers whose answers are known by hand.
#include "evaluate/answers/hallucination.h"

#include "evaluate/base/answerer.h"
#include "support/catch.h"
#include "support/parrot.h"
#include "support/task_rows.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const ContextQaConfig kFactsTask{.facts = 6, .questions = 2, .unanswerable = 0.3};
const HallucinationConfig kFactsAsked{.distractors = {0, 0.5}, .samples = 100};
const Symbols kWords = kFactsTask.vocabulary();

using Range = ContextQaConfig::Range;
using testing::row_of;

/// One who reads the facts and answers with say(entity, attribute, facts), and repeats those facts
/// whose mark tell(is_marked) likes, until enough is written.
template <class Say, class Tell>
Answerer facts_reader(Say say, Tell tell) {
  const auto answer = [say](const Batch& batch) {
    auto said = at::full_like(batch.targets, kIgnore);
    for (std::int64_t row = 0; row < batch.inputs.size(0); ++row) {
      const auto tokens = row_of(batch.inputs, row);
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> facts;
      for (std::size_t t = 1; t + 2 < tokens.size(); t += 3) {
        const bool is_question = !kWords.holds(Range::kEntity, tokens[t]);
        if (is_question) {
          said[row][static_cast<std::int64_t>(t + 2)] = say(tokens[t + 1], tokens[t + 2], facts);
        } else {
          facts[{tokens[t], tokens[t + 1]}] = tokens[t + 2];
        }
      }
    }
    return said;
  };
  const auto go_on = [tell](const at::Tensor& prompts, std::int64_t tokens) {
    auto written = at::zeros({prompts.size(0), tokens}, at::kLong);
    for (std::int64_t row = 0; row < prompts.size(0); ++row) {
      const auto read = row_of(prompts, row);
      std::int64_t at = 0;
      for (std::size_t t = 1; t + 3 < read.size() && at < tokens; t += 3) {
        const bool is_marked = read[t] == kWords.token(Range::kMark);
        if (is_marked) ++t;
        if (!tell(is_marked)) continue;
        for (std::size_t i = 0; i < 3; ++i) written[row][at++] = read[t + i];
      }
    }
    return written;
  };
  return {answer, go_on};
}

constexpr auto kMarkedOnes = [](bool is_marked) { return is_marked; };

const Json& cell(const EvaluationResult& result, const char* job, double distractors) {
  for (const auto& one : result.details["cells"]) {
    if (one["job"] == job && one["distractors"] == distractors) return one;
  }
  throw std::out_of_range("no such cell");
}

CATCH_TEST_CASE("what is invented where nothing has an answer is not said where all has one") {
  auto task = kFactsTask;
  task.unanswerable = 0;
  const auto result = kFactsAsked.ask(
      facts_reader([](auto, auto, const auto&) { return kWords.token(Range::kUnknown); },
                   kMarkedOnes),
      task, 4);
  CATCH_CHECK(result.metrics["unanswerable_invented_share"].is_null());
  CATCH_CHECK(result.metrics["answers_abstained_share"] == 1.0);
}

CATCH_TEST_CASE("a reader that copies invents nothing") {
  const auto result = kFactsAsked.ask(
      facts_reader(
          [](auto entity, auto attribute, const auto& facts) {
            const auto fact = facts.find({entity, attribute});
            return fact != facts.end() ? fact->second : kWords.token(Range::kUnknown);
          },
          kMarkedOnes),
      kFactsTask, 4);
  CATCH_CHECK(result.metrics["answers_accuracy"] == 1.0);
  CATCH_CHECK(result.metrics["answers_accuracy_chance"] == 0.3);
  CATCH_CHECK(result.metrics["answers_invented_share"] == 0.0);
  CATCH_CHECK(result.metrics["unanswerable_invented_share"] == 0.0);
  CATCH_CHECK(result.metrics["facts_accuracy"] == 1.0);
  CATCH_CHECK(result.metrics["facts_invented_share"] == 0.0);
  for (const double distractors : kFactsAsked.distractors) {
    const Json& questions = cell(result, "question", distractors);
    CATCH_CHECK(questions["n"] == 200);
    // Three answers in ten are rightly "unknown"; 5 standard deviations of 200 draws.
    const double abstained = questions["abstained"];
    CATCH_CHECK(std::abs(abstained - 0.3) < 5 * std::sqrt(0.3 * 0.7 / 200));
    CATCH_CHECK(questions["supported"].get<double>() == Approx(1 - abstained));
    CATCH_CHECK(questions["unanswerable"].get<double>() == Approx(200 * abstained));
    CATCH_CHECK(cell(result, "summary", distractors)["n"] == (distractors == 0 ? 600 : 300));
  }
}

CATCH_TEST_CASE("a reader that names the value of another fact misreads") {
  const auto result = kFactsAsked.ask(facts_reader(
                                          [](auto entity, auto attribute, const auto& facts) {
                                            for (const auto& [pair, value] : facts) {
                                              if (pair != std::pair(entity, attribute))
                                                return value;
                                            }
                                            return kIgnore;
                                          },
                                          [](bool is_marked) { return !is_marked; }),
                                      kFactsTask, 4);
  const Json& questions = cell(result, "question", 0.5);
  CATCH_CHECK(questions["supported"] == 0.0);
  CATCH_CHECK(questions["invented"] == 1.0);
  CATCH_CHECK(questions["misread"] == 1.0);
  CATCH_CHECK(questions["unanswerable_invented"] == 1.0);
  // The facts that nobody asked for are in the context: not supported, not invented.
  CATCH_CHECK(cell(result, "summary", 0.5)["supported"] == 0.0);
  CATCH_CHECK(cell(result, "summary", 0.5)["invented"] == 0.0);
}

CATCH_TEST_CASE("a reader that always abstains is right when there is no answer") {
  const auto result = kFactsAsked.ask(
      facts_reader([](auto, auto, const auto&) { return kWords.token(Range::kUnknown); },
                   kMarkedOnes),
      kFactsTask, 4);
  const Json& questions = cell(result, "question", 0.5);
  CATCH_CHECK(questions["abstained"] == 1.0);
  CATCH_CHECK(questions["supported"] == 0.0);
  CATCH_CHECK(questions["accuracy"].get<double>() ==
              Approx(questions["unanswerable"].get<double>() / 200));
}

CATCH_TEST_CASE("a model that ignores the context invents") {
  const TaskConfig task_config = kFactsTask;
  const auto task = build_task(task_config);
  const auto value = kWords.token(Range::kValue, 5);
  auto model = testing::parrot(value, task->vocab_size(), 2.0);
  const auto result = kFactsAsked.run({model, task_config, *task, 4});
  for (const double distractors : kFactsAsked.distractors) {
    ContextQaConfig config = kFactsTask;
    config.distractors = distractors;
    config.summary_share = 0;
    const auto batch = config.build()->batch(4, Split::kTest, 0, 100);
    const auto hits = batch.targets.eq(value).sum().item<double>();
    CATCH_REQUIRE(hits > 0);
    const Json& questions = cell(result, "question", distractors);
    CATCH_CHECK(questions["supported"].get<double>() == Approx(hits / 200));
    CATCH_CHECK(questions["invented"].get<double>() == Approx(1 - hits / 200));
    CATCH_CHECK(questions["abstained"] == 0.0);
    CATCH_CHECK(questions["misread"] < questions["invented"]);
    // "v5 v5 v5" is no fact.
    CATCH_CHECK(cell(result, "summary", distractors)["invented"] == 1.0);
    CATCH_CHECK(cell(result, "summary", distractors)["supported"] == 0.0);
  }
}

CATCH_TEST_CASE("saying one salient fact again and again supports it once") {
  const Answerer echo{
      .answer = facts_reader([](auto, auto, const auto&) { return kIgnore; }, kMarkedOnes).answer,
      .go_on = [](const at::Tensor& prompts, std::int64_t tokens) {
        auto written = at::zeros({prompts.size(0), tokens}, at::kLong);
        for (std::int64_t row = 0; row < prompts.size(0); ++row) {
          auto read = row_of(prompts, row);
          std::size_t t = 1;
          while (read[t] != kWords.token(Range::kMark)) t += 3;
          for (std::int64_t i = 0; i < tokens; ++i) {
            written[row][i] = read[t + 1 + static_cast<std::size_t>(i % 3)];
          }
        }
        return written;
      }};
  const auto result = kFactsAsked.ask(echo, kFactsTask, 4);
  CATCH_CHECK(cell(result, "summary", 0.0)["supported"].get<double>() == Approx(1.0 / 6));
  CATCH_CHECK(cell(result, "summary", 0.5)["supported"].get<double>() == Approx(1.0 / 3));
  CATCH_CHECK(cell(result, "summary", 0.5)["invented"] == 0.0);
}

}  // namespace
}  // namespace difflab
