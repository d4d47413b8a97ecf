#include "task/association/mqar.h"

#include <numeric>

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class MqarTask final : public SymbolTask<MqarConfig> {
 public:
  explicit MqarTask(const MqarConfig& config) : SymbolTask(config, "mqar") {}

  /// Any value of the context.
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.shown()); }

 private:
  using enum MqarConfig::Range;

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto keys = random.distinct(config_.pairs, config_.keys());
    const auto values = random.distinct(config_.shown(), config_.values());
    const auto slots = draw_slots(random);
    const auto order = draw_order(random);
    std::vector<std::int64_t> value_of(keys.size());  // the last one shown
    std::fill(input.begin(), input.end(), symbols_.token(kFiller));
    std::size_t t = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      input[t++] = symbols_.token(kKeys, keys[order[i]]);
      value_of[order[i]] = input[t++] = symbols_.token(kValues, values[i]);
    }
    const auto context = input.first(t);
    for (std::size_t key = 0; key < keys.size(); ++key) {
      const auto at = t + 2 * slots[key];
      input[at] = symbols_.token(kKeys, keys[key]);
      target[at] = value_of[key];
    }
    if (!config_.random_filler) return;
    for (auto at = t; at < input.size(); ++at) {
      if (target[at] == kIgnore) input[at] = draw_filler(random, context);
    }
  }

  // Which key each pair shows. Without new values they come as they were drawn.
  std::vector<std::size_t> draw_order(Random& random) const {
    std::vector<std::size_t> order;
    const auto twice = random.distinct(config_.reassigned(), config_.pairs);
    for (std::int64_t key = 0; key < config_.pairs; ++key) {
      order.push_back(static_cast<std::size_t>(key));
    }
    if (twice.empty()) return order;
    order.insert(order.end(), twice.begin(), twice.end());
    auto shuffled = order;
    const auto places = random.distinct(config_.shown(), config_.shown());
    for (std::size_t i = 0; i < order.size(); ++i) {
      shuffled[static_cast<std::size_t>(places[i])] = order[i];
    }
    return shuffled;
  }

  // Weighted draws without replacement, in the order they are drawn: of exponential clocks with
  // these rates, the one that rings next is each one in proportion to its rate.
  std::vector<std::size_t> draw_slots(Random& random) const {
    const auto slots = static_cast<std::size_t>(config_.length - 2 * config_.shown()) / 2;
    std::vector<double> rings(slots);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const double rate = std::pow(static_cast<double>(slot + 1), config_.power_a - 1);
      rings[slot] = -std::log1p(-random.uniform()) / rate;
    }
    std::vector<std::size_t> order(slots);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rings[a] < rings[b]; });
    order.resize(static_cast<std::size_t>(config_.pairs));
    return order;
  }

  // Ends, because no value is a key.
  std::int64_t draw_filler(Random& random, std::span<const std::int64_t> context) const {
    for (;;) {
      const auto token = random.below(symbols_.size());
      const bool is_own_key = symbols_.holds(kKeys, token) && is_among(token, context);
      if (!is_own_key) return token;
    }
  }
};

}  // namespace

std::unique_ptr<Task> MqarConfig::build() const { return with_recall<MqarTask>(*this); }

}  // namespace difflab
