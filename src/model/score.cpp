#include "model/score.h"

#include <ATen/ATen.h>

#include "kernel/operation/fused_rows.h"
#include "model/language_model.h"

namespace difflab {
namespace {

// A loss needs more digits than a projection in bfloat16 has.
at::Tensor wide(const at::Tensor& logits) {
  return logits.to(at::promote_types(logits.scalar_type(), at::kFloat));
}

// The end of the model is computed where something is asked, not for every token: [n, V].
at::Tensor answers(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& where) {
  return wide(model.head(model.hidden_at(inputs, where)));
}

}  // namespace

Questions Questions::of(const at::Tensor& targets) {
  const auto flat = targets.flatten();
  const auto where = at::nonzero(flat >= 0).squeeze(-1);
  return {where, flat.index_select(0, where)};
}

Questions Questions::to(const at::Device& device) const {
  return {where.to(device), targets.to(device), weights.defined() ? weights.to(device) : weights};
}

at::Tensor mean_loss(LanguageModel& model, const at::Tensor& inputs, const Questions& questions) {
  const auto logits = answers(model, inputs, questions.where);
  const bool fused = uses_kernels(model.kernels()) && kernel::takes_rows(logits);
  const auto& [where, targets, weights] = questions;
  if (fused) return kernel::mean_cross_entropy(logits, targets, weights);
  if (!weights.defined()) return at::cross_entropy_loss(logits, targets);
  const auto losses = at::cross_entropy_loss(logits, targets, {}, at::Reduction::None);
  return (losses * weights.to(losses.scalar_type())).mean();
}

at::Tensor mean_loss(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& targets) {
  return mean_loss(model, inputs, Questions::of(targets));
}

at::Tensor token_losses(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(wide(logits).flatten(0, 1), targets.flatten(), {},
                                at::Reduction::None)
      .view_as(targets);
}

Score& Score::operator+=(const Score& other) {
  sequences += other.sequences;
  targets += other.targets;
  correct += other.correct;
  all_correct += other.all_correct;
  loss_sum += other.loss_sum;
  return *this;
}

Score score_of(const at::Tensor& logits, const Questions& asked, at::IntArrayRef shape) {
  const auto row = asked.where.div(shape[1], "floor");  // [n], the sequence of each
  const auto wrong = logits.argmax(-1).ne(asked.targets).to(at::kLong);  // [n]
  const auto wrong_in_row = at::zeros({shape[0]}, wrong.options()).index_add(0, row, wrong);
  Score result;
  result.sequences = shape[0];
  result.targets = asked.targets.size(0);
  result.correct = result.targets - wrong.sum().item<std::int64_t>();
  result.all_correct = wrong_in_row.eq(0).sum().item<std::int64_t>();
  result.loss_sum =
      at::cross_entropy_loss(wide(logits), asked.targets, {}, at::Reduction::Sum).item<double>();
  return result;
}

Score score(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  const EvaluationMode no_dropout(model);
  const auto asked = Questions::of(targets);
  return score_of(answers(model, inputs, asked.where), asked, targets.sizes());
}

}  // namespace difflab
