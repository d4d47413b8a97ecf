#include "train/step/loss_weights.h"

#include <ATen/ATen.h>

namespace difflab {
namespace {

// The group of each sequence, [B].
at::Tensor groups_of(const Batch& batch, LossPer per) {
  const auto sequences = batch.inputs.size(0);
  if (per == LossPer::kSequence) return at::arange(sequences, at::kLong);
  const auto groups = at::zeros({sequences}, at::kLong);
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < batch.parts.size(); ++part) {
    groups.narrow(0, begin, batch.parts[part]).fill_(static_cast<std::int64_t>(part));
    begin += batch.parts[part];
  }
  return groups;
}

}  // namespace

Questions questions_of(const Batch& batch, const LossConfig& loss) {
  auto questions = Questions::of(batch.targets);
  if (loss.per == LossPer::kTarget) return questions;
  const auto sequence = questions.where.div(batch.targets.size(1), "floor");  // [n]
  const auto group = groups_of(batch, loss.per).index_select(0, sequence);    // [n]
  const auto sizes = at::bincount(group);                                     // targets of each
  const auto asked = sizes.gt(0).sum().to(at::kDouble);                       // groups that ask
  const auto targets = static_cast<double>(group.size(0));
  questions.weights = targets / (asked * sizes.index_select(0, group).to(at::kDouble));
  return questions;
}

}  // namespace difflab
