#include "task/association/in_context.h"

#include "support/catch.h"
#include "support/task_rows.h"
#include "util/random.h"

namespace difflab {
namespace {

using testing::row_of, testing::words_of;
using Words = std::vector<std::string>;

Words part(const Words& words, std::size_t begin, std::int64_t count) {
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + count};
}

CATCH_TEST_CASE("without flips an in-context sample shows each class and asks for one of them") {
  for (const auto& config :
       {InContextConfig{.flip = 0}, InContextConfig{.shots = 9, .flip = 0, .score_all = false},
        InContextConfig{
            .classes = 2, .shots = 2, .features = 1, .symbols = 2, .labels = 2, .flip = 0}}) {
    const auto task = config.build();
    const auto [inputs, targets, parts] = task->batch(1, Split::kTrain, 2, 100);
    const auto F = config.features, K = config.shots, C = config.classes;
    CATCH_REQUIRE(inputs.size(1) == 1 + K * (F + 1) + F);
    for (std::int64_t i = 0; i < 100; ++i) {
      const Words input = words_of(*task, row_of(inputs, i));
      const Words target = words_of(*task, row_of(targets, i));
      CATCH_REQUIRE(input[0] == "B");
      std::map<Words, std::string> label_of;
      std::map<std::string, std::int64_t> shots_of;
      std::size_t t = 1;
      for (std::int64_t shot = 0; shot < K; ++shot, t += static_cast<std::size_t>(F) + 1) {
        const Words features = part(input, t, F);
        const auto at_label = t + static_cast<std::size_t>(F);
        const std::string& label = input[at_label];
        CATCH_REQUIRE(label[0] == 'l');
        const bool is_new = label_of.emplace(features, label).second;
        CATCH_REQUIRE(label_of.at(features) == label);
        ++shots_of[label];
        for (auto at = t; at <= at_label; ++at) {
          const bool is_scored = config.score_all && !is_new && at + 1 == at_label;
          CATCH_REQUIRE(target[at] == (is_scored ? label : "."));
        }
      }
      CATCH_REQUIRE(static_cast<std::int64_t>(label_of.size()) == C);
      CATCH_REQUIRE(static_cast<std::int64_t>(shots_of.size()) == C);
      for (const auto& [features, label] : label_of) {
        for (const auto& [others, other_label] : label_of) {
          if (label == other_label) continue;
          for (std::size_t f = 0; f < features.size(); ++f) CATCH_REQUIRE(features[f] != others[f]);
        }
      }
      CATCH_REQUIRE(target.back() == label_of.at(part(input, t, F)));
    }
    CATCH_CHECK(task->chance_accuracy() == 1.0 / static_cast<double>(C));
  }
}

CATCH_TEST_CASE("balanced shots have equally many of each class, one more or less") {
  const InContextConfig config{.classes = 3, .shots = 11};
  Random random{5};
  const auto episode = draw_episode(config, ShotClasses::kBalanced, 1, random);
  std::map<std::int64_t, int> count;
  for (const auto& shot : episode.shots) ++count[shot.class_index];
  CATCH_CHECK(count == std::map<std::int64_t, int>{{0, 4}, {1, 4}, {2, 3}});
}

CATCH_TEST_CASE("a flipped feature is any symbol") {
  const InContextConfig config{.classes = 2, .features = 1, .symbols = 4, .flip = 0.4};
  Random random{0};
  int differs = 0, examples = 0;
  for (int e = 0; e < 300; ++e) {
    const auto episode = draw_episode(config, ShotClasses::kDrawn, 100, random);
    std::map<std::int64_t, std::map<std::int64_t, int>> seen;  // class -> symbol -> times
    for (const auto& query : episode.queries) ++seen[query.class_index][query.features[0]];
    for (const auto& [class_index, symbols] : seen) {
      int total = 0, most = 0;
      for (const auto& [symbol, times] : symbols) {
        total += times;
        most = std::max(most, times);  // of some 50 examples the prototype's, which has 70 %
      }
      examples += total;
      differs += total - most;
    }
  }
  // 0.4 of the flips, three quarters of which change something; 5 standard deviations of 30,000
  CATCH_CHECK(std::abs(differs / static_cast<double>(examples) - 0.3) <
              5 * std::sqrt(0.3 * 0.7 / 3e4));
}

CATCH_TEST_CASE("orders hold every shot once, and alternating ones take the classes in turn") {
  for (const std::int64_t shots : {8, 10, 3}) {
    const InContextConfig config{.classes = 3, .shots = shots};
    Random random{1};
    std::set<std::vector<std::size_t>> different;
    for (int i = 0; i < 200; ++i) {
      const auto episode = draw_episode(config, ShotClasses::kBalanced, 1, random);
      for (const auto kind : {ShotOrder::kRandom, ShotOrder::kAlternating}) {
        const auto order = draw_order(config, episode, kind, random);
        different.insert(order);
        const std::set<std::size_t> all(order.begin(), order.end());
        CATCH_REQUIRE(static_cast<std::int64_t>(order.size()) == shots);
        CATCH_REQUIRE(static_cast<std::int64_t>(all.size()) == shots);
        CATCH_REQUIRE(*all.rbegin() == order.size() - 1);
        if (kind == ShotOrder::kRandom) continue;
        for (std::size_t at = 3; at < order.size(); ++at) {
          CATCH_REQUIRE(episode.shots[order[at]].class_index ==
                        episode.shots[order[at - 3]].class_index);
        }
      }
    }
    CATCH_CHECK(different.size() > 5);
  }
}

}  // namespace
}  // namespace difflab
