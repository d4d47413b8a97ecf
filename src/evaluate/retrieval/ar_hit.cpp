#include "evaluate/retrieval/ar_hit.h"

#include <set>

#include "evaluate/base/score_batches.h"

namespace difflab {
namespace {

// Which targets complete an n-gram that lies in their context already: bool [B, T]. Position t
// predicts token t + 1, so its context is tokens 0 … t.
at::Tensor hits_of(const Batch& batch, std::int64_t n) {
  const auto inputs = batch.inputs.cpu(), targets = batch.targets.cpu();
  auto hits = at::zeros(inputs.sizes(), at::kBool);
  const auto T = inputs.size(1);
  for (std::int64_t row = 0; row < inputs.size(0); ++row) {
    const auto* token = inputs[row].data_ptr<std::int64_t>();
    const auto* target = targets[row].data_ptr<std::int64_t>();
    auto* hit = hits[row].data_ptr<bool>();
    std::set<std::vector<std::int64_t>> seen;
    for (std::int64_t t = n - 2; t < T; ++t) {
      std::vector<std::int64_t> gram(token + t - (n - 2), token + t + 1);
      gram.push_back(target[t]);
      hit[t] = !seen.insert(std::move(gram)).second;
    }
  }
  return hits.to(batch.inputs.device());
}

struct Tally {
  double loss = 0;
  std::int64_t count = 0, correct = 0;

  void add(const at::Tensor& losses, const at::Tensor& right, const at::Tensor& which) {
    loss += losses.masked_select(which).to(at::kDouble).sum().item<double>();
    correct += right.logical_and(which).sum().item<std::int64_t>();
    count += which.sum().item<std::int64_t>();
  }
  Json mean_loss() const { return count == 0 ? Json() : Json(loss / static_cast<double>(count)); }
  Json accuracy() const {
    return count == 0 ? Json() : Json(static_cast<double>(correct) / static_cast<double>(count));
  }
};

}  // namespace

EvaluationResult ArHitConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  Tally hits, others;
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    const auto logits = context.model.forward(batch.inputs);  // [B, T, V]
    const auto losses = token_losses(logits, batch.targets);
    const auto right = logits.argmax(-1).eq(batch.targets);
    const auto hit = hits_of(batch, n);
    hits.add(losses, right, hit);
    others.add(losses, right, hit.logical_not());
  });
  const auto all = static_cast<double>(hits.count + others.count);
  EvaluationResult result;
  result.metrics = {{"ar_hit_share", static_cast<double>(hits.count) / all},
                    {"ar_hit_loss", hits.mean_loss()},
                    {"ar_hit_accuracy", hits.accuracy()},
                    {"others_loss", others.mean_loss()},
                    {"others_accuracy", others.accuracy()}};
  result.details = {{"n", n}, {"hits", hits.count}, {"others", others.count}};
  return result;
}

}  // namespace difflab
