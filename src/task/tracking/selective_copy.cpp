#include "task/tracking/selective_copy.h"

#include <algorithm>
#include <vector>

#include "task/base/mixed_lengths.h"
#include "task/base/rows.h"
#include "task/base/task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class SelectiveCopyTask final : public Task {
 public:
  explicit SelectiveCopyTask(const SelectiveCopyConfig& config)
      : config_(config), symbols_(config.vocabulary()) {}

  std::int64_t vocab_size() const override { return symbols_.size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"selective_copy", 1.0, this}}; }
  std::string token_text(std::int64_t token) const override { return symbols_.text(token); }

  /// Any of the n symbols shown: the right one in 1/n of all cases, else another one, which is the
  /// same symbol in 1/S of those.
  double chance_accuracy() const override {
    const auto n = static_cast<double>(config_.copied), S = static_cast<double>(config_.symbols);
    return 1 / n + (1 - 1 / n) / S;
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("selective copy", seed, split, index, size, config_.length,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, input, target);
                         });
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const {
    const auto n = config_.copied, before = config_.length - n - 1;
    std::fill(input.begin(), input.end(), symbols_.token(SelectiveCopyConfig::kBlank));
    auto places = random.distinct(n, before);
    std::sort(places.begin(), places.end());
    auto t = static_cast<std::size_t>(before);
    input[t++] = symbols_.token(SelectiveCopyConfig::kCopy);
    for (const auto place : places) {
      const auto symbol =
          symbols_.token(SelectiveCopyConfig::kSymbols, random.below(config_.symbols));
      input[static_cast<std::size_t>(place)] = symbol;
      target[t++] = symbol;
    }
  }

  SelectiveCopyConfig config_;
  Symbols symbols_;
};

}  // namespace

std::unique_ptr<Task> SelectiveCopyConfig::build() const {
  return of_lengths(*this, [](const SelectiveCopyConfig& one) {
    return with_recall(std::make_unique<SelectiveCopyTask>(one), one.recall_share);
  });
}

}  // namespace difflab
