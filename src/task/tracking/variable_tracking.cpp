#include "task/tracking/variable_tracking.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class VariableTrackingTask final : public SymbolTask<VariableTrackingConfig> {
 public:
  explicit VariableTrackingTask(const VariableTrackingConfig& config)
      : SymbolTask(config, "variable tracking") {}

  /// Any name of the context that was not told yet: 1/(N − i) for answer i of N names, averaged
  /// over the answers.
  double chance_accuracy() const override {
    double chance = 0;
    for (std::int64_t i = 0; i <= config_.hops; ++i) {
      chance += 1 / static_cast<double>(config_.assignments() - i);
    }
    return chance / static_cast<double>(config_.hops + 1);
  }

 private:
  using Config = VariableTrackingConfig;

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto links = config_.hops + 1;  // assignments of a chain
    const auto names = random.distinct(config_.assignments(), config_.names);
    const auto values = random.distinct(config_.chains, config_.values);
    const auto name = [&](std::int64_t chain, std::int64_t link) {
      return symbols_.token(Config::kNames, names[static_cast<std::size_t>(chain * links + link)]);
    };
    const auto value = [&](std::int64_t chain) {
      return symbols_.token(Config::kValues, values[static_cast<std::size_t>(chain)]);
    };
    std::size_t t = 0;
    input[t++] = symbols_.token(Config::kBegin);
    std::vector<std::int64_t> written(static_cast<std::size_t>(config_.chains));
    for (const auto chain : draw_order(random)) {
      if (chain < 0) {
        input[t++] = symbols_.token(Config::kNoise, random.below(config_.noise_tokens));
        continue;
      }
      const auto link = written[static_cast<std::size_t>(chain)]++;
      input[t++] = name(chain, link);
      input[t++] = link == 0 ? value(chain) : name(chain, link - 1);
    }
    const auto asked = random.below(config_.chains);
    input[t++] = symbols_.token(Config::kQuestion);
    input[t] = value(asked);
    for (std::int64_t link = 0; link < links; ++link) {
      target[t++] = name(asked, link);
      if (t < input.size()) input[t] = name(asked, link);
    }
  }

  // For each assignment its chain and for each token of noise −1, all orders alike; the
  // assignments of a chain come in their own order.
  std::vector<std::int64_t> draw_order(Random& random) const {
    const auto N = config_.assignments();
    const auto places = config_.length - config_.smallest_length() + N;
    std::vector<std::int64_t> chain_at(static_cast<std::size_t>(places), -1);
    std::int64_t assignment = 0;
    for (const auto place : random.distinct(N, places)) {
      chain_at[static_cast<std::size_t>(place)] = assignment++ / (config_.hops + 1);
    }
    return chain_at;
  }
};

}  // namespace

std::unique_ptr<Task> VariableTrackingConfig::build() const {
  return with_recall<VariableTrackingTask>(*this);
}

}  // namespace difflab
