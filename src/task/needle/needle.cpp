#include "task/needle/needle.h"

#include "task/base/mixed_lengths.h"
#include "task/base/symbol_task.h"
#include "task/needle/needle_places.h"

namespace difflab {
namespace {

class NeedleTask final : public SymbolTask<NeedleConfig> {
 public:
  explicit NeedleTask(const NeedleConfig& config) : SymbolTask(config, "needle") {}

  double chance_accuracy() const override { return config_.chance(); }
  double relative_targets() const override { return static_cast<double>(config_.queries); }

 private:
  using Config = NeedleConfig;
  using Words = std::vector<std::int64_t>;

  struct Pair {
    Words key;  // numbers of its M symbols
    std::int64_t value = 0;
  };

  // Contents of a sequence. Pairs: the needles, then distractors.
  struct Contents {
    std::vector<Pair> pairs;
    Words asked;                  // needles; the first is the one at the given depth
    std::vector<Words> pairs_at;  // by gap between noise tokens
  };

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto contents = draw(random);
    const SequenceNames names(random, config_.noise_names, config_.keys, config_.noise_tokens);
    std::size_t t = 0;
    const auto write_key = [&](const Pair& pair) {
      for (const auto word : pair.key) input[t++] = symbols_.token(Config::kKeys, names.key(word));
    };
    const auto pair_of = [&](std::int64_t i) -> const Pair& {
      return contents.pairs[static_cast<std::size_t>(i)];
    };
    input[t++] = symbols_.token(Config::kBegin);
    for (std::size_t gap = 0; gap < contents.pairs_at.size(); ++gap) {
      for (const auto i : contents.pairs_at[gap]) {
        write_key(pair_of(i));
        input[t++] = symbols_.token(Config::kValues, pair_of(i).value);
      }
      if (gap + 1 == contents.pairs_at.size()) break;
      const auto noise = names.noise(random.below(config_.noise_tokens));
      input[t++] = symbols_.token(names.noise_is_own() ? Config::kNoise : Config::kKeys, noise);
    }
    for (const auto needle : contents.asked) {
      input[t++] = symbols_.token(Config::kQuestion);
      write_key(pair_of(needle));
      target[t - 1] = symbols_.token(Config::kValues, pair_of(needle).value);
    }
  }

  // Keys that begin alike are near ones alone.
  Contents draw(Random& random) const {
    const auto [near, same_value, stale] = config_.distractors;
    const auto N = config_.needles, R = config_.queries;
    const auto firsts = random.distinct(N + same_value, config_.keys);
    const auto values = random.distinct(config_.distinct_values(), config_.values);
    Contents contents;
    contents.asked = random.distinct(R, N);
    std::size_t next_value = 0;
    for (const auto first : firsts) {
      Pair pair{.key = {first}};
      for (std::int64_t i = 1; i < config_.key_tokens; ++i) {
        pair.key.push_back(random.below(config_.keys));
      }
      if (contents.pairs.size() < static_cast<std::size_t>(N)) pair.value = values[next_value++];
      contents.pairs.push_back(std::move(pair));
    }
    if (same_value > 0) {
      const auto louder = values[static_cast<std::size_t>(random.below(N))];
      for (auto i = N; i < N + same_value; ++i) {
        contents.pairs[static_cast<std::size_t>(i)].value = louder;
      }
    }
    for (const auto needle : contents.asked) {
      const auto key = contents.pairs[static_cast<std::size_t>(needle)].key;
      for (const auto other : random.distinct(near, config_.keys - 1)) {
        contents.pairs.push_back({key, values[next_value++]});
        auto& last = contents.pairs.back().key.back();
        last = other + (other >= last ? 1 : 0);
      }
    }
    place(random, contents);
    for (const auto needle : contents.asked) {
      const auto gap = gap_of(contents.pairs_at, needle);
      for (std::int64_t i = 0; i < stale; ++i) {
        const auto before = static_cast<std::size_t>(random.below(gap + 1));
        auto& there = contents.pairs_at[before];
        there.insert(there.begin(), static_cast<std::int64_t>(contents.pairs.size()));
        contents.pairs.push_back(
            {contents.pairs[static_cast<std::size_t>(needle)].key, values[next_value++]});
      }
    }
    return contents;
  }

  // Puts all pairs so far into distinct gaps.
  void place(Random& random, Contents& contents) const {
    const auto needle_at = place_needles(random, static_cast<std::int64_t>(contents.pairs.size()),
                                         config_.noise(), contents.asked.front(), config_.depth);
    for (const auto i : needle_at) {
      contents.pairs_at.push_back(i < 0 ? Words{} : Words{i});
    }
  }

  static std::int64_t gap_of(const std::vector<Words>& pairs_at, std::int64_t pair) {
    std::int64_t gap = 0;
    while (!is_among(pair, pairs_at[static_cast<std::size_t>(gap)])) ++gap;
    return gap;
  }
};

}  // namespace

std::unique_ptr<Task> NeedleConfig::build() const {
  std::vector<std::unique_ptr<Task>> tasks;
  for (const auto& kind : batch_kinds()) tasks.push_back(std::make_unique<NeedleTask>(kind));
  return of_mixed_lengths(std::move(tasks));
}

}  // namespace difflab
