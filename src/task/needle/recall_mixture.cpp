#include "task/needle/recall_mixture.h"

#include <ATen/ATen.h>

#include "task/needle/recall.h"

namespace difflab {
namespace {

class RecallMixture final : public Task {
 public:
  RecallMixture(std::unique_ptr<Task> task, double share)
      : task_(std::move(task)),
        recall_(RecallConfig{{}, task_->sequence_length(), task_->vocab_size()}.build()),
        share_(share) {}

  std::int64_t vocab_size() const override { return task_->vocab_size(); }
  std::int64_t sequence_length() const override { return task_->sequence_length(); }
  double chance_accuracy() const override { return task_->chance_accuracy(); }
  double relative_targets() const override { return task_->relative_targets(); }
  std::string token_text(std::int64_t token) const override { return task_->token_text(token); }
  bool is_text() const override { return task_->is_text(); }

  std::vector<TaskPart> parts() const override {
    auto parts = task_->parts();
    for (auto& part : parts) part.share *= 1 - share_;
    parts.push_back({"recall", share_, recall_.get()});
    return parts;
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    const auto recalls = std::llround(share_ * static_cast<double>(size));
    const auto asked = task_->batch(seed, split, index, size - recalls);
    const auto repeats = recall_->batch(seed, split, index, recalls);
    auto parts = asked.parts;
    if (parts.empty()) parts.push_back(size - recalls);
    parts.push_back(recalls);
    return {at::cat({asked.inputs, repeats.inputs}), at::cat({asked.targets, repeats.targets}),
            std::move(parts)};
  }

 private:
  std::unique_ptr<Task> task_, recall_;
  double share_;
};

}  // namespace

std::unique_ptr<Task> with_recall(std::unique_ptr<Task> task, double share) {
  if (share == 0) return task;
  return std::make_unique<RecallMixture>(std::move(task), share);
}

}  // namespace difflab
