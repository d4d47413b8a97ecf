// What runs need of memory, before any of them starts.
#include "run/memory.h"

#include <sys/wait.h>

#include <exception>
#include <iostream>

#include "model/language_model.h"
#include "model/score.h"
#include "support/small_runs.h"
#include "task/base/task.h"

namespace difflab {
namespace {

RunConfig sizeable(Kernels kernels, AttentionConfig attention) {
  auto config = testing::smallest_run();
  config.kernels = kernels;
  config.model.d_model = 64;
  config.model.layers = 3;
  config.model.attention = std::move(attention);
  config.task = NeedleConfig{.length = 768};
  config.train.batch_size = 6;
  return config;
}

double resident_mib(const char* key) {  // VmHWM, RssAnon, RssFile
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stod(line.substr(line.find(':') + 1)) / 1024;
  }
  return 0;
}

// By how many MiB this process grows when it computes a loss and its gradients, without the pages
// of libraries, of which a kernel may map 2 MiB at once.
double growth_here(const RunConfig& config) {
  at::set_num_threads(1);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
  const double before = resident_mib("RssAnon");
  const auto task = build_task(config.task);
  LanguageModel model(config.model, task->vocab_size(), config.kernels);
  initialise(model, config.model, 0);
  model.recompute_blocks(config.train.recompute);
  const auto batch = task->batch(0, Split::kTrain, 0, config.train.batch_size);
  mean_loss(model, batch.inputs, batch.targets).backward();
  return resident_mib("VmHWM") - resident_mib("RssFile") - before;
}

// The same of a process of its own, which leaves nothing behind in this one.
double growth_of_a_step(const RunConfig& config) {
  int ends[2];
  CATCH_REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const double growth = growth_here(config);
      ::_exit(::write(ends[1], &growth, sizeof growth) == sizeof growth ? 0 : 1);
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
    }
    ::_exit(1);
  }
  ::close(ends[1]);  // so that a child that wrote nothing is no wait without an end
  double growth = 0;
  const auto got = ::read(ends[0], &growth, sizeof growth);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  CATCH_REQUIRE(got == sizeof growth);
  return growth;
}

CATCH_TEST_CASE("a step takes at least the memory that is asked for before it") {
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    for (const AttentionConfig& attention :
         {AttentionConfig(SoftmaxAttentionConfig{.heads = 4}),
          AttentionConfig(DifferentialAttentionConfig{.heads = 2}),
          AttentionConfig(DifferentialV2Config{.heads = 4})}) {
      const auto config = sizeable(kernels, attention);
      const auto need = least_memory(config, false).front();
      const double mib = need.bytes / (1 << 20), taken = growth_of_a_step(config);
      CATCH_INFO(need.text << ": at least " << mib << " MiB, took " << taken);
      CATCH_CHECK(mib < taken);
      CATCH_CHECK(mib > 0.25 * taken);  // nor is it so little that it finds nothing
    }
  }
}

CATCH_TEST_CASE("blocks that are computed once more take less memory than blocks that are kept") {
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    auto config = sizeable(kernels, DifferentialAttentionConfig{.heads = 2});
    config.model.layers = 8;
    const double kept = growth_of_a_step(config);
    config.train.recompute = true;
    const double again = growth_of_a_step(config);
    const double mib = least_memory(config, false).front().bytes / (1 << 20);
    CATCH_INFO("kept " << kept << " MiB, computed again " << again << ", at least " << mib);
    CATCH_CHECK(again < 0.65 * kept);  // a block needs as much as before
    CATCH_CHECK(mib < again);
    CATCH_CHECK(mib > 0.1 * again);
  }
}

CATCH_TEST_CASE("what does not fit is named with its key, the stage and what there is") {
  auto config = sizeable(Kernels::kPlain, SoftmaxAttentionConfig{.heads = 4});
  config.evaluate = {HeldoutConfig{},
                     NeedleGridConfig{.lengths = {512, 65'536}, .depths = {0}, .samples = 1}};
  const double gib = 1 << 30;
  CATCH_CHECK_FALSE(lacks_memory(config, false, 1'000 * gib));
  const auto lack = lacks_memory(config, false, 16 * gib);
  CATCH_REQUIRE(lack);
  CATCH_CHECK_THAT(*lack, Catch::Matchers::StartsWith(
                              "evaluate[1] asks for a sequence of 65536 tokens, which takes "
                              "at least 128.") &&
                              Catch::Matchers::EndsWith("a run here has 16 GiB"));
  CATCH_CHECK(lacks_memory(config, true, 16 * gib) == lack);

  // Weights that are asked are not trained, whatever their batch would take.
  auto asked = config;
  asked.evaluate = {HeldoutConfig{}};
  const auto trained = least_memory(asked, false);
  asked.train.steps = 0;
  CATCH_CHECK(trained.size() == 2);
  CATCH_CHECK(least_memory(asked, false).size() == 1);

  config.kernels = Kernels::kFused;  // keeps no maps
  CATCH_CHECK_FALSE(lacks_memory(config, false, 16 * gib));

  config.kernels = Kernels::kPlain;
  config.evaluate.clear();
  CATCH_CHECK(lacks_memory(config, false, 0.01 * gib)->starts_with("train.batch_size asks for "));
  CATCH_CHECK_FALSE(lacks_memory(config, true, 0.01 * gib));  // it is not trained again

  config.stages = {{.task = NeedleConfig{.length = 32'768}, .train = config.train}};
  CATCH_CHECK_THAT(*lacks_memory(config, false, 16 * gib),
                   Catch::Matchers::StartsWith(
                       "stages[0].train.batch_size asks for training 6 sequences of 32768"));

  config.device = Device::kCuda;
  CATCH_CHECK(least_memory(config, false).empty());
}

}  // namespace
}  // namespace difflab
