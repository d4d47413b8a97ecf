// What the training loop does and writes, against six steps that are taken here by hand: with the
// library's operations, AdamW by its equations and a learning rate by its formula.
#include "train/train_loop.h"

#include <numbers>

#include "model/language_model.h"
#include "record/safetensors.h"
#include "record/status.h"
#include "support/optimizers.h"
#include "support/tensors.h"
#include "task/base/task.h"
#include "task/needle/needle_recall.h"
#include "train/step/optimizer.h"

namespace difflab {
namespace {

constexpr std::int64_t kFirstBatch = 5;
constexpr std::uint64_t kSeed = 3;

NeedleRecallConfig looped_task() {
  return {.needle = {
              .length = 24, .needles = 2, .queries = 1, .noise_tokens = 8, .keys = 4, .values = 4}};
}

TrainConfig looped() {
  return {.steps = 6,
          .batch_size = 4,
          .lr = 0.01,
          .final_lr_ratio = 0.2,
          .warmup_steps = 2,
          .grad_clip = 0.7,
          .eval_every = 2,
          .eval_samples = 9};
}

std::shared_ptr<LanguageModel> looped_model(double dropout = 0) {
  const ModelConfig config{.d_model = 16,
                           .layers = 1,
                           .dropout = dropout,
                           .attention = DifferentialAttentionConfig{.heads = 1}};
  auto model = std::make_shared<LanguageModel>(config, looped_task().build()->vocab_size());
  initialise(*model, config, kSeed);
  return model;
}

/// A training in a folder of its own; its validation is a curve that is solved at step 4.
struct Training {
  testing::TemporaryFolder folder;
  RunDirectory run{folder.path()};
  std::shared_ptr<LanguageModel> model = looped_model();
  std::unique_ptr<Task> task = looped_task().build();
  RunIdentity identity{.id = "me", .config = "{}"};
  std::vector<std::int64_t> asked = {};  // the samples of each validation
  std::uint64_t seed = kSeed;
  std::vector<double> drawn = {};  // by the library's generator, at each validation

  TrainOutcome go(
      const TrainConfig& config, std::function<bool()> stop_requested = [] { return false; }) {
    const std::vector<double> curve{0.1, 0.2, 0.95, 0.99};
    return train(
        {.model = *model,
         .task = *task,
         .config = config,
         .seed = seed,
         .record_steps = false,
         .run = identity,
         .directory = run,
         .validate =
             [&](LanguageModel&, std::int64_t samples) {
               asked.push_back(samples);
               drawn.push_back(at::rand({1}).item<double>());
               return Json{{"valid_loss", 2.5}, {"valid_accuracy", curve.at(asked.size() - 1)}};
             },
         .look_for = [](const auto& events, auto) { return std::vector<bool>(events.size()); },
         .stop_requested = std::move(stop_requested),
         .first_batch = kFirstBatch});
  }
};

struct ByHand {
  std::vector<double> losses, norms, rates;
  std::map<std::string, at::Tensor> parameters, first, second;
};

double rate_by_hand(const TrainConfig& config, int step) {
  if (step < config.warmup_steps) return config.lr * (step + 1) / config.warmup_steps;
  const double share = (step - 2) / 3.0;  // of the way from step 2 to step 5
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * share));
  return config.lr * (config.final_lr_ratio + (1 - config.final_lr_ratio) * cosine);
}

ByHand six_steps(const TrainConfig& config) {
  const auto model = looped_model();
  const auto task = looped_task().build();
  ByHand found;
  for (const auto& parameter : model->named_parameters()) {
    found.first[parameter.key()] = at::zeros_like(parameter.value());
    found.second[parameter.key()] = at::zeros_like(parameter.value());
  }
  for (int step = 0; step < 6; ++step) {
    const auto batch = task->batch(kSeed, Split::kTrain, kFirstBatch + step, config.batch_size);
    model->zero_grad();
    const auto loss = at::cross_entropy_loss(model->forward(batch.inputs).flatten(0, 1),
                                             batch.targets.flatten());  // ignores −100
    loss.backward();
    double squares = 0;
    for (const auto& one : model->parameters()) squares += one.grad().square().sum().item<double>();
    const double norm = std::sqrt(squares), factor = std::min(1.0, config.grad_clip / norm);
    const double lr = rate_by_hand(config, step);
    const at::NoGradGuard no_grad;
    for (const auto& one : model->named_parameters()) {
      const auto g = one.value().grad() * factor;
      auto &m = found.first[one.key()], &v = found.second[one.key()];
      m = config.beta1 * m + (1 - config.beta1) * g;
      v = config.beta2 * v + (1 - config.beta2) * g * g;
      const auto m_hat = m / (1 - std::pow(config.beta1, step + 1));
      const auto v_hat = v / (1 - std::pow(config.beta2, step + 1));
      one.value().mul_(1 - lr * config.weight_decay);
      one.value().sub_(lr * m_hat / (v_hat.sqrt() + config.adam_eps));
    }
    found.losses.push_back(loss.item<double>());
    found.norms.push_back(norm);
    found.rates.push_back(lr);
  }
  for (const auto& one : model->named_parameters()) found.parameters[one.key()] = one.value();
  return found;
}

// Of a checkpoint; Adam divides by small numbers, in float32.
void check_tensors(const Safetensors& file, const ByHand& expected) {
  CATCH_CHECK(file.tensors().size() == 3 * expected.parameters.size());
  const auto near = [&](const std::string& prefix, const auto& tensors) {
    for (const auto& [name, tensor] : tensors) {
      CATCH_INFO(prefix << name);
      CATCH_CHECK(testing::relative_error(testing::to_tensor(file.at(prefix + name)), tensor) <
                  1e-3);
    }
  };
  near("", expected.parameters);
  near("adam.first.", expected.first);
  near("adam.second.", expected.second);
}

CATCH_TEST_CASE("six steps of the loop are six steps by hand, in its checkpoint and its lines") {
  const auto config = looped();
  Training training;
  const auto outcome = training.go(config);
  const auto expected = six_steps(config);
  CATCH_CHECK(outcome.end == TrainEnd::kFinished);
  check_tensors(read_sealed_safetensors(training.run.checkpoint()), expected);

  const auto lines = read_metrics(training.run);
  CATCH_REQUIRE(lines.size() == 4);
  CATCH_CHECK(training.asked == std::vector<std::int64_t>(4, 9));
  CATCH_CHECK(lines[0].at("step") == 0);
  for (const char* key : {"train_loss", "grad_norm", "lr"}) CATCH_CHECK(!lines[0].contains(key));
  for (std::size_t i = 1; i < 4; ++i) {
    const std::size_t step = 2 * i;  // of which the line tells, and the one before
    CATCH_INFO("step " << step);
    CATCH_CHECK(lines[i].at("step") == step);
    CATCH_CHECK(lines[i].at("train_loss").get<double>() ==
                Approx((expected.losses[step - 2] + expected.losses[step - 1]) / 2).epsilon(1e-4));
    CATCH_CHECK(lines[i].at("grad_norm").get<double>() ==
                Approx(expected.norms[step - 1]).epsilon(1e-3));
    CATCH_CHECK(lines[i].at("lr").get<double>() == Approx(expected.rates[step - 1]));
    CATCH_CHECK(lines[i].at("valid_loss") == 2.5);
    CATCH_CHECK(lines[i].contains("lambda.0"));
  }
  const auto times = [&](std::size_t i) { return lines[i].at("train_seconds").get<double>(); };
  CATCH_CHECK(times(0) == 0);
  CATCH_CHECK(times(1) > 0);
  CATCH_CHECK(times(3) > times(2));
  CATCH_CHECK(read_status(training.run)->at("step") == 6);

  const auto& progress = outcome.progress;
  CATCH_CHECK(progress.step == 6);
  CATCH_CHECK(progress.milestones.at("steps_to_90_accuracy") == 4);
  CATCH_CHECK(progress.milestones.at("time_to_90_accuracy_seconds") == times(2));
  CATCH_REQUIRE(progress.spikes.recent.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CATCH_CHECK(progress.spikes.recent[i] == Approx(expected.norms[i]).epsilon(1e-3));
  }
}

CATCH_TEST_CASE("a loop that stops between two lines goes on with its moments and its sums") {
  const auto config = looped();
  Training training;
  int asked = 0;
  CATCH_CHECK(training.go(config, [&] { return ++asked == 4; }).end == TrainEnd::kInterrupted);
  training.model = looped_model();
  const auto outcome = training.go(config);
  CATCH_CHECK(outcome.end == TrainEnd::kFinished);
  const auto expected = six_steps(config);
  check_tensors(read_sealed_safetensors(training.run.checkpoint()), expected);
  const auto lines = read_metrics(training.run);
  CATCH_REQUIRE(lines.size() == 4);
  CATCH_CHECK(lines[2].at("train_loss").get<double>() ==
              Approx((expected.losses[2] + expected.losses[3]) / 2).epsilon(1e-4));
  CATCH_CHECK(outcome.progress.spikes.recent.size() == 6);
}

// Each step draws as many numbers, so what comes behind them tells where they began.
CATCH_TEST_CASE("dropout has other masks at every step and for every seed") {
  std::set<double> drawn;
  for (const std::uint64_t seed : {kSeed, kSeed + 1}) {
    Training training;
    training.model = looped_model(/*dropout=*/0.1);
    training.seed = seed;
    training.go(looped());
    CATCH_REQUIRE(training.drawn.size() == 4);  // the first before any step
    drawn.insert(training.drawn.begin() + 1, training.drawn.end());
  }
  CATCH_CHECK(drawn.size() == 6);
}

CATCH_TEST_CASE("every optimiser goes on from a checkpoint to the same bytes") {
  testing::for_each_optimizer([](const auto& kind) {
    auto config = looped();
    config.optimizer = kind;
    Training straight, broken;
    straight.go(config);
    int asked = 0;
    CATCH_CHECK(broken.go(config, [&] { return ++asked == 4; }).end == TrainEnd::kInterrupted);
    broken.model = looped_model();
    CATCH_CHECK(broken.go(config).end == TrainEnd::kFinished);
    CATCH_CHECK(read_sealed_safetensors(broken.run.checkpoint()).data() ==
                read_sealed_safetensors(straight.run.checkpoint()).data());
  });
}

CATCH_TEST_CASE("training whose time is up ends, and whoever resumes it trains no more") {
  auto config = looped();
  config.seconds = 1e-9;  // shorter than any step
  Training training;
  auto outcome = training.go(config);
  CATCH_CHECK(outcome.end == TrainEnd::kFinished);
  CATCH_CHECK(outcome.progress.step == 1);
  CATCH_CHECK(read_metrics(training.run).back().at("step") == 1);
  training.model = looped_model();
  CATCH_CHECK(training.go(config).progress.step == 1);
  config.seconds = 1000;
  Training patient;
  CATCH_CHECK(patient.go(config).progress.step == 6);
}

CATCH_TEST_CASE("the checkpoint of another run is not gone on from unless its training is ours") {
  const auto config = looped();
  Training training;
  training.go(config);
  Optimizer optimizer(*training.model, config);
  const auto load = [&](const RunIdentity& identity) {
    return load_checkpoint(training.run.checkpoint(), identity, optimizer);
  };
  CATCH_CHECK(load({.id = "me", .config = "{}"})->step == 6);
  CATCH_CHECK_THROWS_WITH(load({.id = "other", .config = "{}"}),
                          Contains("belongs to run me, not other"));
  std::string seen;
  const RunIdentity twin{.id = "other", .config = "", .same_training = [&](const auto& text) {
                           seen = text;
                           return true;
                         }};
  CATCH_CHECK(load(twin)->step == 6);
  CATCH_CHECK(seen == "{}");

  // The loop passes over it and begins again, as nothing of it is its own.
  training.identity.id = "other";
  training.model = looped_model();
  training.asked.clear();
  CATCH_CHECK(training.go(config).progress.step == 6);
  check_tensors(read_sealed_safetensors(training.run.checkpoint()), six_steps(config));
  CATCH_CHECK(training.asked.size() == 4);
}

CATCH_TEST_CASE(
    "a checkpoint of another shape, without its progress or without a tensor is refused") {
  const auto config = looped();
  Training training;
  training.go(config);
  const auto path = training.run.checkpoint();
  const auto whole = Safetensors::read(path);
  const auto refusal = [&](auto change) {
    auto tensors = whole.tensors();
    auto metadata = whole.metadata();
    metadata.erase("seal");
    change(tensors, metadata);
    write_file_atomically(path, to_sealed_safetensors(tensors, metadata));
    Optimizer optimizer(*training.model, config);
    return testing::error_of([&] { load_checkpoint(path, training.identity, optimizer); });
  };
  using Tensors = std::vector<TensorBytes>;
  CATCH_CHECK(refusal([](Tensors&, auto&) {}) == "");
  CATCH_CHECK_THAT(
      refusal([](Tensors& all, auto&) { std::swap(all[0].shape[0], all[0].shape[1]); }),
      Contains("tok_embeddings.weight has another shape or type"));
  CATCH_CHECK_THAT(refusal([](Tensors& all, auto&) { all.pop_back(); }),
                   Contains("has no tensor adam.second."));
  CATCH_CHECK_THAT(refusal([](Tensors&, auto& metadata) { metadata.erase("progress"); }),
                   Contains("has no progress in it"));
  CATCH_CHECK_THAT(
      refusal([](Tensors&, auto& metadata) { metadata["progress"] = "{\"step\": 1}"; }),
      Contains("its progress is damaged"));
}

}  // namespace
}  // namespace difflab
