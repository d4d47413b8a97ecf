#include <ATen/ATen.h>

#include "support/catch.h"
#include "task/task_config.h"
#include "train/step/step.h"

namespace difflab {
namespace {

// Three sequences ask 1, 0 and 3 tokens; the first two are one part.
Batch uneven() {
  const auto targets = at::full({3, 4}, kIgnore, at::kLong);
  targets[0][3] = 5;
  targets[2].narrow(0, 1, 3).fill_(6);
  return {at::zeros({3, 4}, at::kLong), targets, {2, 1}};
}

std::vector<double> weights(const Batch& batch, LossPer per) {
  const auto found = questions_of(batch, {per}).weights;
  return {found.const_data_ptr<double>(), found.const_data_ptr<double>() + found.numel()};
}

CATCH_TEST_CASE("what counts the same in the loss weighs the same") {
  CATCH_CHECK(!questions_of(uneven(), {LossPer::kTarget}).weights.defined());
  // Half of four weights of mean 1 for each of the two that ask.
  const std::vector<double> halves{2, 2. / 3, 2. / 3, 2. / 3};
  CATCH_CHECK(weights(uneven(), LossPer::kSequence) == halves);
  CATCH_CHECK(weights(uneven(), LossPer::kPart) == halves);
  auto one_part = uneven();
  one_part.parts.clear();
  CATCH_CHECK(weights(one_part, LossPer::kPart) == std::vector<double>{1, 1, 1, 1});
}

CATCH_TEST_CASE("a batch says how many sequences each part of its task has") {
  const NeedleConfig needle{
      .length = 24, .needles = 2, .queries = 1, .noise_tokens = 8, .keys = 4, .values = 4};
  for (const TaskConfig& config :
       {TaskConfig{NeedleRecallConfig{.needle = needle, .recall_share = 0.25}},
        TaskConfig{ContextQaConfig{.summary_share = 0.5, .recall_share = 0.25}}}) {
    const auto task = build_task(config);
    const auto batch = task->batch(1, Split::kTrain, 0, 8);
    const auto parts = task->parts();
    CATCH_REQUIRE(batch.parts.size() == parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      CATCH_CHECK(static_cast<double>(batch.parts[i]) == 8 * parts[i].share);
    }
    // Each part has the same say: its weights add up to a share of all targets.
    const auto asked = questions_of(batch, {LossPer::kPart});
    const auto sequence = asked.where.div(batch.targets.size(1), "floor");
    const auto sum = asked.weights.masked_select(sequence < batch.parts[0]).sum().item<double>();
    CATCH_CHECK(sum == Approx(static_cast<double>(asked.weights.numel()) /
                              static_cast<double>(parts.size())));
  }
}

}  // namespace
}  // namespace difflab
