#include "task/needle/recall.h"

#include "task/base/mixed_lengths.h"
#include "task/base/symbol_task.h"

namespace difflab {
namespace {

class RecallTask final : public SymbolTask<RecallConfig> {
 public:
  explicit RecallTask(const RecallConfig& config) : SymbolTask(config, "recall") {}

  /// Any token of the prefix: of P, the right one or, in one of as many cases as there are symbols,
  /// an equal one. Averaged over all questions, of which a period P leaves T − P.
  double chance_accuracy() const override {
    const double other = 1 / static_cast<double>(symbols());
    double right = 0, questions = 0;
    for (auto period = shortest_period(); period <= longest_period(); ++period) {
      const auto asked = static_cast<double>(config_.length - period);
      const double own = 1 / static_cast<double>(period);
      right += asked * (own + (1 - own) * other);
      questions += asked;
    }
    return right / questions;
  }
  /// T − P.
  double relative_targets() const override {
    const auto twice = 2 * config_.length - shortest_period() - longest_period();
    return static_cast<double>(twice) / 2;
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto T = input.size();
    const auto period = static_cast<std::size_t>(
        shortest_period() + random.below(longest_period() - shortest_period() + 1));
    input[0] = symbols_.token(RecallConfig::kBegin);
    for (std::size_t t = 1; t < T; ++t) {
      const bool repeats = t > period;
      input[t] = repeats ? input[t - period]
                         : symbols_.token(RecallConfig::kSymbols, random.below(symbols()));
      if (repeats) target[t - 1] = input[t];
    }
    target[T - 1] = input[T - period];
  }

  std::int64_t shortest_period() const { return config_.length / 4; }
  std::int64_t longest_period() const { return config_.length / 2; }
  std::int64_t symbols() const { return config_.tokens - symbols_.token(RecallConfig::kSymbols); }
};

}  // namespace

std::unique_ptr<Task> RecallConfig::build() const {
  return of_lengths(*this,
                    [](const RecallConfig& one) { return std::make_unique<RecallTask>(one); });
}

}  // namespace difflab
