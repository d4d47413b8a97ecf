#include "task/needle/needle.h"

#include <vector>

#include "task/base/mixed_lengths.h"
#include "task/base/rows.h"
#include "task/base/task.h"
#include "task/needle/needle_places.h"
#include "task/needle/vocabulary.h"
#include "util/random.h"

namespace difflab {
namespace {

class NeedleTask final : public Task {
 public:
  explicit NeedleTask(const NeedleConfig& config) : config_(config), vocabulary_(config) {}

  std::int64_t vocab_size() const override { return vocabulary_.size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"needle", 1.0, this}}; }
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.needles); }
  std::string token_text(std::int64_t token) const override {
    return vocabulary_.symbols().text(token);
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("needle", seed, split, index, size, config_.length,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, input, target);
                         });
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const {
    const auto N = config_.needles, R = config_.queries;
    const auto noise = config_.length - 1 - 2 * N - 2 * R;
    const auto keys = random.distinct(N, config_.keys);
    const auto values = random.distinct(N, config_.values);
    const auto asked = random.distinct(R, N);  // asked[0] is the needle at the given depth
    const auto needle_at = place_needles(random, N, noise, asked.front(), config_.depth);

    std::size_t t = 0;
    input[t++] = Vocabulary::kBegin;
    for (std::int64_t gap = 0; gap <= noise; ++gap) {
      if (const auto needle = needle_at[static_cast<std::size_t>(gap)]; needle >= 0) {
        input[t++] = vocabulary_.key(keys[static_cast<std::size_t>(needle)]);
        input[t++] = vocabulary_.value(values[static_cast<std::size_t>(needle)]);
      }
      if (gap < noise) input[t++] = vocabulary_.noise(random.below(config_.noise_tokens));
    }
    for (const auto needle : asked) {
      input[t++] = Vocabulary::kQuestion;
      input[t] = vocabulary_.key(keys[static_cast<std::size_t>(needle)]);
      target[t++] = vocabulary_.value(values[static_cast<std::size_t>(needle)]);
    }
  }

  NeedleConfig config_;
  Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<Task> NeedleConfig::build() const {
  return of_lengths(*this,
                    [](const NeedleConfig& one) { return std::make_unique<NeedleTask>(one); });
}

}  // namespace difflab
