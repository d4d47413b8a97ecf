#include "task/base/mixed_lengths.h"

#include <algorithm>

#include "util/random.h"

namespace difflab {
namespace {

class MixedLengths final : public Task {
 public:
  /// @param tasks not owned
  explicit MixedLengths(std::vector<const Task*> tasks) : tasks_(std::move(tasks)) {
    const auto first = tasks_.front()->parts();
    for (std::size_t i = 0; i < first.size(); ++i) {
      TaskPart part{first[i].name, first[i].share, this};
      if (first[i].task != tasks_.front()) {
        std::vector<const Task*> same;
        for (const auto* task : tasks_) same.push_back(task->parts().at(i).task);
        parts_of_.push_back(std::make_unique<MixedLengths>(std::move(same)));
        part.task = parts_of_.back().get();
      }
      parts_.push_back(part);
    }
  }

  /// @param tasks owned
  explicit MixedLengths(std::vector<std::unique_ptr<Task>> tasks) : MixedLengths(seen(tasks)) {
    owned_ = std::move(tasks);
  }

  std::int64_t vocab_size() const override { return tasks_.front()->vocab_size(); }
  std::int64_t sequence_length() const override { return longest().sequence_length(); }
  double mean_length() const override { return mean_of(&Task::mean_length); }
  std::vector<TaskPart> parts() const override { return parts_; }
  double chance_accuracy() const override {
    double right = 0;
    for (const auto* task : tasks_) right += task->relative_targets() * task->chance_accuracy();
    return right / (relative_targets() * static_cast<double>(tasks_.size()));
  }
  double relative_targets() const override { return mean_of(&Task::relative_targets); }
  std::vector<double> token_entropies() const override { return longest().token_entropies(); }
  std::optional<double> entropy() const override {
    double sum = 0;
    for (const auto* task : tasks_) {
      const auto entropy = task->entropy();
      if (!entropy) return std::nullopt;
      sum += task->relative_targets() * *entropy;
    }
    return sum / (relative_targets() * static_cast<double>(tasks_.size()));
  }
  bool is_text() const override { return tasks_.front()->is_text(); }
  std::string token_text(std::int64_t token) const override {
    return tasks_.front()->token_text(token);
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    Random random{seed, stream_key("length"), static_cast<std::uint64_t>(split),
                  static_cast<std::uint64_t>(index)};
    const auto drawn = random.below(static_cast<std::int64_t>(tasks_.size()));
    return tasks_[static_cast<std::size_t>(drawn)]->batch(seed, split, index, size);
  }

 private:
  static std::vector<const Task*> seen(const std::vector<std::unique_ptr<Task>>& tasks) {
    std::vector<const Task*> all;
    for (const auto& task : tasks) all.push_back(task.get());
    return all;
  }

  const Task& longest() const {
    return **std::ranges::max_element(tasks_, {}, &Task::sequence_length);
  }
  double mean_of(double (Task::*figure)() const) const {
    double sum = 0;
    for (const auto* task : tasks_) sum += (task->*figure)();
    return sum / static_cast<double>(tasks_.size());
  }

  std::vector<std::unique_ptr<Task>> owned_;
  std::vector<const Task*> tasks_;
  std::vector<std::unique_ptr<MixedLengths>> parts_of_;
  std::vector<TaskPart> parts_;
};

}  // namespace

std::unique_ptr<Task> of_mixed_lengths(std::vector<std::unique_ptr<Task>> tasks) {
  if (tasks.size() == 1) return std::move(tasks.front());
  return std::make_unique<MixedLengths>(std::move(tasks));
}

}  // namespace difflab
