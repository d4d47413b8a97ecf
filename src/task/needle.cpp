#include "task/needle.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "task/rows.h"
#include "task/task.h"
#include "task/vocabulary.h"
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
    const auto needle_at = place(random, noise, asked.front());  // gap -> needle or -1

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

  // For each of the noise + 1 gaps, the needle that lies there, or -1.
  std::vector<std::int64_t> place(Random& random, std::int64_t noise, std::int64_t first) const {
    std::vector<std::int64_t> needle_at(static_cast<std::size_t>(noise + 1), -1);
    const auto gap = config_.depth ? std::llround(*config_.depth / 100 * static_cast<double>(noise))
                                   : random.below(noise + 1);
    needle_at[static_cast<std::size_t>(gap)] = first;
    const auto others = random.distinct(config_.needles - 1, noise);  // of the gaps left over
    std::size_t next = 0;
    for (std::int64_t needle = 0; needle < config_.needles; ++needle) {
      if (needle == first) continue;
      const auto free_gap = others[next++];
      needle_at[static_cast<std::size_t>(free_gap + (free_gap >= gap ? 1 : 0))] = needle;
    }
    return needle_at;
  }

  NeedleConfig config_;
  Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<Task> NeedleConfig::build() const { return std::make_unique<NeedleTask>(*this); }

}  // namespace difflab
