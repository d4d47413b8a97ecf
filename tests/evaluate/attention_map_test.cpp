// One example's weights, beside those of loops over dumped logits (head_models.h).

#include "evaluate/head_models.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::cells_with, testing::dumped, testing::evaluate, testing::kHeadKinds;
using testing::kHeadNeedles, testing::kHeadTokens, testing::Matrix, testing::only, testing::uneven;

constexpr std::size_t kExample = 4;

CATCH_TEST_CASE("a map holds every weight of the asked sequence, head by head and their mean") {
  constexpr std::size_t kCausal = kHeadTokens * (kHeadTokens + 1) / 2;
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    const auto layers = dumped(model);
    const auto result = evaluate(
        AttentionMapConfig{
            .sequence = kExample, .queries = MapQueries::kEvery, .heads = MapHeads::kEach},
        model, kHeadNeedles);
    CATCH_CHECK(result.metrics.empty());
    const auto H = layers[0][0].size();
    const std::size_t maps = name == "softmax" ? 1 : 3;
    CATCH_CHECK(result.details["cells"].size() == layers.size() * maps * (H + 1) * kCausal);
    using Place = std::pair<std::size_t, std::string>;  // layer, map
    std::map<Place, std::map<std::pair<std::size_t, std::size_t>, double>> sums, sizes;
    const auto tokens = kHeadNeedles.build()->batch(3, Split::kTest, 0, 5).inputs[kExample];
    for (const auto& cell : cells_with(result, {})) {
      const std::size_t layer = cell["layer"], query = cell["query"], key = cell["key"];
      CATCH_CHECK(cell["token"] ==
                  kHeadNeedles.build()->token_text(
                      tokens[static_cast<std::int64_t>(key)].item<std::int64_t>()));
      const std::string map = cell["map"];
      if (cell["head"] == "mean") continue;
      const auto& head = layers[layer][kExample][cell["head"].get<std::size_t>()];
      const auto& weights = map == "first"    ? head.first
                            : map == "second" ? head.second
                                              : head.weights;
      double row = 0;
      for (const double weight : weights[query]) row += std::abs(weight);
      const double weight = weights[query][key];
      CATCH_CHECK(cell["weight"].get<double>() == Approx(weight).margin(1e-5));
      CATCH_CHECK(cell["share"].get<double>() == Approx(std::abs(weight) / row).margin(1e-5));
      sums[{layer, map}][{query, key}] += weight / static_cast<double>(H);
      sizes[{layer, map}][{query, key}] += std::abs(weight) / row / static_cast<double>(H);
    }
    CATCH_CHECK(sums.size() == layers.size() * maps);
    for (const auto& cell : cells_with(result, {{"head", "mean"}})) {
      const Place place{cell["layer"], cell["map"]};
      const std::pair<std::size_t, std::size_t> at{cell["query"], cell["key"]};
      CATCH_CHECK(cell["weight"].get<double>() == Approx(sums[place][at]).margin(1e-5));
      CATCH_CHECK(cell["share"].get<double>() == Approx(sizes[place][at]).margin(1e-5));
    }
  }
}

CATCH_TEST_CASE("by default a map is that of the last position, with the needle where it is told") {
  auto model = uneven(SoftmaxAttentionConfig{.heads = 2});
  std::map<double, std::int64_t> places;
  for (const double depth : {0.0, 100.0}) {
    const auto result = evaluate(AttentionMapConfig{.depth = depth}, model, kHeadNeedles);
    const auto cells = cells_with(result, {{"layer", 1}});
    CATCH_REQUIRE(cells.size() == kHeadTokens);
    CATCH_CHECK(cells_with(result, {}).size() == 2 * kHeadTokens);
    double shares = 0;
    for (std::size_t key = 0; key < cells.size(); ++key) {
      CATCH_CHECK(cells[key]["query"] == kHeadTokens - 1);
      CATCH_CHECK(cells[key]["key"] == key);
      CATCH_CHECK(cells[key]["head"] == "mean");
      shares += cells[key]["share"].get<double>();
      if (key + 1 < cells.size() && cells[key]["token"] == cells.back()["token"]) {
        places[depth] = static_cast<std::int64_t>(key);
      }
    }
    CATCH_CHECK(shares == Approx(1));
  }
  CATCH_CHECK(places[0] <= 3);  // at most the other needle lies before
  CATCH_CHECK(places[100] >= kHeadTokens - 2 - 4);
}

CATCH_TEST_CASE("of a mixture a map shows the task it is named for") {
  NeedleRecallConfig mixture{.needle = kHeadNeedles};
  mixture.recall_share = 0.5;
  auto model = uneven(kHeadKinds.front().second);
  for (const std::int64_t sequence : {0, 1, 3}) {
    const AttentionMapConfig shown{.sequence = sequence};
    const auto tokens_of = [&](const TaskConfig& task) {
      std::string text;
      for (const auto& cell : evaluate(shown, model, task).details["cells"]) {
        if (cell["layer"] == 0 && cell["map"] == "weights") text += cell["token"].dump();
      }
      return text;
    };
    CATCH_CHECK(tokens_of(mixture) == tokens_of(kHeadNeedles));
  }
}

CATCH_TEST_CASE("a map of every query is one of few tokens, and a depth one of needles") {
  struct Keys final : config::Check {
    void problem(std::string_view key, std::string_view) override { found.emplace_back(key); }
    std::vector<std::string> found;
  };
  const auto refused = [](const AttentionMapConfig& config, const TaskConfig& task) {
    Keys keys;
    config.validate_task(task, keys);
    return keys.found;
  };
  using Names = std::vector<std::string>;
  auto longest = kHeadNeedles;
  longest.length = AttentionMapConfig::kLongestMap;
  auto longer = kHeadNeedles;
  longer.length = AttentionMapConfig::kLongestMap + 1;
  const AttentionMapConfig every{.queries = MapQueries::kEvery};
  CATCH_CHECK(refused(every, longest).empty());
  CATCH_CHECK(refused(every, longer) == Names{"queries"});
  CATCH_CHECK(refused({}, longer).empty());
  CATCH_CHECK(refused({.depth = 50.0}, RecallConfig{}) == Names{"depth"});
  CATCH_CHECK(refused({.depth = 50.0}, longest).empty());
}

}  // namespace
}  // namespace difflab
