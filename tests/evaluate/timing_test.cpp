// What is timed: speeds of passes and of decoding, and the memory of a call.
#include "evaluate/speed/timing.h"

#include <ATen/ATen.h>

#include "evaluate/evaluation_config.h"
#include "evaluate/speed/read_context.h"
#include "model/cost.h"
#include "model/generate/generate.h"
#include "model/language_model.h"
#include "support/catch.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const NeedleConfig kTimedNeedles{
    .length = 24, .needles = 2, .queries = 1, .noise_tokens = 8, .keys = 4, .values = 4};

/// One layer of random numbers.
LanguageModel timed_model(AttentionConfig attention) {
  const ModelConfig config{.d_model = 16, .layers = 1, .ffn_hidden = 8, .attention = attention};
  LanguageModel model(config, kTimedNeedles.build()->vocab_size());
  initialise(model, config, /*seed=*/7);
  return model;
}

EvaluationResult evaluate(const auto& config, LanguageModel& model) {
  const TaskConfig task_config = kTimedNeedles;
  const auto task = build_task(task_config);
  return config.run({model, task_config, *task, /*seed=*/3});
}

Json cell_with(const EvaluationResult& result, const Json& values) {
  for (const auto& cell : result.details["cells"]) {
    bool same = true;
    for (const auto& [key, value] : values.items()) same = same && cell.value(key, Json()) == value;
    if (same) return cell;
  }
  return nullptr;
}

CATCH_TEST_CASE("throughput times every path and pass at every length") {
  auto model = timed_model(DifferentialAttentionConfig{.heads = 1});
  const auto before = model.forward(kTimedNeedles.build()->batch(0, Split::kTest, 0, 2).inputs);
  const auto result =
      evaluate(ThroughputConfig{.lengths = {8, 32}, .tokens = 64, .rounds = 3}, model);
  CATCH_REQUIRE(result.details["cells"].size() == 2 * 2 * 2);
  for (const auto& cell : result.details["cells"]) {
    CATCH_CHECK(cell["sequences"] == 64 / cell["length"].get<int>());
    CATCH_CHECK(cell["tokens_per_second_low"] <= cell["tokens_per_second"]);
    CATCH_CHECK(cell["tokens_per_second"] <= cell["tokens_per_second_high"]);
    CATCH_CHECK(cell["share_of_sgemm"].get<double>() > 0);
  }
  const Json fused{{"length", 32}, {"kernels", "fused"}, {"pass", "training"}};
  CATCH_CHECK(result.metrics["training_tokens_per_second_t32"] ==
              cell_with(result, fused)["tokens_per_second"]);
  // A step of training takes the operations of three forward passes.
  for (const std::int64_t T : {8, 32}) {
    const auto flops =
        count_flops(model.config(), kTimedNeedles.vocab_size(), T, Masking::kCausal).total();
    const double forward = static_cast<double>(flops) / static_cast<double>(T);
    for (const auto& [pass, times] : {std::pair{"forward", 1}, {"training", 3}}) {
      const Json cell{{"length", T}, {"kernels", "fused"}, {"pass", pass}};
      CATCH_CHECK(cell_with(result, cell)["operations_per_token"].get<double>() ==
                  Approx(times * forward));
    }
  }
  // The measured model is a copy.
  CATCH_CHECK(!model.parameters().front().grad().defined());
  CATCH_CHECK(
      model.forward(kTimedNeedles.build()->batch(0, Split::kTest, 0, 2).inputs).equal(before));
}

CATCH_TEST_CASE("throughput times the kernels that are asked for") {
  auto model = timed_model(DifferentialAttentionConfig{.heads = 1});
  const auto result = evaluate(
      ThroughputConfig{.lengths = {8}, .tokens = 16, .rounds = 1, .kernels = {Kernels::kFlash2}},
      model);
  CATCH_REQUIRE(result.details["cells"].size() == 2);
  CATCH_CHECK(result.details["cells"][0]["kernels"] == "flash_2");
  CATCH_CHECK(result.metrics.empty());
}

CATCH_TEST_CASE("decoding writes what greedy generation does, as often as it is asked") {
  auto model = timed_model(DifferentialAttentionConfig{.heads = 1});
  const auto tokens = kTimedNeedles.build()->batch(0, Split::kTest, 0, 3).inputs;
  ReadContext read(model, tokens);
  const auto expected = generate_greedily(model, tokens, 6).narrow(1, 1, 5);
  CATCH_CHECK(read.decode(5).equal(expected));
  CATCH_CHECK(read.decode(5).equal(expected));
}

CATCH_TEST_CASE("decoding times every context and batch, and says what the cache holds") {
  auto model = timed_model(SoftmaxAttentionConfig{.heads = 1});
  const auto result = evaluate(
      DecodingConfig{.contexts = {8, 32}, .batches = {1, 4}, .tokens = 2, .rounds = 3}, model);
  CATCH_REQUIRE(result.details["cells"].size() == 2 * 2);
  for (const auto& cell : result.details["cells"]) {
    CATCH_CHECK(cell["tokens_per_second_low"] <= cell["tokens_per_second"]);
    CATCH_CHECK(cell["tokens_per_second"] <= cell["tokens_per_second_high"]);
    // Keys and values of width D, four bytes each, in every layer.
    const auto& config = model.config();
    const double bytes = 2.0 * 4 * cell["length"].get<double>() * cell["sequences"].get<double>() *
                         static_cast<double>(config.d_model * config.layers);
    CATCH_CHECK(cell["cache_mib"].get<double>() == bytes / (1 << 20));
  }
  CATCH_CHECK(result.metrics["decoding_tokens_per_second_t32_b4"] ==
              cell_with(result, {{"length", 32}, {"sequences", 4}})["tokens_per_second"]);
  CATCH_CHECK(DecodingConfig{}.longest(RecallConfig{}) == 1'040);
}

CATCH_TEST_CASE("the peak of a call is that of what it held at once") {
  const auto peak = peak_mib_of([] {
    for (int i = 0; i < 3; ++i) at::ones({32, 1024, 256});  // 32 MiB, three times in turn
  });
  CATCH_REQUIRE(peak);
  CATCH_CHECK(*peak > 30);
  CATCH_CHECK(*peak < 64);
}

}  // namespace
}  // namespace difflab
