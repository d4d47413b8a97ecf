#include "task/association/context_qa.h"

#include "support/catch.h"
#include "support/task_rows.h"

namespace difflab {
namespace {

using testing::row_of, testing::words_of;
using Words = std::vector<std::string>;
using Pair = std::pair<std::string, std::string>;

/// Reads "e a v" at t.
struct Reading {
  std::map<Pair, std::string> value_of;
  std::set<std::string> values;

  void take(const Words& words, std::size_t t) {
    CATCH_REQUIRE((words[t][0] == 'e' && words[t + 1][0] == 'a' && words[t + 2][0] == 'v'));
    CATCH_REQUIRE(value_of.emplace(Pair(words[t], words[t + 1]), words[t + 2]).second);
    CATCH_REQUIRE(values.insert(words[t + 2]).second);
  }
};

CATCH_TEST_CASE("a question's answer is the value of its fact, or unknown if there is none") {
  for (const auto& config :
       {ContextQaConfig{.summary_share = 0},
        ContextQaConfig{
            .facts = 5, .questions = 1, .distractors = 0, .unanswerable = 0.5, .summary_share = 0},
        ContextQaConfig{.facts = 12,
        .questions = 4,
        .distractors = 1,
        .unanswerable = 0,
        .summary_share = 0}}) {
    const auto task = config.build();
    const std::int64_t samples = 400;
    const auto [inputs, targets, parts] = task->batch(1, Split::kTrain, 0, samples);
    std::int64_t unknown = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      const Words input = words_of(*task, row_of(inputs, i));
      const Words target = words_of(*task, row_of(targets, i));
      Reading facts;
      const auto F = static_cast<std::size_t>(config.facts);
      for (std::size_t f = 0; f < F; ++f) facts.take(input, 1 + 3 * f);
      std::set<std::string> entities, attributes;
      std::int64_t answered = 0;
      for (std::size_t t = 1 + 3 * F; t < input.size(); t += 3) {
        CATCH_REQUIRE(input[t] == "?");
        CATCH_REQUIRE(entities.insert(input[t + 1]).second);
        CATCH_REQUIRE(attributes.insert(input[t + 2]).second);
        const auto fact = facts.value_of.find({input[t + 1], input[t + 2]});
        const bool is_there = fact != facts.value_of.end();
        CATCH_REQUIRE(target[t + 2] == (is_there ? fact->second : "unknown"));
        is_there ? ++answered : ++unknown;
      }
      CATCH_REQUIRE(static_cast<std::int64_t>(entities.size()) == config.questions);
      CATCH_REQUIRE(std::count(target.begin(), target.end(), ".") ==
                    static_cast<std::int64_t>(target.size()) - config.questions);
      std::int64_t near = 0;
      for (const auto& [pair, value] : facts.value_of) {
        near += entities.contains(pair.first) != attributes.contains(pair.second) ? 1 : 0;
      }
      CATCH_REQUIRE(
          near == std::llround(config.distractors * static_cast<double>(config.facts - answered)));
    }
    const double n = static_cast<double>(samples * config.questions), p = config.unanswerable;
    CATCH_CHECK(std::abs(static_cast<double>(unknown) - n * p) <= 5 * std::sqrt(n * p * (1 - p)));
  }
}

CATCH_TEST_CASE("questions and summaries in one batch are filled up behind their ends") {
  const ContextQaConfig config{.distractors = 0, .summary_share = 0.25};
  const auto task = config.build();
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 2);
  const auto batch = task->batch(2, Split::kValid, 3, 16);
  const auto questions = parts[0].task->batch(2, Split::kValid, 3, 12);
  const auto summaries = parts[1].task->batch(2, Split::kValid, 3, 4);
  const auto length = questions.inputs.size(1);
  CATCH_REQUIRE(length < task->sequence_length());
  CATCH_CHECK(batch.inputs.narrow(0, 0, 12).narrow(1, 0, length).equal(questions.inputs));
  CATCH_CHECK(batch.targets.narrow(0, 0, 12).narrow(1, 0, length).equal(questions.targets));
  CATCH_CHECK(batch.targets.narrow(0, 0, 12).slice(1, length).eq(kIgnore).all().item<bool>());
  CATCH_CHECK(batch.inputs.narrow(0, 12, 4).equal(summaries.inputs));
}

}  // namespace
}  // namespace difflab
