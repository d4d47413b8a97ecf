// What a run says of itself, against models and figures that are made here from its seed.

#include "evaluate/language/heldout.h"
#include "model/language_model.h"
#include "model/score.h"
#include "support/small_runs.h"
#include "support/tensors.h"
#include "task/base/task.h"

namespace difflab {
namespace {

constexpr std::uint64_t kRunSeed = 3;

RunConfig told_run() {
  auto config = testing::smallest_run();
  config.seed = kRunSeed;
  config.train.eval_every = 1;
  config.evaluate = {HeldoutConfig{.samples = 40}, HeldoutConfig{{.name = "few"}, /*samples=*/8}};
  return config;
}

LanguageModel initial_model(const RunConfig& config, const Task& task) {
  LanguageModel model(config.model, task.vocab_size());
  initialise(model, config.model, kRunSeed);
  return model;
}

CATCH_TEST_CASE("a run begins with the weights, the questions and the batches of its seed") {
  const testing::Results results;
  const auto config = told_run();
  const auto lines = read_metrics(results.run(config));
  const auto task = build_task(config.task);
  auto model = initial_model(config, *task);
  const auto validation =
      validation_metrics({model, config.task, *task, kRunSeed}, config.train.eval_samples);
  for (const auto& [key, value] : validation.items()) {
    CATCH_INFO(key);
    CATCH_CHECK(lines.at(0).at(key).get<double>() ==
                Approx(value.get<double>()).epsilon(1e-5).margin(1e-9));
  }
  const auto batch = task->batch(kRunSeed, Split::kTrain, 0, config.train.batch_size);
  CATCH_CHECK(lines.at(1).at("train_loss").get<double>() ==
              Approx(mean_loss(model, batch.inputs, batch.targets).item<double>()).epsilon(1e-5));
}

CATCH_TEST_CASE("a result tells the last line of its curve, its tokens and what did not come") {
  const testing::Results results;
  const auto run = results.run(told_run());
  const auto result = *read_result(run);
  const auto& metrics = result.at("metrics");
  const auto last = read_metrics(run).back();
  CATCH_REQUIRE(last.at("step") == 8);
  for (const char* key : {"train_loss", "valid_loss", "valid_accuracy"}) {
    CATCH_CHECK(metrics.at(key) == last.at(key));
  }
  CATCH_CHECK(metrics.at("steps") == 8);
  const double seconds = metrics.at("train_seconds");
  CATCH_CHECK(metrics.at("tokens_per_second").get<double>() * seconds == Approx(8 * 4 * 24));
  CATCH_CHECK(metrics.at("steps_to_90_accuracy").is_null());
  CATCH_CHECK(result.at("censored").at("steps_to_90_accuracy") == 8);
  CATCH_CHECK(result.at("censored").at("time_to_90_accuracy_seconds") == seconds);
}

CATCH_TEST_CASE("a result tells each evaluation of the trained model under its own name") {
  const testing::Results results;
  const auto config = told_run();
  const auto run = results.run(config);
  const auto result = *read_result(run);
  const auto task = build_task(config.task);
  auto model = initial_model(config, *task);
  {
    const at::NoGradGuard no_grad;
    const auto trained = Safetensors::read(run.checkpoint());
    for (const auto& parameter : model.named_parameters()) {
      parameter.value().copy_(testing::to_tensor(trained.at(parameter.key())));
    }
  }
  for (const auto& [prefix, samples] : {std::pair("", 40), std::pair("few_", 8)}) {
    const auto expected =
        HeldoutConfig{.samples = samples}.run({model, config.task, *task, kRunSeed}).metrics;
    for (const auto& [key, value] : expected.items()) {
      CATCH_INFO(prefix << key);
      CATCH_CHECK(result.at("metrics").at(prefix + key).get<double>() ==
                  Approx(value.get<double>()).epsilon(1e-5).margin(1e-9));
    }
  }
  CATCH_CHECK(result.at("evaluations").at("heldout").at("needle").at("sequences") == 40);
  CATCH_CHECK(result.at("evaluations").at("few").at("needle").at("sequences") == 8);
}

}  // namespace
}  // namespace difflab
