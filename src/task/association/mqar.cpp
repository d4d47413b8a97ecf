#include "task/association/mqar.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "task/base/rows.h"
#include "task/base/symbols.h"
#include "task/base/task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class MqarTask final : public Task {
 public:
  explicit MqarTask(const MqarConfig& config)
      : config_(config), symbols_{{"_", 1}, {"k", config.keys()}, {"v", config.values()}} {}

  std::int64_t vocab_size() const override { return symbols_.size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"mqar", 1.0, this}}; }
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.pairs); }
  std::string token_text(std::int64_t token) const override { return symbols_.text(token); }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("mqar", seed, split, index, size, config_.length,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, input, target);
                         });
  }

 private:
  enum Range : std::size_t { kFiller, kKeys, kValues };

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const {
    auto keys = random.distinct(config_.pairs, config_.keys());
    const auto values = random.distinct(config_.pairs, config_.values());
    const auto slots = draw_slots(random);
    std::fill(input.begin(), input.end(), symbols_.token(kFiller));
    std::size_t t = 0;
    for (std::size_t pair = 0; pair < keys.size(); ++pair) {
      input[t++] = symbols_.token(kKeys, keys[pair]);
      input[t++] = symbols_.token(kValues, values[pair]);
    }
    const auto context = input.first(t);
    for (std::size_t pair = 0; pair < keys.size(); ++pair) {
      const auto at = t + 2 * slots[pair];
      input[at] = symbols_.token(kKeys, keys[pair]);
      target[at] = symbols_.token(kValues, values[pair]);
    }
    if (!config_.random_filler) return;
    for (auto at = t; at < input.size(); ++at) {
      if (target[at] == kIgnore) input[at] = draw_filler(random, context);
    }
  }

  // Weighted draws without replacement, in the order they are drawn: of exponential clocks with
  // these rates, the one that rings next is each one in proportion to its rate.
  std::vector<std::size_t> draw_slots(Random& random) const {
    const auto slots = static_cast<std::size_t>(config_.length - 2 * config_.pairs) / 2;
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
      const bool is_own_key = symbols_.holds(kKeys, token) &&
                              std::find(context.begin(), context.end(), token) != context.end();
      if (!is_own_key) return token;
    }
  }

  MqarConfig config_;
  Symbols symbols_;
};

}  // namespace

std::unique_ptr<Task> MqarConfig::build() const {
  return with_recall(std::make_unique<MqarTask>(*this), recall_share);
}

}  // namespace difflab
