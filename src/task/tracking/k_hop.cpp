#include "task/tracking/k_hop.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class KHopTask final : public SymbolTask<KHopConfig> {
 public:
  explicit KHopTask(const KHopConfig& config)
      : SymbolTask(config, "k-hop"), sizes_(config.sizes()) {}

  /// Hops are numbered from 1.
  std::string token_text(std::int64_t token) const override {
    if (!symbols_.holds(KHopConfig::kHops, token)) return symbols_.text(token);
    return concat("h", 1 + token - symbols_.token(KHopConfig::kHops));
  }

  /// Any of the nodes: 1/n, averaged over the sizes of cycles, as all have as many questions.
  double chance_accuracy() const override {
    double chance = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      chance += sizes_[i] / static_cast<double>(config_.least_nodes + static_cast<std::int64_t>(i));
    }
    return chance;
  }

 private:
  std::int64_t draw_size(Random& random) const {
    double left = random.uniform();
    std::size_t i = 0;
    while (i + 1 < sizes_.size() && left >= sizes_[i]) left -= sizes_[i++];
    return config_.least_nodes + static_cast<std::int64_t>(i);
  }

  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto n = draw_size(random);
    const auto cycle = random.distinct(n, config_.names);  // the successor of each is the next
    const auto node = [&](std::int64_t place) {
      return symbols_.token(KHopConfig::kNodes, cycle[static_cast<std::size_t>(place % n)]);
    };
    std::fill(input.begin(), input.end(), symbols_.token(KHopConfig::kFiller));
    std::size_t t = 0;
    input[t++] = symbols_.token(KHopConfig::kBegin);
    for (const auto place : random.distinct(n, n)) {
      input[t++] = node(place);
      input[t++] = node(place + 1);
    }
    for (std::int64_t question = 0; question < config_.questions; ++question) {
      const auto k = config_.asked ? *config_.asked : 1 + random.below(config_.hops);
      const auto place = random.below(n);
      input[t++] = symbols_.token(KHopConfig::kHops, k - 1);
      input[t] = node(place);
      target[t++] = node(place + k);
      if (question + 1 < config_.questions) input[t++] = node(place + k);
    }
  }

  std::vector<double> sizes_;
};

}  // namespace

std::unique_ptr<Task> KHopConfig::build() const {
  return with_recall(std::make_unique<KHopTask>(*this), recall_share);
}

}  // namespace difflab
