#include "task/needle_recall.h"

#include <ATen/ATen.h>

#include <cmath>

#include "task/task.h"
#include "task/vocabulary.h"

namespace difflab {
namespace {

class NeedleRecallTask final : public Task {
 public:
  explicit NeedleRecallTask(const NeedleRecallConfig& config)
      : needle_(config.needle.build()),
        recall_(RecallConfig{config.needle.length, Vocabulary(config.needle).size()}.build()),
        recall_share_(config.recall_share) {}

  std::int64_t vocab_size() const override { return needle_->vocab_size(); }
  std::int64_t sequence_length() const override { return needle_->sequence_length(); }
  double chance_accuracy() const override { return needle_->chance_accuracy(); }
  std::string token_text(std::int64_t token) const override { return needle_->token_text(token); }

  std::vector<TaskPart> parts() const override {
    return {{"needle", 1 - recall_share_, needle_.get()}, {"recall", recall_share_, recall_.get()}};
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    const auto recalls = std::llround(recall_share_ * static_cast<double>(size));
    const auto needles = needle_->batch(seed, split, index, size - recalls);
    const auto repeats = recall_->batch(seed, split, index, recalls);
    return {at::cat({needles.inputs, repeats.inputs}), at::cat({needles.targets, repeats.targets})};
  }

 private:
  std::unique_ptr<Task> needle_, recall_;
  double recall_share_;
};

}  // namespace

std::unique_ptr<Task> NeedleRecallConfig::build() const {
  return std::make_unique<NeedleRecallTask>(*this);
}

}  // namespace difflab
