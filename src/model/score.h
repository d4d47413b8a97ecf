#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace difflab {

class LanguageModel;

/// Where something is asked, and what is right there.
struct Questions {
  at::Tensor where;    ///< [n], flat places of B · T, ascending
  at::Tensor targets;  ///< [n]
  at::Tensor weights =
      {};  ///< [n] float64, with mean 1: what each counts in a loss; all 1 if undefined

  /// Questions at the targets [B, T] that are not negative. The host needs to know their number, so
  /// it waits for targets on another device.
  static Questions of(const at::Tensor& targets);

  Questions to(const at::Device& device) const;
};

/// Mean cross-entropy of all targets, in nats. inputs, targets [B, T]; positions whose target is
/// negative are left out, also from the output head's work. A differentiable scalar.
at::Tensor mean_loss(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& targets);
/// The same; the mean is weighted if the questions have weights.
at::Tensor mean_loss(LanguageModel& model, const at::Tensor& inputs, const Questions& questions);

/// Cross-entropy of every target, in nats, of the same shape: logits [B, T, V], targets [B, T].
at::Tensor token_losses(const at::Tensor& logits, const at::Tensor& targets);

/// How a model answered a set of sequences.
struct Score {
  std::int64_t sequences = 0;
  std::int64_t targets = 0;      ///< positions asked
  std::int64_t correct = 0;      ///< positions whose most likely token is the target
  std::int64_t all_correct = 0;  ///< sequences with every position correct
  double loss_sum = 0;           ///< cross-entropy, nats

  double loss() const { return loss_sum / static_cast<double>(targets); }
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(targets); }
  Score& operator+=(const Score& other);
};

/// Scores answers: logits [n, V] of the n questions in sequences of this shape, [B, T].
Score score_of(const at::Tensor& logits, const Questions& asked, at::IntArrayRef shape);

/// Scores sequences without gradients; shapes as in mean_loss.
Score score(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& targets);

}  // namespace difflab
