// A run as a pure function of its configuration.
#include "experiment/run_experiment.h"

#include <ATen/ATen.h>

#include <iostream>
#include <sstream>

#include "model/language_model.h"
#include "record/provenance.h"
#include "support/problems.h"
#include "support/small_runs.h"
#include "task/base/task.h"
#include "train/checkpoint.h"

namespace difflab {
namespace {

using testing::Outcome, testing::outcome_of, testing::without_times;

RunConfig small_run() {
  auto config = testing::smallest_run();
  config.train.steps = 12;
  config.train.eval_every = 5;
  config.evaluate = {HeldoutConfig{.samples = 16},
                     NeedleGridConfig{.depths = {0, 100}, .samples = 4}};
  return config;
}

Outcome run_undisturbed(const RunConfig& config) {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  CATCH_REQUIRE(run_experiment(config, run, [] { return false; }) == RunEnd::kComplete);
  return outcome_of(run);
}

CATCH_TEST_CASE("the same configuration gives the same metrics and result, bit for bit") {
  const auto first = run_undisturbed(small_run()), second = run_undisturbed(small_run());
  CATCH_CHECK(first.result.dump() == second.result.dump());
  CATCH_CHECK(first.metrics.dump() == second.metrics.dump());
  CATCH_CHECK(first.metrics.size() == 4);  // steps 0, 5, 10, 12
  CATCH_CHECK(first.result["status"] == "finished");
  CATCH_CHECK(first.result["id"] == run_id(small_run()));
  CATCH_CHECK(first.result["metrics"]["steps"] == 12);
  CATCH_CHECK(first.result["censored"]["steps_to_90_accuracy"] == 12);

  auto other_seed = small_run();
  other_seed.seed = 1;
  CATCH_CHECK(run_undisturbed(other_seed).metrics.dump() != first.metrics.dump());
}

CATCH_TEST_CASE("a run that is interrupted at any step ends as if it had not been") {
  const auto expected = run_undisturbed(small_run());
  for (int stop_at = 0; stop_at <= 12; ++stop_at) {
    CATCH_INFO("interrupted after " << stop_at << " steps");
    const testing::TemporaryFolder folder;
    const RunDirectory run{folder.path()};
    const auto end = run_experiment(small_run(), run, testing::stop_after(stop_at));
    CATCH_REQUIRE(end == (stop_at < 12 ? RunEnd::kInterrupted : RunEnd::kComplete));
    if (end == RunEnd::kInterrupted) {
      CATCH_CHECK_FALSE(read_result(run));
      CATCH_CHECK((*read_status(run))["state"] == "interrupted");
      CATCH_CHECK(session_seconds(*read_provenance(run)));  // its time counts, too
      CATCH_REQUIRE(run_experiment(small_run(), run, [] { return false; }) == RunEnd::kComplete);
      CATCH_CHECK_FALSE(read_provenance(run)->contains("stopped"));
    }
    const auto found = outcome_of(run);
    CATCH_CHECK(found.result.dump() == expected.result.dump());
    CATCH_CHECK(found.metrics.dump() == expected.metrics.dump());
  }
}

CATCH_TEST_CASE("a damaged checkpoint costs time, not the result") {
  const auto expected = run_undisturbed(small_run());
  for (const std::size_t position : {3U, 200U, 5'000U, 20'000U}) {
    const testing::TemporaryFolder folder;
    const RunDirectory run{folder.path()};
    run_experiment(small_run(), run, testing::stop_after(7));
    auto bytes = read_file(run.checkpoint());
    CATCH_REQUIRE(bytes.size() > 20'000);
    bytes[position] = static_cast<char>(bytes[position] ^ 0x10);
    write_file_atomically(run.checkpoint(), bytes);
    run_experiment(small_run(), run, [] { return false; });
    CATCH_INFO("byte " << position);
    CATCH_CHECK(outcome_of(run).result.dump() == expected.result.dump());
    CATCH_CHECK(outcome_of(run).metrics.dump() == expected.metrics.dump());
  }
}

// What the run prints while it continues.
std::string said_while_finishing(const RunConfig& config, const RunDirectory& run) {
  std::ostringstream said;
  auto* const before = std::cout.rdbuf(said.rdbuf());
  run_experiment(config, run, [] { return false; });
  std::cout.rdbuf(before);
  return said.str();
}

CATCH_TEST_CASE("for a damaged checkpoint stands the one before, or step 0, and that is said") {
  const auto expected = run_undisturbed(small_run());
  auto config = small_run();
  config.train.checkpoint_steps = 3;
  const testing::TemporaryFolder folder, second;
  const RunDirectory run{folder.path()};
  run_experiment(config, run, testing::stop_after(8));  // saved at 3, 6 and, stopped, at 8
  CATCH_REQUIRE(std::filesystem::exists(previous_checkpoint(run.checkpoint())));
  write_file_atomically(run.checkpoint(), "no checkpoint at all");
  const auto said = said_while_finishing(config, run);
  CATCH_CHECK_THAT(said, Contains("skipping a checkpoint: ") &&
                             Contains("checkpoint.safetensors") && Contains("resuming at step 6"));
  CATCH_CHECK(outcome_of(run).result.dump() == expected.result.dump());
  CATCH_CHECK(outcome_of(run).metrics.dump() == expected.metrics.dump());
  CATCH_CHECK_FALSE(std::filesystem::exists(previous_checkpoint(run.checkpoint())));
  const RunDirectory other{second.path()};
  run_experiment(config, other, testing::stop_after(8));
  for (const auto& path : {other.checkpoint(), previous_checkpoint(other.checkpoint())}) {
    auto bytes = read_file(path);
    bytes.resize(bytes.size() - 1);
    write_file_atomically(path, bytes);
  }
  CATCH_CHECK_THAT(said_while_finishing(config, other), Contains("starting from step 0"));
  CATCH_CHECK(outcome_of(other).result.dump() == expected.result.dump());
}

CATCH_TEST_CASE("a run saves its state by time, too") {
  for (const bool often : {true, false}) {
    auto config = small_run();
    config.train.checkpoint_seconds = often ? 0 : 1e9;
    const testing::TemporaryFolder folder;
    const RunDirectory run{folder.path()};
    run_experiment(config, run, testing::stop_after(8));  // stopped at 8, which saves
    CATCH_CHECK(std::filesystem::exists(run.checkpoint()));
    CATCH_CHECK(std::filesystem::exists(previous_checkpoint(run.checkpoint())) == often);
  }
}

CATCH_TEST_CASE("a run that was taken over writes nothing more and has no result") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path() / "run"};
  auto lease = Lease::acquire(run, [] { return false; });
  int asked = 0;
  std::string metrics;
  const auto overtake = [&] {
    if (asked++ == 3) {
      std::ofstream(run.claims() / std::to_string(lease->epoch() + 1)) << "held elsewhere\n";
      metrics = read_file(run.metrics());
    }
    return false;
  };
  CATCH_CHECK_THROWS_AS(run_experiment(small_run(), run, overtake, lease.get()), LeaseLost);
  CATCH_CHECK(read_file(run.metrics()) == metrics);
  CATCH_CHECK_FALSE(std::filesystem::exists(run.checkpoint()));
  CATCH_CHECK_FALSE(std::filesystem::exists(run.result()));
}

CATCH_TEST_CASE("a loss that is not finite ends the run as diverged, with its step") {
  auto config = small_run();
  config.train.lr = 1e30;
  config.train.grad_clip = 0;
  const auto outcome = run_undisturbed(config);
  CATCH_CHECK(outcome.result["status"] == "diverged");
  CATCH_CHECK(outcome.result["diverged_at_step"].get<int>() > 1);
  CATCH_CHECK(outcome.result["diverged_at_step"].get<int>() <= 12);
  CATCH_CHECK(outcome.result["metrics"].contains("parameters"));
  CATCH_CHECK_FALSE(outcome.result["metrics"].contains("test_loss"));
}

CATCH_TEST_CASE("weights that overflow in the very last update are a diverged run, too") {
  auto config = small_run();
  config.train.lr = 1e30;
  config.train.steps = 1;
  config.train.warmup_steps = 0;
  const auto outcome = run_undisturbed(config);
  CATCH_CHECK(outcome.result["status"] == "diverged");
  CATCH_CHECK(outcome.result["diverged_at_step"] == 1);
  CATCH_CHECK_FALSE(outcome.result["metrics"].contains("test_loss"));
}

CATCH_TEST_CASE("whatever can change the result changes the run's name, nothing else does") {
  const auto base = run_id(small_run());
  CATCH_CHECK(base.size() == 16);
  const auto with = [&](auto change) {
    auto config = small_run();
    change(config);
    return run_id(config);
  };
  CATCH_CHECK(with([](RunConfig& c) { c.model.name = "another label"; }) == base);
  CATCH_CHECK(with([](RunConfig& c) { c.train.checkpoint_seconds = 1; }) == base);
  CATCH_CHECK(with([](RunConfig& c) { c.train.checkpoint_steps = 7; }) == base);
  CATCH_CHECK(with([](RunConfig& c) { c.seed = 1; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.threads = 2; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.train.lr *= 1.0000001; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.evaluate.pop_back(); }) != base);
  CATCH_CHECK(with([](RunConfig& c) {
                c.model.attention =
                    DifferentialAttentionConfig{.heads = 1, .lambda_init = LambdaInit(0.8)};
              }) != base);
}

CATCH_TEST_CASE("keys that came later leave the names of finished runs alone") {
  // A change of this name makes every lab train again what it has.
  CATCH_CHECK(run_id(small_run()) == "e54c7b81423e47b5");
  auto config = small_run();
  config.kernels = Kernels::kPlain;
  const auto plain = run_id(config);
  config.precision = Precision::kBfloat16;
  CATCH_CHECK(run_id(config) != plain);
  config.precision = Precision::kFloat32;
  config.device = Device::kCuda;
  const auto cuda = run_id(config);
  config.cuda_graph = true;
  CATCH_CHECK(run_id(config) != cuda);
}

CATCH_TEST_CASE("a run in bfloat16 is another run, and the same one each time") {
  auto config = small_run();
  config.kernels = Kernels::kPlain;
  const auto float32 = run_undisturbed(config);
  config.precision = Precision::kBfloat16;
  const auto first = run_undisturbed(config), second = run_undisturbed(config);
  CATCH_CHECK(first.metrics.dump() == second.metrics.dump());
  CATCH_CHECK(first.result.dump() == second.result.dump());
  const auto loss = [](const Outcome& outcome) {
    return outcome.result["metrics"]["test_loss"].get<double>();
  };
  CATCH_CHECK(loss(first) != loss(float32));
  CATCH_CHECK(loss(first) == Approx(loss(float32)).epsilon(0.02));
}

CATCH_TEST_CASE("what a device cannot do is refused before anything runs") {
  const auto problems = [](auto change) {
    auto config = small_run();
    change(config);
    return testing::Problems::of(config);
  };
  CATCH_CHECK(problems([](RunConfig&) {}).empty());
  CATCH_CHECK_THAT(problems([](RunConfig& c) { c.precision = Precision::kBfloat16; }),
                   Catch::StartsWith("precision is bfloat16, which the CPU kernels"));
  CATCH_CHECK_THAT(problems([](RunConfig& c) { c.cuda_graph = true; }),
                   Catch::StartsWith("cuda_graph is true without device: cuda"));
  CATCH_CHECK_THAT(problems([](RunConfig& c) {
                     c.device = Device::kCuda;
                     c.cuda_graph = true;
                     c.model.dropout = 0.1;
                   }),
                   Catch::StartsWith("cuda_graph is true with model.dropout 0.1"));
  CATCH_CHECK_THAT(problems([](RunConfig& c) {
                     c.device = Device::kCuda;
                     c.cuda_graph = true;
                     c.train.recompute = true;
                   }),
                   Catch::StartsWith("cuda_graph is true with train.recompute"));
}

CATCH_TEST_CASE(
    "all variants of a seed start from the same values where they have the same parts") {
  const auto initialised = [](AttentionConfig attention, std::uint64_t seed) {
    const ModelConfig config{.d_model = 16, .layers = 2, .attention = std::move(attention)};
    auto model = std::make_shared<LanguageModel>(config, 40);
    initialise(*model, config, seed);
    return model;
  };
  const auto transformer = initialised(SoftmaxAttentionConfig{.heads = 2}, 3);
  const auto diff = initialised(DifferentialAttentionConfig{.heads = 1}, 3);
  const auto other = initialised(SoftmaxAttentionConfig{.heads = 2}, 4);
  const auto twins = diff->named_parameters();
  int shared = 0;
  for (const auto& parameter : transformer->named_parameters()) {
    const auto* twin = twins.find(parameter.key());
    if (twin == nullptr) continue;
    ++shared;
    CATCH_INFO(parameter.key());
    CATCH_CHECK(parameter.value().equal(*twin));
    if (parameter.value().dim() == 2) {
      CATCH_CHECK_FALSE(parameter.value().equal(other->named_parameters()[parameter.key()]));
    }
  }
  CATCH_CHECK(shared == 2 + 1 + 2 * (2 + 4 + 3));
}

}  // namespace
}  // namespace difflab
