#include "evaluate/speed/throughput.h"

#include <ATen/ATen.h>

#include <memory>

#include "config/schema/traits.h"
#include "evaluate/speed/timing.h"
#include "model/cost.h"
#include "model/language_model.h"
#include "model/score.h"
#include "task/base/task.h"

namespace difflab {
namespace {

struct Case {
  std::string kernels, pass;
  std::function<void()> run;
  double operations;
  std::optional<double> memory_mib = {};
  std::vector<double> seconds = {};
};

/// A copy of the context's model that uses these kernels.
std::shared_ptr<LanguageModel> copy_of(const EvaluationContext& context, Kernels kernels) {
  const at::NoGradGuard no_grad;
  auto copy =
      std::make_shared<LanguageModel>(context.model.config(), context.task.vocab_size(), kernels);
  auto parameters = copy->named_parameters();
  for (const auto& parameter : context.model.named_parameters()) {
    parameters[parameter.key()].copy_(parameter.value());
  }
  copy->set_precision(context.model.precision());
  copy->to(context.model.parameters().front().device());
  copy->eval();
  return copy;
}

std::vector<Case> cases_of(const EvaluationContext& context, const std::vector<Kernels>& all,
                           const at::Tensor& tokens) {
  const auto B = tokens.size(0), T = tokens.size(1) - 1;
  const auto inputs = tokens.narrow(1, 0, T), targets = tokens.narrow(1, 1, T);
  const auto forward = static_cast<double>(
      B *
      count_flops(context.model.config(), context.task.vocab_size(), T, Masking::kCausal).total());
  std::vector<Case> cases;
  for (const auto kernels : all) {
    const bool unknown = context.model.precision() == Precision::kBfloat16 && inputs.is_cpu();
    if (uses_kernels(kernels) && unknown) continue;  // as RunConfig has it
    const auto name = config::name_of(kernels);
    const auto model = copy_of(context, kernels);
    cases.push_back({name, "forward",
                     [model, inputs, targets] {
                       const at::NoGradGuard no_grad;
                       mean_loss(*model, inputs, targets).item<double>();
                     },
                     forward});
    cases.push_back({name, "training",
                     [model, inputs, targets] {
                       model->zero_grad();
                       const auto loss = mean_loss(*model, inputs, targets);
                       loss.backward();
                       loss.item<double>();
                     },
                     3 * forward});
  }
  return cases;
}

}  // namespace

EvaluationResult ThroughputConfig::run(const EvaluationContext& context) const {
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  const auto like = context.model.parameters().front();
  SgemmPeak peak(like);
  const auto trained = context.task.sequence_length();
  for (const auto T : lengths.empty() ? std::vector{trained} : lengths) {
    const auto B = std::max<std::int64_t>(1, this->tokens / T);
    auto cases = cases_of(
        context, kernels,
        at::randint(context.task.vocab_size(), {B, T + 1}, like.options().dtype(at::kLong)));
    std::vector<double> peaks;
    for (auto& one : cases) {
      one.run();  // warm up
      if (like.device().is_cpu()) one.memory_mib = peak_mib_of(one.run);
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (auto& one : cases) one.seconds.push_back(seconds_of(one.run));
      peaks.push_back(peak.measure());
    }
    const double best = spread_of(peaks).median;
    for (const auto& one : cases) {
      const auto seconds = spread_of(one.seconds);
      const auto tokens_of_batch = static_cast<double>(B * T);
      cells.push_back({{"length", T},
                       {"kernels", one.kernels},
                       {"pass", one.pass},
                       {"sequences", B},
                       {"tokens_per_second", tokens_of_batch / seconds.median},
                       {"tokens_per_second_low", tokens_of_batch / seconds.high},
                       {"tokens_per_second_high", tokens_of_batch / seconds.low},
                       {"operations_per_token", one.operations / tokens_of_batch},
                       {"share_of_sgemm", one.operations / seconds.median / best},
                       {"memory_mib", one.memory_mib ? Json(*one.memory_mib) : Json()}});
      if (one.kernels != "fused") continue;
      result.metrics[concat(one.pass, "_tokens_per_second_t", T)] =
          cells.back()["tokens_per_second"];
      if (one.pass != "training") continue;
      result.metrics[concat("training_memory_mib_t", T)] = cells.back()["memory_mib"];
    }
  }
  return result;
}

}  // namespace difflab
