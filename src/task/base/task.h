#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace difflab {

/// Targets with this value take no part in loss or accuracy (PyTorch's default ignore index).
constexpr std::int64_t kIgnore = -100;

/// Training data; held-out data that choices may look at (learning rate, early signs); held-out
/// data for what is reported.
enum class Split : std::uint64_t { kTrain = 0, kValid = 1, kTest = 2 };

struct Batch {
  at::Tensor inputs;   ///< [B, T] int64, tokens in [0, V)
  at::Tensor targets;  ///< [B, T] int64, the token to predict there or kIgnore
  /// Sequences of each part, in the order in which they come; one part if empty.
  std::vector<std::int64_t> parts = {};
};

class Task;

/// One kind of question inside a task, with its share of each batch.
struct TaskPart {
  std::string name;
  double share;
  const Task* task;
};

/// A source of batches with no state: the data depend on (seed, split, index) alone, so a run
/// resumes exactly and all variants of a seed see the same data.
class Task {
 public:
  virtual ~Task() = default;

  virtual std::int64_t vocab_size() const = 0;       ///< V
  virtual std::int64_t sequence_length() const = 0;  ///< T, the longest if there are several

  /// The mean T of batches. They differ if the task has `lengths`.
  virtual double mean_length() const { return static_cast<double>(sequence_length()); }

  /// Batch number `index` (from 0) of `split`, with `size` sequences.
  virtual Batch batch(std::uint64_t seed, Split split, std::int64_t index,
                      std::int64_t size) const = 0;

  /// Parts whose held-out figures are kept apart; the first is the one that the task is named for.
  /// The shares add up to 1.
  virtual std::vector<TaskPart> parts() const = 0;

  /// Accuracy of a guess that sees which answers a context offers but cannot tell them apart:
  /// 1/N with N needles.
  virtual double chance_accuracy() const = 0;

  /// Targets of a sequence, on average, relative to those of other lengths or numbers of needles.
  virtual double relative_targets() const { return 1; }

  /// The entropy in nats of the token to be predicted at each position [T], given all those before
  /// it: the least expected loss there. Empty if nothing knows it.
  virtual std::vector<double> token_entropies() const { return {}; }
  /// Their mean over all targets: no model's expected loss is lower.
  virtual std::optional<double> entropy() const;

  /// Readable text of a token in [0, V): k12, ?, or a character.
  virtual std::string token_text(std::int64_t token) const = 0;

  /// True if tokens make text when they are written one after the other, without blanks.
  virtual bool is_text() const { return false; }
};

}  // namespace difflab
