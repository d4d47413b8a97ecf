// What is found of sinks, beside loops over dumped maps (head_models.h), and in a model whose heads
// are known by hand.

#include "evaluate/head_models.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::constant_lambda, testing::dumped, testing::evaluate, testing::kHeadKinds;
using testing::kHeadNeedles, testing::kHeadSamples, testing::Matrix, testing::only, testing::uneven;

double mean_weight_on(const Matrix& weights, std::size_t key) {
  double sum = 0;
  for (std::size_t t = key; t < weights.size(); ++t) sum += weights[t][key];
  return sum / static_cast<double>(weights.size() - key);
}

Matrix sizes_of(const Matrix& weights, bool relative) {
  auto sizes = weights;
  for (auto& row : sizes) {
    double sum = 0;
    for (auto& weight : row) sum += weight = std::abs(weight);
    for (auto& weight : row) weight /= relative ? sum : 1;
  }
  return sizes;
}

CATCH_TEST_CASE("sinks are the heads whose mean weight on a token exceeds the threshold") {
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    const auto layers = dumped(model);
    std::map<std::string, double> between;  // how often the answer is neither 0 nor 1
    for (const std::int64_t position : {0, 3}) {
      const double epsilon = position == 0 ? 0.2 : 0.06;
      const auto result = evaluate(
          AttentionSinkConfig{.position = position, .epsilon = epsilon, .samples = kHeadSamples},
          model, kHeadNeedles);
      std::map<std::string, double> overall;
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const auto H = layers[layer][0].size();
        for (std::size_t h = 0; h < H; ++h) {
          std::map<std::string, std::pair<double, double>> share_and_mean;
          for (const auto& heads : layers[layer]) {
            const auto add = [&](const char* map, const Matrix& weights) {
              const double mean = mean_weight_on(weights, static_cast<std::size_t>(position));
              share_and_mean[map].first += mean > epsilon ? 1.0 / kHeadSamples : 0;
              share_and_mean[map].second += mean / kHeadSamples;
            };
            add("first", heads[h].first);
            if (!heads[h].second.empty()) add("second", heads[h].second);
            add("weights", sizes_of(heads[h].weights, false));
            add("relative", sizes_of(heads[h].weights, true));
          }
          for (const auto& [map, expected] : share_and_mean) {
            CATCH_INFO(map << " of head " << h << " in layer " << layer);
            const Json place{{"layer", layer}, {"head", h}, {"map", map}};
            CATCH_CHECK(only(result, place, "share") == Approx(expected.first));
            CATCH_CHECK(only(result, place, "mean") == Approx(expected.second).epsilon(1e-4));
            overall[map] += expected.first / static_cast<double>(H * layers.size());
          }
        }
      }
      CATCH_REQUIRE(overall.contains("second") == (name != "softmax"));
      CATCH_CHECK(result.metrics.size() == overall.size());
      for (const auto& [map, share] : overall) {
        const std::map<std::string, std::string> metrics{{"first", "sink_first_map"},
                                                         {"second", "sink_second_map"},
                                                         {"weights", "sink_weights"},
                                                         {"relative", "sink_relative_weights"}};
        CATCH_CHECK(result.metrics[metrics.at(map)].get<double>() == Approx(share));
        between[map] += share > 0 && share < 1 ? 1 : 0;
      }
    }
    for (const auto& [map, count] : between) {
      CATCH_INFO(map);
      CATCH_CHECK(count > 0);
    }
  }
}

CATCH_TEST_CASE("a planted sink is found in both maps of a difference that hides it") {
  // Every query has the logit 30 at the begin token, which no other place holds, and 0 elsewhere.
  const double lambda = 0.8;
  auto diff = constant_lambda(lambda);
  diff.heads = 1;
  const auto V = kHeadNeedles.vocab_size();
  LanguageModel model({.d_model = V,
                       .layers = 1,
                       .ffn_hidden = 8,
                       .norm_eps = 0,
                       .positions = Positions::kNone,
                       .attention = diff},
                      V);
  {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : model.named_parameters()) parameter.value().zero_();
    auto parameters = model.named_parameters();
    parameters["tok_embeddings.weight"].copy_(at::eye(V));
    parameters["layers.0.attn_norm.weight"].fill_(1);
    const double d = static_cast<double>(V) / 2;
    const double w = std::sqrt(30 * std::sqrt(d) / static_cast<double>(V));
    for (const std::int64_t map : {std::int64_t{0}, V / 2}) {
      parameters["layers.0.attn.q_proj.weight"][map].fill_(w);
      parameters["layers.0.attn.k_proj.weight"][map][0] = w;
    }
  }
  const auto sinks = evaluate(AttentionSinkConfig{.samples = 9}, model, kHeadNeedles);
  CATCH_CHECK(sinks.metrics["sink_first_map"] == 1.0);
  CATCH_CHECK(sinks.metrics["sink_second_map"] == 1.0);
  CATCH_CHECK(sinks.metrics["sink_weights"] == 0.0);  // 1 − λ = .2 is less than .3
  CATCH_CHECK(sinks.metrics["sink_relative_weights"] == 1.0);
  CATCH_CHECK(only(sinks, {{"map", "weights"}}, "mean") == Approx(1 - lambda).epsilon(1e-4));
  const auto elsewhere =
      evaluate(AttentionSinkConfig{.position = 1, .samples = 9}, model, kHeadNeedles);
  for (const auto& [metric, share] : elsewhere.metrics.items()) CATCH_CHECK(share == 0.0);
}

CATCH_TEST_CASE("a sink is looked for where there is a token") {
  struct Lines final : config::Check {
    void problem(std::string_view key, std::string_view) override { keys.emplace_back(key); }
    std::vector<std::string> keys;
  } last, behind;
  AttentionSinkConfig{.position = 19}.validate_task(kHeadNeedles, last);
  AttentionSinkConfig{.position = 20}.validate_task(kHeadNeedles, behind);
  CATCH_CHECK(last.keys.empty());
  CATCH_CHECK(behind.keys == std::vector<std::string>{"position"});
}

}  // namespace
}  // namespace difflab
