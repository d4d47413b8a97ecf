#include "evaluate/retrieval/in_context_shots.h"

#include <ATen/ATen.h>

#include <cmath>

#include "evaluate/base/answerer.h"
#include "util/random.h"

namespace difflab {
namespace {

std::string name_of(ShotOrder order) {
  return order == ShotOrder::kRandom ? "random" : "alternating";
}

/// How one episode's queries were answered, [orders] right answers.
std::vector<std::int64_t> ask_episode(const Answerer& answerer, const InContextConfig& task,
                                      const InContextEpisode& episode, ShotOrder kind,
                                      std::int64_t orders, Random random) {
  const auto Q = static_cast<std::int64_t>(episode.queries.size());
  std::vector<std::int64_t> tokens, labels;
  for (std::int64_t i = 0; i < orders; ++i) {
    const auto order = draw_order(task, episode, kind, random);
    for (const auto& query : episode.queries) {
      const auto sequence = write_episode(episode, order, query);
      tokens.insert(tokens.end(), sequence.begin(), sequence.end());
      labels.push_back(episode.labels[static_cast<std::size_t>(query.class_index)]);
    }
  }
  const auto inputs = at::tensor(tokens).view({orders * Q, task.sequence_length()});
  auto targets = at::full_like(inputs, kIgnore);
  targets.select(1, -1).copy_(at::tensor(labels));
  const auto right =
      answerer.answer({inputs, targets}).select(1, -1).eq(targets.select(1, -1)).view({orders, Q});
  const auto per_order = right.sum(1);  // [orders]
  const auto* begin = per_order.const_data_ptr<std::int64_t>();
  return {begin, begin + orders};
}

Json ask_cell(const InContextShotsConfig& asked, const Answerer& answerer,
              const InContextConfig& config, ShotOrder kind, std::uint64_t seed) {
  double right = 0, best = 0, worst = 0;
  for (std::int64_t e = 0; e < asked.episodes; ++e) {
    // Both kinds of order see the same episodes.
    Random random{seed, stream_key("in-context shots"), static_cast<std::uint64_t>(config.shots),
                  static_cast<std::uint64_t>(e)};
    const auto episode = draw_episode(config, ShotClasses::kBalanced, asked.queries, random);
    const auto counts = ask_episode(answerer, config, episode, kind, asked.orders, random);
    for (const auto count : counts) right += static_cast<double>(count);
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    best += static_cast<double>(*high);
    worst += static_cast<double>(*low);
  }
  // Orders of one episode ask the same questions again, so they do not add to n.
  const auto n = asked.episodes * asked.queries;
  const auto questions = static_cast<double>(n);
  const double mean_right = right / static_cast<double>(asked.orders);
  const auto interval = wilson_interval(std::llround(mean_right), n);
  return {{"shots", config.shots},
          {"order", name_of(kind)},
          {"episodes", asked.episodes},
          {"orders", asked.orders},
          {"n", n},
          {"accuracy", mean_right / questions},
          {"accuracy_low", interval->low},
          {"accuracy_high", interval->high},
          {"best", best / questions},
          {"worst", worst / questions},
          {"margin", (best - worst) / questions},
          {"chance", 1 / static_cast<double>(config.classes)}};
}

}  // namespace

EvaluationResult InContextShotsConfig::run(const EvaluationContext& context) const {
  return ask(answerer(context.model, context.lanes), std::get<InContextConfig>(context.task_config),
             context.seed);
}

EvaluationResult InContextShotsConfig::ask(const Answerer& answerer, const InContextConfig& task,
                                           std::uint64_t seed) const {
  EvaluationResult result;
  double accuracy_at_most = 0;
  auto& cells = result.details["cells"] = Json::array();
  for (const auto K : shots) {
    auto config = task;
    config.shots = K;
    for (const auto kind : {ShotOrder::kRandom, ShotOrder::kAlternating}) {
      const auto& cell = cells.emplace_back(ask_cell(*this, answerer, config, kind, seed));
      if (K != largest_of(shots)) continue;
      accuracy_at_most += cell["accuracy"].get<double>() / 2;  // two kinds of order
      result.metrics[name_of(kind) + "_order_margin"] = cell["margin"];
    }
  }
  result.metrics["shots_accuracy"] = accuracy_at_most;
  result.metrics["shots_accuracy_chance"] = 1 / static_cast<double>(task.classes);
  return result;
}

}  // namespace difflab
