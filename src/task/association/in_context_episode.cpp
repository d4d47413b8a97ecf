
#include "task/association/in_context.h"
#include "task/base/rows.h"

namespace difflab {
namespace {

using Prototypes = std::vector<std::vector<std::int64_t>>;  // [feature][class] -> symbol

InContextExample draw_example(const InContextConfig& config, const Prototypes& prototypes,
                              std::int64_t class_index, Random& random) {
  const auto vocabulary = config.vocabulary();
  InContextExample example{class_index, {}};
  for (const auto& feature : prototypes) {
    const bool flipped = random.uniform() < config.flip;
    const auto symbol =
        flipped ? random.below(config.symbols) : feature[static_cast<std::size_t>(class_index)];
    example.features.push_back(vocabulary.token(InContextConfig::kSymbol, symbol));
  }
  return example;
}

}  // namespace

InContextEpisode draw_episode(const InContextConfig& config, ShotClasses classes,
                              std::int64_t queries, Random& random) {
  const auto vocabulary = config.vocabulary();
  InContextEpisode episode;
  for (const auto label : random.distinct(config.classes, config.labels)) {
    episode.labels.push_back(vocabulary.token(InContextConfig::kLabel, label));
  }
  Prototypes prototypes;
  for (std::int64_t f = 0; f < config.features; ++f) {
    prototypes.push_back(random.distinct(config.classes, config.symbols));
  }
  for (std::int64_t shot = 0; shot < config.shots; ++shot) {
    const bool in_turn = classes == ShotClasses::kBalanced || shot < config.classes;
    const auto class_index = in_turn ? shot % config.classes : random.below(config.classes);
    episode.shots.push_back(draw_example(config, prototypes, class_index, random));
  }
  for (std::int64_t query = 0; query < queries; ++query) {
    const auto class_index = random.below(config.classes);
    episode.queries.push_back(draw_example(config, prototypes, class_index, random));
  }
  return episode;
}

std::vector<std::size_t> draw_order(const InContextConfig& config, const InContextEpisode& episode,
                                    ShotOrder order, Random& random) {
  std::vector<std::size_t> all;
  for (std::size_t shot = 0; shot < episode.shots.size(); ++shot) all.push_back(shot);
  all = drawn_from(all, config.shots, random);
  if (order == ShotOrder::kRandom) return all;

  std::vector<std::vector<std::size_t>> of_class(static_cast<std::size_t>(config.classes));
  for (const auto shot : all) {
    of_class[static_cast<std::size_t>(episode.shots[shot].class_index)].push_back(shot);
  }
  // A class with one example more comes first, or the turn would break before the last round.
  of_class = drawn_from(of_class, config.classes, random);
  std::stable_sort(of_class.begin(), of_class.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::size_t> in_turn;
  for (std::size_t round = 0; in_turn.size() < all.size(); ++round) {
    for (const auto& shots : of_class) {
      if (round < shots.size()) in_turn.push_back(shots[round]);
    }
  }
  return in_turn;
}

std::vector<std::int64_t> write_episode(const InContextEpisode& episode,
                                        const std::vector<std::size_t>& order,
                                        const InContextExample& query) {
  std::vector<std::int64_t> tokens{0};  // B
  for (const auto shot : order) {
    const auto& [class_index, features] = episode.shots[shot];
    tokens.insert(tokens.end(), features.begin(), features.end());
    tokens.push_back(episode.labels[static_cast<std::size_t>(class_index)]);
  }
  tokens.insert(tokens.end(), query.features.begin(), query.features.end());
  return tokens;
}

}  // namespace difflab
