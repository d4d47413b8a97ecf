// Batches of several lengths.
#include <ATen/ATen.h>

#include <map>

#include "support/catch.h"
#include "support/task_rows.h"
#include "task/base/task.h"
#include "task/in_text/text_needle.h"
#include "task/needle/needle_recall.h"

namespace difflab {
namespace {

using testing::Problems;

const std::vector<std::int64_t> kLengths{32, 48, 64};

template <class Config>
const std::vector<std::int64_t>& lengths_of(const Config& config) {
  if constexpr (requires { config.needle; }) {
    return config.needle.lengths;
  } else {
    return config.lengths;
  }
}

CATCH_TEST_CASE("a batch of mixed lengths is a batch of the task of its length") {
  const auto check = [](const auto& config, const auto& of_length) {
    CATCH_INFO(config.kKind);
    const auto mixed = config.build();
    std::map<std::int64_t, int> drawn;
    for (std::int64_t index = 0; index < 60; ++index) {
      const auto batch = mixed->batch(3, Split::kTrain, index, 8);
      const auto length = batch.inputs.size(1);
      ++drawn[length];
      const auto alone = of_length(length).build()->batch(3, Split::kTrain, index, 8);
      CATCH_CHECK(batch.inputs.equal(alone.inputs));
      CATCH_CHECK(batch.targets.equal(alone.targets));
    }
    int others = 0;
    for (std::int64_t index = 0; index < 60; ++index) {
      others += mixed->batch(3, Split::kValid, index, 1).inputs.size(1) !=
                mixed->batch(3, Split::kTrain, index, 1).inputs.size(1);
    }
    CATCH_CHECK(others > 10);  // of 60, by chance 30 to 40: each split draws its own lengths
    // 20 of each are expected, with a standard deviation of 3.7.
    CATCH_CHECK(drawn.size() == lengths_of(config).size());
    for (const auto& [length, count] : drawn) CATCH_CHECK((count > 5 && count < 35));
  };
  const NeedleConfig needle{.length = 64, .lengths = kLengths};
  check(needle, [&](std::int64_t T) { return needle.of_length(T); });
  const NeedleRecallConfig both{.needle = needle};
  check(both, [&](std::int64_t T) { return NeedleRecallConfig{.needle = needle.of_length(T)}; });
  const TextNeedleConfig text{
      .generated_characters = 20'000, .length = 300, .lengths = {150, 300}, .needles = 1};
  check(text, [&](std::int64_t T) { return text.of_length(T); });
}

CATCH_TEST_CASE("the parts of a task are mixed as the task is") {
  const NeedleRecallConfig config{.needle = {.length = 64, .lengths = kLengths}};
  const auto task = config.build();
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 2);
  CATCH_CHECK(parts[0].name == "needle");
  CATCH_CHECK(parts[1].name == "recall");
  CATCH_CHECK(parts[0].share + parts[1].share == 1);
  CATCH_CHECK(task->sequence_length() == 64);
  CATCH_CHECK(task->mean_length() == 48);
  for (std::int64_t index = 0; index < 10; ++index) {
    const auto whole = task->batch(1, Split::kTest, index, 4);
    const auto needles = parts[0].task->batch(1, Split::kTest, index, 2);
    const auto repeats = parts[1].task->batch(1, Split::kTest, index, 2);
    CATCH_CHECK(whole.inputs.equal(at::cat({needles.inputs, repeats.inputs})));
  }
}

CATCH_TEST_CASE("lengths that a task cannot have are refused by name") {
  CATCH_CHECK(Problems::of(NeedleConfig{.length = 64, .lengths = {16, 64}}).empty());
  CATCH_CHECK(Problems::of(NeedleConfig{.length = 64, .lengths = {32, 128}}) ==
              "lengths has 128 as the longest; expected that to be length, 64\n");
  CATCH_CHECK(Problems::of(NeedleConfig{.length = 64, .lengths = {8, 64}}) ==
              "lengths has 8, which is too short; the smallest that fits is 15\n");
  CATCH_CHECK(Problems::of(
                  NeedleRecallConfig{.needle = {.length = 64, .lengths = {6, 64}, .needles = 1}}) ==
              "recall_share is 0.5 with sequences of 6 tokens; cyclic repetition expects at least "
              "8\n");
  CATCH_CHECK(Problems::of(TextNeedleConfig{.length = 512, .lengths = {100, 512}})
                  .starts_with("lengths has 100, which is too short"));
}

}  // namespace
}  // namespace difflab
