// Evaluations ask about the test split: what a model was trained on must not be in a result.

#include "evaluate/answers/hallucination.h"
#include "evaluate/base/answerer.h"
#include "evaluate/head_models.h"
#include "evaluate/retrieval/needle_grid.h"
#include "model/score.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

constexpr std::uint64_t kAskedSeed = 5;
constexpr std::int64_t kAskedSamples = 20;

/// Answers anything and keeps what it was asked.
struct Recorder {
  std::vector<at::Tensor> answered, continued;

  Answerer answerer() {
    return {.answer =
                [this](const Batch& batch) {
                  answered.push_back(batch.inputs);
                  return at::zeros_like(batch.targets);
                },
            .go_on =
                [this](const at::Tensor& prompts, std::int64_t tokens) {
                  continued.push_back(prompts);
                  return at::zeros({prompts.size(0), tokens}, at::kLong);
                }};
  }
};

at::Tensor test_inputs(const auto& config) {
  const auto task = config.build();
  const auto batch = task->batch(kAskedSeed, Split::kTest, 0, kAskedSamples);
  CATCH_REQUIRE_FALSE(
      batch.inputs.equal(task->batch(kAskedSeed, Split::kTrain, 0, kAskedSamples).inputs));
  return batch.inputs;
}

CATCH_TEST_CASE("hallucination asks and lets summarise test contexts") {
  Recorder recorder;
  ContextQaConfig facts{.facts = 6, .questions = 2};
  HallucinationConfig{.distractors = {0.5}, .samples = kAskedSamples}.ask(recorder.answerer(),
                                                                          facts, kAskedSeed);
  facts.distractors = 0.5;
  facts.summary_share = 0;
  CATCH_REQUIRE(recorder.answered.size() == 1);
  CATCH_CHECK(recorder.answered[0].equal(test_inputs(facts)));
  facts.summary_share = 1;
  CATCH_REQUIRE(recorder.continued.size() == 1);
  const auto& prompts = recorder.continued[0];
  CATCH_CHECK(prompts.equal(test_inputs(facts).narrow(1, 0, prompts.size(1))));
}

CATCH_TEST_CASE("a grid of needles in text hides them in the test text") {
  Recorder recorder;
  TextNeedleConfig text{.generated_characters = 60'000, .length = 700, .digits = 3};
  NeedleGridConfig{.needles = {1}, .queries = {1}, .depths = {50}, .samples = kAskedSamples}.ask(
      recorder.answerer(), text, kAskedSeed);
  text.needles = text.queries = 1;
  text.depth = 50;
  text.recall_share = 0;
  CATCH_REQUIRE_FALSE(recorder.continued.empty());
  const auto& prompts = recorder.continued[0];
  CATCH_CHECK(prompts.equal(test_inputs(text).narrow(1, 0, prompts.size(1))));
}

CATCH_TEST_CASE("rounded logits are scored on test sequences, each map with levels of its own") {
  auto model = testing::uneven(SoftmaxAttentionConfig{.heads = 4});
  const auto result = testing::evaluate(
      QuantizationConfig{.of = Quantized::kLogits, .bits = {3}, .samples = kAskedSamples}, model,
      testing::kHeadNeedles, kAskedSeed);
  const auto batch =
      testing::kHeadNeedles.build()->batch(kAskedSeed, Split::kTest, 0, kAskedSamples);
  const auto loss = [&] {
    const auto found = score(model, batch.inputs, batch.targets);
    return found.loss_sum / static_cast<double>(found.targets);
  };
  const double exact = loss();
  CATCH_CHECK(testing::only(result, {{"bits", 0}}, "loss") == Approx(exact).epsilon(1e-5));
  // Three bits are the levels −3…3, of which the largest logit of a map takes the last.
  const auto round_maps = [](const at::Tensor& logits) {
    auto rounded = logits.clone();
    for (std::int64_t b = 0; b < logits.size(0); ++b) {
      for (std::int64_t h = 0; h < logits.size(1); ++h) {
        auto map = rounded[b][h];
        const auto finite = map.masked_select(map.isfinite());
        const double step = finite.abs().max().item<double>() / 3;
        map.copy_((map / step).round() * step);
      }
    }
    return rounded;
  };
  std::vector<std::unique_ptr<WithLogitHook>> hooks;
  model.for_each_attention([&](const std::string&, Attention& attention) {
    hooks.push_back(std::make_unique<WithLogitHook>(attention, round_maps));
  });
  const double rounded = loss();
  CATCH_CHECK(std::abs(rounded - exact) > 1e-3);
  CATCH_CHECK(testing::only(result, {{"bits", 3}}, "loss") == Approx(rounded).epsilon(1e-4));
}

}  // namespace
}  // namespace difflab
