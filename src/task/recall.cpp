#include "task/recall.h"

#include <ATen/ATen.h>

#include "task/task.h"
#include "task/vocabulary.h"
#include "util/random.h"

namespace difflab {
namespace {

class RecallTask final : public Task {
 public:
  explicit RecallTask(const RecallConfig& config) : config_(config) {}

  std::int64_t vocab_size() const override { return config_.tokens; }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"recall", 1.0, this}}; }
  double chance_accuracy() const override { return 1 / static_cast<double>(symbols()); }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    const auto T = config_.length;
    auto inputs = at::empty({size, T}, at::kLong);
    auto targets = at::full({size, T}, kIgnore, at::kLong);
    auto input = inputs.accessor<std::int64_t, 2>();
    auto target = targets.accessor<std::int64_t, 2>();
    for (std::int64_t row = 0; row < size; ++row) {
      Random random{seed, stream_key("recall"), static_cast<std::uint64_t>(split),
                    static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(row)};
      const auto period = T / 4 + random.below(T / 2 - T / 4 + 1);
      input[row][0] = Vocabulary::kBegin;
      for (std::int64_t t = 1; t < T; ++t) {
        const bool repeats = t > period;
        input[row][t] =
            repeats ? input[row][t - period] : Vocabulary::kFirstSymbol + random.below(symbols());
        if (repeats) target[row][t - 1] = input[row][t];
      }
      target[row][T - 1] = input[row][T - period];
    }
    return {inputs, targets};
  }

 private:
  std::int64_t symbols() const { return config_.tokens - Vocabulary::kFirstSymbol; }

  RecallConfig config_;
};

}  // namespace

std::unique_ptr<Task> RecallConfig::build() const { return std::make_unique<RecallTask>(*this); }

}  // namespace difflab
