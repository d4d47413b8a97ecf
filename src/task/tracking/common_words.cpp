#include "task/tracking/common_words.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class CommonWordsTask final : public SymbolTask<CommonWordsConfig> {
 public:
  explicit CommonWordsTask(const CommonWordsConfig& config)
      : SymbolTask(config, "common words"), counts_(config.counts()) {}

  /// Any word of the list that was not told yet: 1/(n − i) for answer i of n distinct words,
  /// averaged over the answers.
  double chance_accuracy() const override {
    double chance = 0;
    for (std::int64_t i = 0; i < config_.asked; ++i) {
      chance += 1 / static_cast<double>(static_cast<std::int64_t>(counts_.size()) - i);
    }
    return chance / static_cast<double>(config_.asked);
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto words =
        random.distinct(static_cast<std::int64_t>(counts_.size()), config_.words);  // by rank
    const auto order = random.distinct(config_.listed(), config_.listed());
    std::size_t t = 0;
    input[t++] = symbols_.token(CommonWordsConfig::kBegin);
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      for (std::int64_t i = 0; i < counts_[rank]; ++i) {
        input[t + static_cast<std::size_t>(order[next++])] =
            symbols_.token(CommonWordsConfig::kWords, words[rank]);
      }
    }
    t += next;
    input[t] = symbols_.token(CommonWordsConfig::kQuestion);
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(config_.asked); ++rank) {
      const auto word = symbols_.token(CommonWordsConfig::kWords, words[rank]);
      target[t++] = word;
      if (t < input.size()) input[t] = word;
    }
  }

  std::vector<std::int64_t> counts_;
};

}  // namespace

std::unique_ptr<Task> CommonWordsConfig::build() const {
  return with_recall<CommonWordsTask>(*this);
}

}  // namespace difflab
