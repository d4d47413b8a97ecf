// Weights and hidden states of few bits, rounded a second time number by number.
#include "evaluate/inside/quantization.h"

#include <ATen/ATen.h>

#include "model/language_model.h"
#include "model/score.h"
#include "support/catch.h"
#include "task/base/task.h"
#include "task/needle/needle.h"

namespace difflab {
namespace {

const NeedleConfig kFewNeedles{
    .length = 24, .needles = 2, .queries = 1, .noise_tokens = 8, .keys = 4, .values = 4};
const ModelConfig kTwoLayers{
    .d_model = 8, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 2}};

// Every row of a matrix on 2^bits − 1 levels between ± its largest size, in place.
void round_rows(const at::Tensor& matrix, int bits) {
  const double levels = std::pow(2, bits - 1) - 1;
  for (std::int64_t row = 0; row < matrix.size(0); ++row) {
    auto* value = matrix[row].data_ptr<float>();
    double largest = 0;
    for (std::int64_t i = 0; i < matrix.size(1); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(value[i])));
    }
    for (std::int64_t i = 0; i < matrix.size(1); ++i) {
      const double level = std::nearbyint(value[i] / largest * levels);
      value[i] = static_cast<float>(level * largest / levels);
    }
  }
}

LanguageModel random_model(const ModelConfig& config, std::int64_t vocab_size) {
  LanguageModel model(config, vocab_size);
  initialise(model, config, 5);
  return model;
}

CATCH_TEST_CASE(
    "matrices of the layers are rounded row by row, and are themselves again after it") {
  const at::NoGradGuard no_grad;
  const auto task = kFewNeedles.build();
  ModelConfig per_head = kTwoLayers, v2 = kTwoLayers;
  std::get<DifferentialAttentionConfig>(per_head.attention).lambda_per = LambdaScope::kHead;
  v2.attention = DifferentialV2Config{.heads = 2};
  const int i = GENERATE(0, 1, 2);
  CATCH_INFO(i);
  const auto& config = i == 0 ? kTwoLayers : i == 1 ? per_head : v2;
  auto model = random_model(config, task->vocab_size());
  const QuantizationConfig asked{.of = Quantized::kWeights, .bits = {3, 20}, .samples = 30};
  const auto result = asked.run({model, kFewNeedles, *task, /*seed=*/3});

  const auto batch = task->batch(3, Split::kTest, 0, 30);
  const auto exact = score(model, batch.inputs, batch.targets).loss();
  auto rounded = random_model(config, task->vocab_size());
  int matrices = 0;
  for (const auto& parameter : rounded.named_parameters()) {
    if (!parameter.key().starts_with("layers.") || !parameter.key().ends_with(".weight")) continue;
    if (parameter.value().dim() != 2) continue;
    round_rows(parameter.value(), 3);
    ++matrices;
  }
  CATCH_REQUIRE(matrices == 2 * (i == 2 ? 8 : 7));  // q, k, v, out, of V2 λ; gate, up, down
  const auto loss = score(rounded, batch.inputs, batch.targets).loss();
  CATCH_REQUIRE(std::abs(loss - exact) > 1e-3);
  const auto& cells = result.details["cells"];
  CATCH_REQUIRE(cells.size() == 3);
  CATCH_CHECK(cells[0]["bits"] == 0);
  CATCH_CHECK(cells[0]["loss"] == exact);  // of the model as it was given
  CATCH_CHECK(cells[1]["loss"].get<double>() == Approx(loss).epsilon(1e-5));
  CATCH_CHECK(cells[2]["loss"].get<double>() == Approx(exact).epsilon(1e-4));
  CATCH_CHECK(result.metrics.contains("weights_accuracy_3_bits"));
  CATCH_CHECK(result.metrics["weights_accuracy_unquantized_chance"] == 0.5);
  CATCH_CHECK(score(model, batch.inputs, batch.targets).loss() == exact);
}

CATCH_TEST_CASE("the stream behind each layer is rounded token by token") {
  const at::NoGradGuard no_grad;
  const auto task = kFewNeedles.build();
  auto model = random_model(kTwoLayers, task->vocab_size());
  auto parameters = model.named_parameters();
  for (const auto& parameter :
       parameters) {  // layers that add nothing: the stream is the embedding
    if (parameter.key().starts_with("layers.") && parameter.value().dim() == 2) {
      parameter.value().zero_();
    }
  }
  const auto batch = task->batch(3, Split::kTest, 0, 30);
  const auto loss_of = [&] {
    const QuantizationConfig asked{.of = Quantized::kStates, .bits = {3}, .samples = 30};
    const auto result = asked.run({model, kFewNeedles, *task, /*seed=*/3});
    CATCH_CHECK(result.details["cells"][1]["n"] == 30);
    CATCH_CHECK(result.metrics["hidden_accuracy_3_bits"] == result.details["cells"][1]["accuracy"]);
    return result.details["cells"][1]["loss"].get<double>();
  };
  const auto loss = loss_of();
  const auto exact = score(model, batch.inputs, batch.targets).loss();
  CATCH_REQUIRE(std::abs(loss - exact) > 1e-4);
  round_rows(parameters["tok_embeddings.weight"], 3);
  CATCH_CHECK(loss == Approx(score(model, batch.inputs, batch.targets).loss()).epsilon(1e-5));

  // With layers that do something, it is not the same as rounding what goes into the first.
  auto whole = random_model(kTwoLayers, task->vocab_size());
  const QuantizationConfig fine{.of = Quantized::kStates, .bits = {2, 22}, .samples = 30};
  const auto result = fine.run({whole, kFewNeedles, *task, /*seed=*/3});
  const auto& cells = result.details["cells"];
  CATCH_CHECK(cells[2]["loss"].get<double>() ==
              Approx(cells[0]["loss"].get<double>()).epsilon(1e-4));
  CATCH_CHECK(std::abs(cells[1]["loss"].get<double>() - cells[0]["loss"].get<double>()) > 1e-3);
}

}  // namespace
}  // namespace difflab
