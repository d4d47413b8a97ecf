#include "task/association/fuzzy_recall.h"

#include <set>

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class FuzzyRecallTask final : public SymbolTask<FuzzyRecallConfig> {
 public:
  explicit FuzzyRecallTask(const FuzzyRecallConfig& config) : SymbolTask(config, "fuzzy recall") {}

  double chance_accuracy() const override { return config_.chance(); }

 private:
  using Motif = std::vector<std::int64_t>;  // tokens

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto N = config_.pairs;
    const auto asked = random.distinct(config_.queries, N);
    std::vector<Motif> keys, values;
    std::set<Motif> known;
    for (std::int64_t pair = 0; pair < N; ++pair) {
      const bool is_asked = is_among(pair, asked);
      const auto size = is_asked ? config_.longest : draw_size(random);
      Motif key;
      do {
        key = draw(random, FuzzyRecallConfig::kKeys, size, config_.key_tokens);
      } while (!known.insert(key).second);
      keys.push_back(std::move(key));
      values.push_back(
          draw(random, FuzzyRecallConfig::kValues, draw_size(random), config_.value_tokens));
    }

    Motif tokens = {symbols_.token(FuzzyRecallConfig::kBegin)}, targets = {kIgnore};
    const auto write = [&](const Motif& motif) {
      tokens.insert(tokens.end(), motif.begin(), motif.end());
      targets.resize(tokens.size(), kIgnore);
    };
    for (std::size_t pair = 0; pair < keys.size(); ++pair) {
      write(keys[pair]);
      write(values[pair]);
    }
    for (const auto number : asked) {
      const auto pair = static_cast<std::size_t>(number);
      write({symbols_.token(FuzzyRecallConfig::kQuestion)});
      write(keys[pair]);
      std::copy(values[pair].begin(), values[pair].end() - 1, std::back_inserter(tokens));
      targets.pop_back();
      targets.insert(targets.end(), values[pair].begin(), values[pair].end());
      tokens.push_back(values[pair].back());
      targets.push_back(kIgnore);
    }
    tokens.pop_back();  // the last token of the last value
    targets.pop_back();
    std::fill(input.begin(), input.end(), symbols_.token(FuzzyRecallConfig::kFiller));
    std::copy(tokens.rbegin(), tokens.rend(), input.rbegin());
    std::copy(targets.rbegin(), targets.rend(), target.rbegin());
  }

  std::int64_t draw_size(Random& random) const { return 1 + random.below(config_.longest); }

  Motif draw(Random& random, std::size_t range, std::int64_t size, std::int64_t count) const {
    auto motif = random.distinct(size, count);
    for (auto& token : motif) token = symbols_.token(range, token);
    return motif;
  }
};

}  // namespace

std::unique_ptr<Task> FuzzyRecallConfig::build() const {
  return with_recall(std::make_unique<FuzzyRecallTask>(*this), recall_share);
}

}  // namespace difflab
