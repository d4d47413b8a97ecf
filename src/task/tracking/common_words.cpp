#include "task/tracking/common_words.h"

#include <vector>

#include "task/base/mixed_lengths.h"
#include "task/base/rows.h"
#include "task/base/task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class CommonWordsTask final : public Task {
 public:
  explicit CommonWordsTask(const CommonWordsConfig& config)
      : config_(config), symbols_(config.vocabulary()), counts_(config.counts()) {}

  std::int64_t vocab_size() const override { return symbols_.size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"common_words", 1.0, this}}; }
  std::string token_text(std::int64_t token) const override { return symbols_.text(token); }

  /// Any word of the list that was not told yet: 1/(n − i) for answer i of n distinct words,
  /// averaged over the answers.
  double chance_accuracy() const override {
    double chance = 0;
    for (std::int64_t i = 0; i < config_.asked; ++i) {
      chance += 1 / static_cast<double>(static_cast<std::int64_t>(counts_.size()) - i);
    }
    return chance / static_cast<double>(config_.asked);
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("common words", seed, split, index, size, config_.length,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, input, target);
                         });
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const {
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

  CommonWordsConfig config_;
  Symbols symbols_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

std::unique_ptr<Task> CommonWordsConfig::build() const {
  return of_lengths(*this, [](const CommonWordsConfig& one) {
    return with_recall(std::make_unique<CommonWordsTask>(one), one.recall_share);
  });
}

}  // namespace difflab
