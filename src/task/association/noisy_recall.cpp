#include "task/association/noisy_recall.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class NoisyRecallTask final : public SymbolTask<NoisyRecallConfig> {
 public:
  explicit NoisyRecallTask(const NoisyRecallConfig& config) : SymbolTask(config, "noisy recall") {}

  double chance_accuracy() const override {
    const auto [asked, right] = config_.questions();
    return right / asked;
  }
  double relative_targets() const override { return config_.questions().asked; }

 private:
  using Config = NoisyRecallConfig;

  // The sequence has T + 1 tokens: T are inputs, the last one is the value asked for at the end.
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto value_of = random.distinct(config_.keys, config_.values);
    const SequenceNames names(random, config_.noise_names, config_.keys, config_.noise_tokens);
    const auto key_token = [&](std::int64_t key) {
      return symbols_.token(Config::kKeys, names.key(key));
    };
    const auto noise_token = [&](std::int64_t noise) {
      return symbols_.token(names.noise_is_own() ? Config::kNoise : Config::kKeys,
                            names.noise(noise));
    };
    std::vector<std::int64_t> shown;  // distinct keys
    std::size_t t = 0;
    const auto write_pair = [&](std::int64_t key) {
      const auto value = symbols_.token(Config::kValues, value_of[static_cast<std::size_t>(key)]);
      const bool is_question = is_among(key, shown);
      is_question ? void(target[t] = value) : shown.push_back(key);
      input[t++] = key_token(key);
      if (t < input.size()) input[t++] = value;
    };
    input[t++] = symbols_.token(Config::kBegin);
    for (const bool is_pair : draw_order(random)) {
      if (is_pair) {
        write_pair(random.below(config_.keys));
      } else {
        input[t++] = noise_token(random.below(config_.noise_tokens));
      }
    }
    const auto last = random.below(static_cast<std::int64_t>(shown.size()));
    write_pair(shown[static_cast<std::size_t>(last)]);
  }

  // True where a pair, not a noise token, comes next, up to the last pair, which ends the sequence;
  // all orders are equally likely.
  std::vector<bool> draw_order(Random& random) const {
    const auto pairs = config_.shown();
    const auto places = pairs - 1 + config_.sequence_length() - 2 * pairs;
    std::vector<bool> is_pair(static_cast<std::size_t>(places));
    for (const auto at : random.distinct(pairs - 1, places)) {
      is_pair[static_cast<std::size_t>(at)] = true;
    }
    return is_pair;
  }
};

}  // namespace

std::unique_ptr<Task> NoisyRecallConfig::build() const {
  return with_recall<NoisyRecallTask>(*this);
}

}  // namespace difflab
