#include "evaluate/heads/sparse_attention.h"

#include <atomic>
#include <memory>

#include "evaluate/base/score_batches.h"
#include "evaluate/heads/prune.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

struct SparseScore {
  Score score;
  double kept = 1;
};

// At threshold 0 the model is asked as it is.
SparseScore score_above(const EvaluationContext& context, const SparseAttentionConfig& config,
                        double threshold) {
  std::atomic<std::int64_t> kept = 0, all = 0;  // whole numbers, whose sums know no order
  std::vector<std::unique_ptr<WithWeightHook>> hooks;
  if (threshold > 0) {
    hooks = hooks_in<WithWeightHook>(context.model, [&](const at::Tensor& weights) {
      const auto large = largest_weights(weights, threshold);
      kept += large.sum().item<std::int64_t>();
      all += largest_weights(weights, 0).sum().item<std::int64_t>();
      return prune(weights, large, config.renormalise);
    });
  }
  const auto score = score_batches(context, *context.task.parts().front().task, config.samples);
  if (threshold == 0) return {score};
  return {score, static_cast<double>(kept) / static_cast<double>(all)};
}

}  // namespace

EvaluationResult SparseAttentionConfig::run(const EvaluationContext& context) const {
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  const double chance = context.task.chance_accuracy();
  std::vector<double> all{0};
  std::copy_if(thresholds.begin(), thresholds.end(), std::back_inserter(all),
               [](double threshold) { return threshold > 0; });
  double accuracy = 0, needed = 1;
  for (const auto threshold : all) {
    const auto [score, kept] = score_above(context, *this, threshold);
    if (threshold == 0) accuracy = score.accuracy();
    if (score.accuracy() >= accuracy - tolerance) needed = std::min(needed, kept);
    Json cell{{"threshold", threshold}, {"kept", kept}};
    cell.update(cell_of(score, samples, chance));
    cells.push_back(std::move(cell));
  }
  result.metrics = {{"accuracy_all_weights", accuracy},
                    {"accuracy_all_weights_chance", chance},
                    {"weights_needed", needed}};
  return result;
}

}  // namespace difflab
