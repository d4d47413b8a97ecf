// device=cuda, where there is one. Elsewhere every case says so, and CTest calls the test skipped.
#include <torch/cuda.h>

#include <iostream>

#include "config/schema/traits.h"
#include "experiment/device.h"
#include "experiment/run_experiment.h"
#include "kernel/operation/library_attention.h"
#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/rounded_gradients.h"
#include "support/tensors.h"
#include "train/step/step.h"

namespace difflab {
namespace {

bool no_device() {
  if (torch::cuda::is_available()) return false;
  std::cout << "SKIPPED: no CUDA device, so nothing of device=cuda is tested here\n";
  return true;
}

struct Outcome {
  double loss;
  std::map<std::string, at::Tensor> gradients;  // on the CPU
};

// How far the gradients of each parameter are from the expected ones, beside the largest of those;
// of parameters whose gradients nearly cancel, beside a thousandth of the largest of all.
double apart(const Outcome& found, const Outcome& expected) {
  double largest = 0, worst = 0;
  const auto size_of = [](const at::Tensor& x) { return x.abs().max().item<double>(); };
  for (const auto& [name, gradient] : expected.gradients)
    largest = std::max(largest, size_of(gradient));
  for (const auto& [name, gradient] : expected.gradients) {
    const double size = std::max(size_of(gradient), 1e-3 * largest);
    worst = std::max(worst, size_of(found.gradients.at(name) - gradient) / size);
  }
  return worst;
}

Outcome outcome(const ModelConfig& config, Kernels kernels, const at::Device& device,
                Precision precision = Precision::kFloat32) {
  constexpr std::int64_t kVocab = 40;
  at::manual_seed(1);  // the same tokens for all
  const auto tokens = at::randint(kVocab, {4, 65}, at::kLong).to(device);
  LanguageModel model(config, kVocab, kernels);
  initialise(model, config, 0);
  model.set_precision(precision);
  model.to(device);
  const auto loss = mean_loss(model, tokens.narrow(1, 0, 64), tokens.narrow(1, 1, 64));
  loss.backward();
  Outcome found{loss.item<double>(), {}};
  for (const auto& parameter : model.named_parameters())
    found.gradients[parameter.key()] = parameter.value().grad().to(at::kDouble).cpu();
  return found;
}

CATCH_TEST_CASE("models on CUDA give the loss and gradients of the CPU") {
  if (no_device()) return;
  const auto cuda = open_device(Device::kCuda);
  for (const auto& [name, attention] : testing::attention_variants()) {
    for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
      const ModelConfig config{.d_model = 32, .layers = 2, .block = block, .attention = attention};
      const auto expected = outcome(config, Kernels::kPlain, at::kCPU);
      for (const auto& [form, kernels] : config::named_values<Kernels>()) {
        CATCH_INFO(name << (block == BlockKind::kLlama ? ", llama, " : ", nano, ") << form);
        const auto found = outcome(config, kernels, cuda);
        CATCH_CHECK(found.loss == Approx(expected.loss).epsilon(1e-5));
        CATCH_CHECK(apart(found, expected) < 1e-3);
        const auto rounded = outcome(config, kernels, cuda, Precision::kBfloat16);
        CATCH_CHECK(rounded.loss == Approx(expected.loss).epsilon(0.01));
        for (const auto& [parameter, gradient] : expected.gradients) {
          CATCH_INFO(parameter);
          const auto error =
              (rounded.gradients.at(parameter) - gradient).abs().max().item<double>();
          CATCH_CHECK(error < testing::rounded_gradient_bound(parameter, gradient));
        }
      }
    }
  }
  for (const auto& backend : kernel::take_library_attention_used()) std::cout << backend << '\n';
}

RunConfig small_run() {
  RunConfig config;
  config.device = Device::kCuda;
  config.model.d_model = 32;
  config.model.attention = DifferentialAttentionConfig{.heads = 2};
  config.task = NeedleRecallConfig{.needle = {.length = 24}};
  config.train = {
      .steps = 12, .batch_size = 4, .warmup_steps = 2, .eval_every = 5, .eval_samples = 16};
  config.evaluate = {HeldoutConfig{.samples = 16},
                     NeedleGridConfig{.depths = {0, 100}, .samples = 4},
                     AttentionAllocationConfig{}, ActivationOutliersConfig{}};
  return config;
}

// Every line of the metrics but its times.
std::string metrics_of(const RunDirectory& run) {
  std::string text;
  for (auto line : read_metrics(run)) {
    line.erase("train_seconds");
    text += line.dump() + "\n";
  }
  return text;
}

void require_same_bits_when_interrupted(const RunConfig& config) {
  const testing::TemporaryFolder folder;
  const RunDirectory one{folder.path() / "one"}, other{folder.path() / "other"};
  for (const auto& run : {one, other}) std::filesystem::create_directories(run.path);
  CATCH_REQUIRE(run_experiment(config, one, [] { return false; }) == RunEnd::kComplete);
  int asked = 0;
  CATCH_REQUIRE(run_experiment(config, other, [&] { return asked++ == 7; }) ==
                RunEnd::kInterrupted);
  CATCH_REQUIRE(run_experiment(config, other, [] { return false; }) == RunEnd::kComplete);
  CATCH_CHECK(metrics_of(one) == metrics_of(other));
  CATCH_CHECK((*read_result(one))["status"] == "finished");
}

CATCH_TEST_CASE("a run on CUDA gives the same bits each time, also when it is interrupted") {
  if (no_device()) return;
  require_same_bits_when_interrupted(small_run());
}

CATCH_TEST_CASE("a run in bfloat16 on CUDA gives the same bits each time") {
  if (no_device()) return;
  auto config = small_run();
  config.precision = Precision::kBfloat16;
  require_same_bits_when_interrupted(config);
}

#ifdef DIFFLAB_CUDA_HEADERS  // without them there are no graphs
CATCH_TEST_CASE("a run of recorded steps gives the same bits each time") {
  if (no_device()) return;
  auto config = small_run();
  config.cuda_graph = true;
  require_same_bits_when_interrupted(config);
}
#endif

#ifdef DIFFLAB_CUDA_HEADERS
// As many questions as the step says, so that there are graphs of several sizes, and more sizes
// than graphs.
Batch batch_of(int step) {
  at::manual_seed(step);
  const auto asked = at::arange(20).expand({4, 20}) <= step % 11;
  const auto tokens = at::randint(30, {2, 4, 20}, at::kLong);
  return {tokens[0], at::where(asked, tokens[1], at::Scalar(kIgnore))};
}

CATCH_TEST_CASE("recorded steps are the steps that are done one by one") {
  if (no_device()) return;
  const auto cuda = open_device(Device::kCuda);
  for (const auto precision : {Precision::kFloat32, Precision::kBfloat16}) {
    const TrainConfig config;
    const ModelConfig shape{.d_model = 32, .attention = DifferentialAttentionConfig{.heads = 2}};
    const auto model = [&] {
      LanguageModel made(shape, /*vocab_size=*/30, Kernels::kFused);
      initialise(made, shape, 0);
      made.set_precision(precision);
      made.to(cuda);
      return made;
    };
    auto one = model(), other = model();
    Optimizer for_one(one, config), for_other(other, config);
    const auto plain = plain_step(one, for_one, config);
    const auto recorded = recorded_step(other, for_other, config);
    for (int step = 0; step < 66; ++step) {
      CATCH_INFO("step " << step);
      const auto expected = plain->run(batch_of(step), 1e-3);
      const auto found = recorded->run(batch_of(step), 1e-3);
      CATCH_CHECK(found.loss == Approx(expected.loss).epsilon(1e-3));
      CATCH_CHECK(found.grad_norm == Approx(expected.grad_norm).epsilon(1e-2));
    }
  }
}
#endif

}  // namespace
}  // namespace difflab
