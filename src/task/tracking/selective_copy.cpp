#include "task/tracking/selective_copy.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class SelectiveCopyTask final : public SymbolTask<SelectiveCopyConfig> {
 public:
  explicit SelectiveCopyTask(const SelectiveCopyConfig& config)
      : SymbolTask(config, "selective copy") {}

  /// Any of the n symbols shown: the right one in 1/n of all cases, else another one, which is the
  /// same symbol in 1/S of those.
  double chance_accuracy() const override {
    const auto n = static_cast<double>(config_.copied), S = static_cast<double>(config_.symbols);
    return 1 / n + (1 - 1 / n) / S;
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
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
};

}  // namespace

std::unique_ptr<Task> SelectiveCopyConfig::build() const {
  return with_recall<SelectiveCopyTask>(*this);
}

}  // namespace difflab
