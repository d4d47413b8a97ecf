#include "evaluate/inside/activation_outliers.h"

#include <cmath>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

// Sizes that are 0 or below the first edge lie in the first bin, those above the last in the last.
constexpr int kLowestExponent = -12, kHighestExponent = 12;

/// The sizes of one kind of activation.
class Sizes {
 public:
  void add(const at::Tensor& values) { parts_.push_back(values.abs().flatten().cpu()); }

  void describe(const std::string& activation, EvaluationResult& result, Json& cells) const {
    if (parts_.empty()) return;  // an attention without softmax maps has no logits
    const auto sizes = at::cat(parts_);
    const auto top = std::get<0>(sizes.topk(std::min<std::int64_t>(100, sizes.numel())));
    for (const std::int64_t rank : {1, 2, 3, 10, 100}) {
      if (rank > top.numel()) break;
      cells.push_back({{"part", "top"},
                       {"activation", activation},
                       {"rank", rank},
                       {"value", top[rank - 1].item<double>()}});
    }
    const double median = sizes.median().item<double>();
    cells.push_back({{"part", "median"}, {"activation", activation}, {"value", median}});
    result.metrics[activation + "_top1"] = top[0].item<double>();
    result.metrics[activation + "_median"] = median;
    add_histogram(sizes, activation, cells);
  }

 private:
  static void add_histogram(const at::Tensor& sizes, const std::string& activation, Json& cells) {
    constexpr int kBins = kHighestExponent - kLowestExponent;
    const auto bins = sizes.log2().floor().clamp(kLowestExponent, kHighestExponent - 1);
    const auto counts = at::bincount((bins - kLowestExponent).to(at::kLong), {}, kBins);
    for (int bin = 0; bin < kBins; ++bin) {
      cells.push_back({{"part", "histogram"},
                       {"activation", activation},
                       {"low", std::exp2(kLowestExponent + bin)},
                       {"high", std::exp2(kLowestExponent + bin + 1)},
                       {"share", counts[bin].item<double>() / static_cast<double>(sizes.numel())}});
    }
  }

  std::vector<at::Tensor> parts_;
};

}  // namespace

EvaluationResult ActivationOutliersConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  Sizes logits, hidden;
  const auto hooks = hooks_in<WithLogitHook>(context.model, [&](const at::Tensor& all) {
    logits.add(all.masked_select(all.isfinite()));
    return all;
  });
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    context.model.observe(batch.inputs, [&](const LayerView& view) { hidden.add(view.output); });
  });
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  logits.describe("logit", result, cells);
  hidden.describe("hidden", result, cells);
  return result;
}

}  // namespace difflab
