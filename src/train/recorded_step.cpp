#include "train/recorded_step.h"

#include "util/error.h"

#ifdef DIFFLAB_CUDA_HEADERS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <optional>

namespace difflab {
namespace {

// The library looks up its routines and sets up their memory in the first steps, which cannot be
// recorded.
constexpr int kStepsBefore = 3;
constexpr std::size_t kGraphs = 8;

class RecordedStep final : public Step {
 public:
  RecordedStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config)
      : model_(model), optimizer_(optimizer), config_(config) {}

  StepFound run(const Batch& batch, double lr) override {
    const auto questions = Questions::of(batch.targets);
    const auto sizes = std::pair{batch.inputs.sizes().vec(), questions.where.size(0)};
    // Evaluations work in the default stream; what they read must not change, nor be half done.
    c10::cuda::getDefaultCUDAStream().synchronize();
    const c10::cuda::CUDAStreamGuard guard(stream_);
    auto place = shapes_.find(sizes);
    if (place == shapes_.end() && shapes_.size() == kGraphs) {
      FixedStep once(model_, optimizer_, config_, batch, questions);
      once.load(batch, questions, lr);
      once.work();
      return once.found();
    }
    if (place == shapes_.end()) {
      place = shapes_.try_emplace(sizes, model_, optimizer_, config_, batch, questions).first;
    }
    auto& [step, graph, steps] = place->second;
    step.load(batch, questions, lr);
    if (steps < kStepsBefore) {
      step.work();
    } else {
      if (!graph) {
        graph.emplace();
        graph->capture_begin();
        step.work();
        graph->capture_end();
      }
      graph->replay();
    }
    ++steps;
    return step.found();
  }

 private:
  struct Shape {
    template <class... Of>
    explicit Shape(Of&&... of) : step(std::forward<Of>(of)...) {}
    FixedStep step;
    std::optional<at::cuda::CUDAGraph> graph = {};
    int steps = 0;
  };

  LanguageModel& model_;
  Optimizer& optimizer_;
  const TrainConfig& config_;
  c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
  std::map<std::pair<std::vector<std::int64_t>, std::int64_t>, Shape> shapes_;
};

}  // namespace

std::unique_ptr<Step> recorded_step(LanguageModel& model, Optimizer& optimizer,
                                    const TrainConfig& config) {
  return std::make_unique<RecordedStep>(model, optimizer, config);
}

}  // namespace difflab

#else

namespace difflab {

std::unique_ptr<Step> recorded_step(LanguageModel&, Optimizer&, const TrainConfig&) {
  throw UserError(
      "cuda_graph is true, but difflab was built without CUDA's headers (cuda_runtime_api.h), "
      "which "
      "the CUDA build of LibTorch brings; use cuda_graph=false");
}

}  // namespace difflab

#endif
