#include "evaluate/language/heldout.h"

#include <ATen/ATen.h>

#include <vector>

#include "evaluate/base/score_batches.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"

namespace difflab {

namespace {

struct PartScore {
  TaskPart part;
  Score score;
};

std::vector<PartScore> score_parts(const EvaluationContext& context, Split split,
                                   std::int64_t samples) {
  std::vector<PartScore> scores;
  for (const auto& part : context.task.parts()) {
    scores.push_back({part, score_batches(context.model, *part.task, context.seed, split, samples,
                                          context.lanes)});
  }
  return scores;
}

double mixture_loss(const std::vector<PartScore>& scores) {
  double loss = 0;
  for (const auto& [part, score] : scores) loss += part.share * score.loss();
  return loss;
}

}  // namespace

Json validation_metrics(const EvaluationContext& context, std::int64_t samples) {
  const auto scores = score_parts(context, Split::kValid, samples);
  Json metrics = {{"valid_accuracy", scores.front().score.accuracy()},
                  {"valid_loss", mixture_loss(scores)}};
  for (const auto& [part, score] : scores) {
    metrics[concat("valid_", part.name, "_accuracy")] = score.accuracy();
    metrics[concat("valid_", part.name, "_loss")] = score.loss();
  }
  return metrics;
}

EvaluationResult HeldoutConfig::run(const EvaluationContext& context) const {
  const auto scores = score_parts(context, Split::kTest, samples);
  EvaluationResult result;
  result.metrics["test_loss"] = mixture_loss(scores);
  for (const auto& [part, score] : scores) {
    result.metrics[concat(part.name, "_accuracy")] = score.accuracy();
    result.metrics[concat(part.name, "_loss")] = score.loss();
    if (const auto entropy = part.task->entropy()) {
      result.metrics[concat(part.name, "_loss_excess")] = score.loss() - *entropy;
    }
    result.metrics[concat(part.name, "_accuracy_chance")] = part.task->chance_accuracy();
    const auto interval = wilson_interval(score.correct, score.targets);
    result.details[part.name] = {{"sequences", score.sequences},  {"n", score.targets},
                                 {"correct", score.correct},      {"accuracy", score.accuracy()},
                                 {"accuracy_low", interval->low}, {"accuracy_high", interval->high},
                                 {"loss", score.loss()}};
  }
  return result;
}

}  // namespace difflab
