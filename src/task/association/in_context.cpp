#include "task/association/in_context.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

class InContextTask final : public SymbolTask<InContextConfig> {
 public:
  explicit InContextTask(const InContextConfig& config) : SymbolTask(config, "in-context") {
    if (!config.score_all) return;
    auto last_alone = config;
    last_alone.score_all = false;
    last_alone_ = std::make_unique<InContextTask>(last_alone);
  }

  std::vector<TaskPart> parts() const override {
    return {{"in_context", 1.0, last_alone_ ? last_alone_.get() : this}};
  }
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.classes); }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto episode = draw_episode(config_, ShotClasses::kDrawn, 1, random);
    const auto order = draw_order(config_, episode, ShotOrder::kRandom, random);
    const auto& query = episode.queries.front();
    const auto tokens = write_episode(episode, order, query);
    std::copy(tokens.begin(), tokens.end(), input.begin());
    target.back() = episode.labels[static_cast<std::size_t>(query.class_index)];
    if (!config_.score_all) return;
    std::vector<bool> is_shown(static_cast<std::size_t>(config_.classes));
    auto t = static_cast<std::size_t>(config_.features);  // where an example's last feature stands
    for (const auto shot : order) {
      const auto class_index = static_cast<std::size_t>(episode.shots[shot].class_index);
      if (is_shown[class_index]) target[t] = episode.labels[class_index];
      is_shown[class_index] = true;
      t += static_cast<std::size_t>(config_.features) + 1;
    }
  }

  std::unique_ptr<Task> last_alone_;  // the same sequences with one question
};

}  // namespace

std::unique_ptr<Task> InContextConfig::build() const {
  return with_recall(std::make_unique<InContextTask>(*this), recall_share);
}

}  // namespace difflab
