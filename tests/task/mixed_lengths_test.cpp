// Batches of several lengths.

#include "support/catch.h"
#include "support/task_kinds.h"
#include "support/task_rows.h"

namespace difflab {
namespace {

using testing::Problems;

const std::vector<std::int64_t> kLengths{32, 48, 64};

template <class Config>
std::size_t number_of_lengths(const Config& config) {
  if constexpr (requires { config.needle.lengths; }) {
    return config.needle.lengths.size();
  } else {
    return config.lengths.size();
  }
}

CATCH_TEST_CASE("a batch of mixed lengths is a batch of the task of its length") {
  const auto check = [](const auto& config, const auto& of_length) {
    CATCH_INFO(config.kKind);
    const auto mixed = config.build();
    std::map<std::int64_t, int> drawn;
    std::map<std::int64_t, std::unique_ptr<Task>> built;
    for (std::int64_t index = 0; index < 60; ++index) {
      const auto batch = mixed->batch(3, Split::kTrain, index, 8);
      const auto length = batch.inputs.size(1);
      ++drawn[length];
      if (!built[length]) built[length] = of_length(length).build();
      const auto alone = built[length]->batch(3, Split::kTrain, index, 8);
      CATCH_CHECK(batch.inputs.equal(alone.inputs));
      CATCH_CHECK(batch.targets.equal(alone.targets));
    }
    int others = 0;
    for (std::int64_t index = 0; index < 60; ++index) {
      others += mixed->batch(3, Split::kValid, index, 1).inputs.size(1) !=
                mixed->batch(3, Split::kTrain, index, 1).inputs.size(1);
    }
    CATCH_CHECK(others > 10);  // of 60, by chance 30 to 40: each split draws its own lengths
    // 20 or 30 of each are expected, with a standard deviation below 4.
    CATCH_CHECK(drawn.size() == number_of_lengths(config));
    for (const auto& [length, count] : drawn) CATCH_CHECK((count > 5 && count < 46));
  };
  int kinds = 0;
  testing::for_each_kind([&](auto config) {
    if constexpr (requires { config.lengths; }) {
      config.lengths = {config.length * 3 / 4, config.length};
      check(config, [&](std::int64_t T) { return with_length(config, T); });
      ++kinds;
    }
  });
  CATCH_CHECK(kinds >= 10);
  const NeedleRecallConfig both{.needle = {.length = 64, .lengths = kLengths}};
  check(both,
        [&](std::int64_t T) { return NeedleRecallConfig{.needle = with_length(both.needle, T)}; });
}

// Targets of a sequence, on average of those that are no repetition mixed in.
double mean_targets(const Task& task) {
  const auto part = task.parts().front();
  const auto batch = part.task->batch(0, Split::kTest, 0, 400);
  return batch.targets.ge(0).sum().item<double>() / 400;
}

CATCH_TEST_CASE("the chance of several lengths is that of all their targets together") {
  int differ = 0;
  testing::for_each_kind([&](auto config) {
    if constexpr (requires { config.lengths; }) {
      CATCH_INFO(config.kKind);
      config.lengths = {config.length * 3 / 4, config.length};
      double right = 0, targets = 0;
      std::vector<double> chances;
      for (const auto T : config.lengths) {
        const auto alone = with_length(config, T).build();
        chances.push_back(alone->chance_accuracy());
        targets += mean_targets(*alone);
        right += chances.back() * mean_targets(*alone);
      }
      differ += chances[0] != chances[1];
      CATCH_CHECK(config.build()->chance_accuracy() == Approx(right / targets).epsilon(0.01));
    }
  });
  CATCH_CHECK(differ >= 2);  // recall and noisy recall
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

CATCH_TEST_CASE("a batch of mixed needles is a batch of the task of its numbers") {
  const NeedleConfig config{.length = 64,
                            .lengths = kLengths,
                            .needles = 4,
                            .queries = 2,
                            .needle_counts = {1, 2, 4},
                            .query_counts = {1, 2}};
  const auto task = config.build();
  std::map<std::array<std::int64_t, 3>, int> drawn;  // T, N, R
  double right = 0, targets = 0;
  for (std::int64_t index = 0; index < 600; ++index) {
    const auto batch = task->batch(7, Split::kTrain, index, 4);
    const auto first_value = config.vocab_size() - config.values;
    const auto R = batch.targets.ge(0).sum().item<std::int64_t>() / 4;
    const auto N = batch.inputs.ge(first_value).sum().item<std::int64_t>() / 4;
    auto alone = with_length(config, batch.inputs.size(1));
    alone.needles = N;
    alone.queries = R;
    CATCH_CHECK(batch.inputs.equal(alone.build()->batch(7, Split::kTrain, index, 4).inputs));
    ++drawn[{batch.inputs.size(1), N, R}];
    right += static_cast<double>(R) / static_cast<double>(N);
    targets += static_cast<double>(R);
  }
  CATCH_CHECK(drawn.size() == 15);  // three lengths; R = 2 only with N > 1
  for (const auto& [kind, count] : drawn) CATCH_CHECK((count > 15 && count < 70));  // 40 ± 6
  CATCH_CHECK(task->chance_accuracy() == Approx(right / targets).epsilon(0.05));
  CATCH_CHECK(Problems::of(NeedleConfig{.needles = 4, .needle_counts = {1, 6}}) ==
              "needle_counts has 6 as the largest; expected that to be needles, 4\n");
  CATCH_CHECK(Problems::of(NeedleConfig{.queries = 2, .query_counts = {1}}) ==
              "query_counts has 1 as the largest; expected that to be queries, 2\n");
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
  CATCH_CHECK(Problems::of(RecallConfig{.length = 64, .lengths = {4, 64}}) ==
              "lengths has 4, which is too short; the smallest that fits is 8\n");
  CATCH_CHECK(Problems::of(MqarConfig{.length = 64, .lengths = {16, 64}}) ==
              "lengths has 16, which is too short; the smallest that fits is 32\n");
  CATCH_CHECK(Problems::of(NoisyRecallConfig{.lengths = {6, 64}}) ==
              "lengths has 6, which is too short; the smallest that fits is 8\n");
  CATCH_CHECK(Problems::of(NoisyRecallConfig{.lengths = {32, 64}, .pairs = 8}) ==
              "lengths is given beside pairs, from which the length follows; expected one\n");
  CATCH_CHECK(Problems::of(AssociativeNeedleConfig{.lengths = {12, 64}}) ==
              "lengths has 12, which is too short; the smallest that fits is 15\n");
  CATCH_CHECK(Problems::of(VariableTrackingConfig{.lengths = {20, 64}}) ==
              "lengths has 20, which is too short; the smallest that fits is 23\n");
  CATCH_CHECK(Problems::of(SelectiveCopyConfig{.lengths = {32, 256}}) ==
              "lengths has 32, which is too short; the smallest that fits is 33\n");
  CATCH_CHECK(Problems::of(CommonWordsConfig{.lengths = {8, 64}}) ==
              "lengths has 8, too short for the 3 most frequent words to differ in frequency\n");
  CATCH_CHECK(Problems::of(TextConfig{.lengths = {64, 128}}) ==
              "lengths has 128 as the longest; expected that to be length, 256\n");
  CATCH_CHECK(Problems::of(VariableTrackingConfig{
                  .length = 16, .lengths = {7, 16}, .chains = 1, .hops = 0, .recall_share = 0.5}) ==
              "recall_share is 0.5 with sequences of 7 tokens; cyclic repetition expects at least "
              "8\n");
  CATCH_CHECK(Problems::of(TextNeedleConfig{.length = 512, .lengths = {100, 512}})
                  .starts_with("lengths has 100, which is too short"));
}

}  // namespace
}  // namespace difflab
