#include "evaluate/inside/lambda_distribution.h"

#include <cmath>
#include <map>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

void add_heads(const at::Tensor& lambdas, std::int64_t layer, Json& cells) {  // [n, H]
  for (std::int64_t head = 0; head < lambdas.size(1); ++head) {
    const auto sorted = std::get<0>(lambdas.select(1, head).sort());
    const auto quantile = [&](double share) {
      const auto last = static_cast<double>(sorted.size(0) - 1);
      return sorted[std::llround(share * last)].item<double>();
    };
    cells.push_back({{"part", "head"},
                     {"layer", layer},
                     {"head", head},
                     {"mean", sorted.mean().item<double>()},
                     {"sd", sorted.std(/*unbiased=*/false).item<double>()},
                     {"low", quantile(0.05)},
                     {"high", quantile(0.95)}});
  }
}

void add_histogram(const at::Tensor& lambdas, std::int64_t layer, std::int64_t bins, Json& cells) {
  const double low = lambdas.min().item<double>(), high = lambdas.max().item<double>();
  const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
  const auto bin = ((lambdas.flatten() - low) / width).floor().clamp(0, bins - 1).to(at::kLong);
  const auto counts = at::bincount(bin, {}, bins);
  for (std::int64_t i = 0; i < bins; ++i) {
    cells.push_back({{"part", "histogram"},
                     {"layer", layer},
                     {"low", low + width * static_cast<double>(i)},
                     {"high", low + width * static_cast<double>(i + 1)},
                     {"share", counts[i].item<double>() / static_cast<double>(lambdas.numel())}});
  }
}

}  // namespace

EvaluationResult LambdaDistributionConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  std::map<std::int64_t, std::vector<at::Tensor>> parts;  // layer -> [B·T, H]
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    context.model.observe(batch.inputs, [&](const LayerView& view) {
      const auto lambdas = view.attention.lambdas(view.attention_input);
      if (!lambdas.defined()) return;
      parts[view.layer].push_back(lambdas.flatten(0, 1).to(at::kDouble).cpu());
    });
  });
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  std::vector<at::Tensor> all;
  for (const auto& [layer, found] : parts) {
    const auto lambdas = at::cat(found);
    add_heads(lambdas, layer, cells);
    add_histogram(lambdas, layer, bins, cells);
    all.push_back(lambdas.flatten());
  }
  if (!all.empty()) {
    const auto lambdas = at::cat(all);
    result.metrics["lambda_mean"] = lambdas.mean().item<double>();
    result.metrics["lambda_sd"] = lambdas.std(/*unbiased=*/false).item<double>();
  }
  return result;
}

}  // namespace difflab
