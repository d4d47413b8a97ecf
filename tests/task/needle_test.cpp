#include "task/needle/needle.h"

#include <ATen/ATen.h>

#include "support/catch.h"
#include "support/task_rows.h"
#include "task/base/task.h"
#include "task/needle/needle_recall.h"
#include "task/needle/vocabulary.h"

namespace difflab {
namespace {

using testing::Row, testing::row_of;

/// What a reader of the tokens can see, worked out without the task's code.
struct Sample {
  std::map<std::int64_t, std::int64_t> value_of;      // key -> value
  std::map<std::int64_t, std::int64_t> noise_before;  // key -> noise tokens before it
  std::vector<std::int64_t> order;                    // keys as they appear
  std::vector<std::int64_t> asked;
  std::int64_t noise = 0;
};

Sample read(const Row& input, const NeedleConfig& config) {
  const Vocabulary vocabulary(config);
  const auto is_noise = [&](std::int64_t t) { return t >= 2 && t < vocabulary.key(0); };
  Sample sample;
  CATCH_REQUIRE(input[0] == Vocabulary::kBegin);
  std::size_t t = 1;
  while (t < input.size() && input[t] != Vocabulary::kQuestion) {
    if (is_noise(input[t])) {
      ++sample.noise;
      ++t;
    } else {
      CATCH_REQUIRE(input[t] < vocabulary.value(0));       // a key …
      CATCH_REQUIRE(input[t + 1] >= vocabulary.value(0));  // … and its value
      CATCH_REQUIRE(input[t + 1] < vocabulary.size());
      CATCH_REQUIRE(sample.value_of.emplace(input[t], input[t + 1]).second);
      sample.noise_before[input[t]] = sample.noise;
      sample.order.push_back(input[t]);
      t += 2;
    }
  }
  for (; t < input.size(); t += 2) {
    CATCH_REQUIRE(input[t] == Vocabulary::kQuestion);
    sample.asked.push_back(input[t + 1]);
  }
  return sample;
}

CATCH_TEST_CASE("a needle sample holds N distinct needles and asks for R of them") {
  for (const auto& config :
       {NeedleConfig{}, NeedleConfig{.length = 128, .needles = 8, .queries = 2},
        NeedleConfig{.length = 31, .needles = 6, .queries = 6},
        NeedleConfig{.length = 6, .needles = 1, .queries = 1, .noise_tokens = 1, .keys = 1}}) {
    const auto task = config.build();
    const auto [inputs, targets, parts] = task->batch(3, Split::kTrain, 0, 200);
    CATCH_REQUIRE(inputs.sizes() == (at::IntArrayRef{200, config.length}));
    for (std::int64_t i = 0; i < 200; ++i) {
      const auto input = row_of(inputs, i), target = row_of(targets, i);
      const auto sample = read(input, config);
      CATCH_REQUIRE(static_cast<std::int64_t>(sample.value_of.size()) == config.needles);
      std::set<std::int64_t> values;
      for (const auto& [key, value] : sample.value_of) values.insert(value);
      CATCH_REQUIRE(static_cast<std::int64_t>(values.size()) == config.needles);
      CATCH_REQUIRE(static_cast<std::int64_t>(sample.asked.size()) == config.queries);
      CATCH_REQUIRE(std::set(sample.asked.begin(), sample.asked.end()).size() ==
                    sample.asked.size());
      std::int64_t answers = 0;
      for (std::size_t t = 0; t < input.size(); ++t) {
        if (target[t] == kIgnore) continue;
        ++answers;
        CATCH_REQUIRE(input[t - 1] == Vocabulary::kQuestion);
        CATCH_REQUIRE(target[t] == sample.value_of.at(input[t]));
      }
      CATCH_REQUIRE(answers == config.queries);
    }
  }
}

CATCH_TEST_CASE("of several pairs with one key the last one counts, wherever its needle lies") {
  for (const auto depth : {std::optional<double>(), std::optional(0.0), std::optional(40.0)}) {
    const NeedleConfig config{
        .length = 60, .needles = 3, .queries = 2, .depth = depth, .distractors = {.stale = 3}};
    const auto task = config.build();
    const auto batch = task->batch(2, Split::kTrain, 0, 200);
    for (std::int64_t row = 0; row < 200; ++row) {
      const auto input = row_of(batch.inputs, row), target = row_of(batch.targets, row);
      for (std::size_t t = 0; t < input.size(); ++t) {
        if (target[t] == kIgnore) continue;
        std::vector<std::int64_t> values;  // of this key, in their order
        for (std::size_t i = 0; i + 4 < input.size(); ++i) {
          if (input[i] == input[t]) values.push_back(input[i + 1]);
        }
        CATCH_REQUIRE(values.size() == 4);
        CATCH_REQUIRE(values.back() == target[t]);
        CATCH_REQUIRE(std::set(values.begin(), values.end()).size() == 4);
      }
    }
  }
}

CATCH_TEST_CASE(
    "near pairs have the asked key but for its last token, louder values any needle's") {
  const NeedleConfig config{
      .length = 60, .key_tokens = 3, .distractors = {.near = 2, .same_value = 2}};
  const Vocabulary vocabulary(config);
  const auto batch = config.build()->batch(2, Split::kTrain, 0, 400);
  int loud = 0;
  for (std::int64_t row = 0; row < 400; ++row) {
    const auto input = row_of(batch.inputs, row), target = row_of(batch.targets, row);
    const testing::Row asked(input.end() - 3, input.end());
    int near = 0, alike = 0, same_value = 0;
    for (std::size_t t = 3; t < input.size(); ++t) {
      if (!vocabulary.is_value(input[t])) continue;
      same_value += input[t] == target.back();
      if (input[t - 3] != asked[0] || input[t - 2] != asked[1]) continue;
      ++(input[t - 1] == asked[2] ? alike : near);
    }
    CATCH_REQUIRE(near == 2);
    CATCH_REQUIRE(alike == 1);
    CATCH_REQUIRE((same_value == 1 || same_value == 3));
    loud += same_value == 3;
  }
  CATCH_CHECK((loud > 60 && loud < 140));  // 100 ± 4.6 standard deviations of 8.7
}

CATCH_TEST_CASE("distractors that cannot be are refused by name") {
  using testing::Problems;
  CATCH_CHECK(Problems::of(NeedleConfig{.distractors = {.near = 1}}) ==
              "distractors.near is 1 with key_tokens 1; expected keys of at least two tokens, of "
              "which they share all but the last\n");
  CATCH_CHECK(Problems::of(NeedleConfig{.keys = 4, .key_tokens = 2, .distractors = {.near = 4}}) ==
              "distractors.near is 4; expected less than keys, 4\n");
  CATCH_CHECK(
      Problems::of(NeedleConfig{.keys = 5, .distractors = {.same_value = 2}}) ==
      "keys is 5; expected at least needles and distractors.same_value, 6, because keys are "
      "distinct\n");
  CATCH_CHECK(Problems::of(NeedleConfig{.values = 5, .distractors = {.stale = 2}}) ==
              "values is 5; expected at least needles, near and stale distractors, 6, because "
              "values are distinct\n");
  CATCH_CHECK(Problems::of(NeedleConfig{.length = 20, .distractors = {.stale = 2}}) ==
              "length is 20, too short for 4 needles, 2 distractors and 1 queries; the smallest "
              "that fits is 21\n");
}

CATCH_TEST_CASE("depth is the share of noise tokens before the asked needle") {
  for (const double depth : {0.0, 25.0, 50.0, 77.0, 100.0}) {
    const NeedleConfig config{.length = 100, .needles = 5, .queries = 2, .depth = depth};
    const auto batch = config.build()->batch(1, Split::kTest, 4, 100);
    for (std::int64_t i = 0; i < 100; ++i) {
      const auto sample = read(row_of(batch.inputs, i), config);
      CATCH_REQUIRE(sample.noise == 100 - 1 - 10 - 4);
      CATCH_CHECK(sample.noise_before.at(sample.asked.front()) ==
                  std::llround(depth / 100 * static_cast<double>(sample.noise)));
    }
  }
}

CATCH_TEST_CASE("neither the place nor the order of the needles gives the answer away") {
  const NeedleConfig config{.length = 64, .needles = 4};
  const auto batch = config.build()->batch(1, Split::kTrain, 0, 4'000);
  std::vector<int> rank(4), tercile(3);
  for (std::int64_t i = 0; i < 4'000; ++i) {
    const auto sample = read(row_of(batch.inputs, i), config);
    const auto at = std::find(sample.order.begin(), sample.order.end(), sample.asked[0]);
    ++rank[static_cast<std::size_t>(at - sample.order.begin())];
    ++tercile[static_cast<std::size_t>(
        std::min<std::int64_t>(2, 3 * sample.noise_before.at(sample.asked[0]) / sample.noise))];
  }
  // 1,000 ± 5 standard deviations of a fair draw, √(4000·¼·¾) = 27
  for (const int count : rank) CATCH_CHECK(std::abs(count - 1'000) < 137);
  for (const int count : tercile) CATCH_CHECK(std::abs(count - 1'333) < 150);
}

CATCH_TEST_CASE("a recall sequence repeats its prefix and is scored only where it repeats") {
  const RecallConfig config{.length = 32, .tokens = 1'000};
  const auto [inputs, targets, parts] = config.build()->batch(0, Split::kTrain, 0, 300);
  std::set<std::int64_t> periods;
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto input = row_of(inputs, i), target = row_of(targets, i);
    std::int64_t period = 0;  // of 1,000 symbols, the first to come back marks the period
    for (std::size_t t = 2; t < input.size() && period == 0; ++t) {
      if (input[t] == input[1] && target[t - 1] != kIgnore)
        period = static_cast<std::int64_t>(t) - 1;
    }
    periods.insert(period);
    CATCH_REQUIRE((period >= 8 && period <= 16));
    for (std::int64_t t = 0; t < 32; ++t) {
      const auto at = static_cast<std::size_t>(t);
      if (t < period) {
        CATCH_REQUIRE(target[at] == kIgnore);
      } else {
        CATCH_REQUIRE(target[at] == input[static_cast<std::size_t>(t + 1 - period)]);
        if (t + 1 < 32) CATCH_REQUIRE(target[at] == input[at + 1]);
      }
    }
  }
  CATCH_CHECK(periods.size() == 9);  // 8 … 16, all of them drawn
}

CATCH_TEST_CASE("a mixture is the parts it is made of") {
  const NeedleRecallConfig config{.recall_share = 0.25};
  const auto task = config.build();
  const auto batch = task->batch(2, Split::kTrain, 3, 32);
  const auto needles = config.needle.build()->batch(2, Split::kTrain, 3, 24);
  CATCH_CHECK(batch.inputs.narrow(0, 0, 24).equal(needles.inputs));
  CATCH_CHECK(batch.targets.narrow(0, 0, 24).equal(needles.targets));
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 2);
  CATCH_CHECK(
      batch.inputs.narrow(0, 24, 8).equal(parts[1].task->batch(2, Split::kTrain, 3, 8).inputs));
}

}  // namespace
}  // namespace difflab
