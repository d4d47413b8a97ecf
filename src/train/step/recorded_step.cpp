#include "train/step/step.h"
#include "util/error.h"

#ifdef DIFFLAB_CUDA_HEADERS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <optional>

namespace difflab {
namespace {

constexpr std::size_t kGraphs = 8;

class RecordedStep final : public Step {
 public:
  RecordedStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config)
      : model_(model), optimizer_(optimizer), config_(config) {}

  StepFound run(const Batch& batch, double lr) override {
    const auto questions = questions_of(batch, config_.loss);
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
    if (steps < kStepsBeforeRecording) {
      step.work();
    } else {
      if (!graph) record(step, graph);
      graph->replay();
    }
    ++steps;
    return step.found();
  }

 private:
  // A graph keeps the addresses it was recorded with. All that a step reads stays where it is:
  // batch, parameters, gradients and moments, and the model's table of positions, which only a
  // longer sequence than that of training would replace.
  void record(FixedStep& step, std::optional<at::cuda::CUDAGraph>& graph) {
    c10::cuda::CUDACachingAllocator::emptyCache();
    graph.emplace();
    graph->capture_begin(pool_);
    try {
      step.work();
    } catch (...) {
      try {
        graph->capture_end();
      } catch (...) {  // what went wrong first is what counts
      }
      graph.reset();
      throw;
    }
    graph->capture_end();
  }

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
  at::cuda::MempoolId_t pool_ = at::cuda::graph_pool_handle();  // graphs run one at a time
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
      "cuda_graph is true, but difflab was built without CUDA's headers, which come with the CUDA "
      "build of LibTorch; use cuda_graph=false");
}

}  // namespace difflab

#endif
