// What is found of a layer's heads, beside loops over dumped maps and outputs (head_models.h), and
// in models whose heads are known by hand.

#include "evaluate/head_models.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::cells_with, testing::constant_lambda, testing::dumped, testing::DumpedHead;
using testing::evaluate, testing::even, testing::kHeadKinds, testing::kHeadNeedles;
using testing::kHeadSamples, testing::kHeadTokens, testing::Matrix, testing::only, testing::uneven;

using Heads = std::vector<std::vector<DumpedHead>>;  // [sequence][head]

double cosine(const Matrix& a, const Matrix& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t s = 0; s < a.size(); ++s) {
      ab += a[t][s] * b[t][s];
      aa += a[t][s] * a[t][s];
      bb += b[t][s] * b[t][s];
    }
  }
  return ab / std::sqrt(aa * bb);
}

/// All rows of a head's output, one below the other.
Matrix rows_of(const Heads& heads, std::size_t head) {
  Matrix rows;
  for (const auto& sequence : heads) {
    rows.insert(rows.end(), sequence[head].after.begin(), sequence[head].after.end());
  }
  return rows;
}

/// K = XXᵀ with rows and columns centred: what CKA was defined by, n × n.
Matrix centred_kernel(const Matrix& x) {
  const auto n = x.size();
  Matrix k(n, std::vector<double>(n));
  std::vector<double> mean(n);
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t c = 0; c < x[i].size(); ++c) k[i][j] += x[i][c] * x[j][c];
      mean[i] += k[i][j] / static_cast<double>(n);
    }
    all += mean[i] / static_cast<double>(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) k[i][j] += all - mean[i] - mean[j];
  }
  return k;
}

CATCH_TEST_CASE("distances and likeness of heads are those of loops over their maps and outputs") {
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    const auto result =
        evaluate(HeadRedundancyConfig{{.samples = kHeadSamples}}, model, kHeadNeedles);
    double distances = 0, likenesses = 0, pairs = 0;
    const auto layers = dumped(model);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      const auto H = layers[layer][0].size();
      for (std::size_t head = 0; head < H; ++head) {
        for (std::size_t other = head + 1; other < H; ++other) {
          double distance = 0;
          for (const auto& heads : layers[layer]) {
            distance += (1 - cosine(heads[head].weights, heads[other].weights)) / kHeadSamples;
          }
          const auto one = centred_kernel(rows_of(layers[layer], head));
          const auto two = centred_kernel(rows_of(layers[layer], other));
          const double likeness = cosine(one, two);
          const Json place{{"part", "pair"}, {"layer", layer}, {"head", head}, {"other", other}};
          CATCH_CHECK(only(result, place, "map_distance") == Approx(distance).epsilon(1e-4));
          CATCH_CHECK(only(result, place, "output_cka") == Approx(likeness).epsilon(1e-4));
          CATCH_CHECK((distance > 0.05 && likeness < 0.95));
          distances += distance;
          likenesses += likeness;
          ++pairs;
        }
      }
    }
    CATCH_CHECK(result.metrics["map_distance"].get<double>() == Approx(distances / pairs));
    CATCH_CHECK(result.metrics["output_cka"].get<double>() == Approx(likenesses / pairs));
  }
}

CATCH_TEST_CASE("widths and signs of heads are those of loops over the rows of their maps") {
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    const auto result =
        evaluate(HeadRedundancyConfig{{.samples = kHeadSamples}}, model, kHeadNeedles);
    const auto layers = dumped(model);
    std::map<std::string, double> overall;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      const auto H = layers[layer][0].size();
      std::map<std::string, double> of_layer;
      for (std::size_t head = 0; head < H; ++head) {
        double negative = 0, size = 0, entropies = 0, tokens = 0, sums = 0;
        for (const auto& heads : layers[layer]) {
          for (const auto& row : heads[head].weights) {
            double total = 0, entropy = 0, sum = 0;
            for (const double weight : row) {
              total += std::abs(weight);
              negative += weight < 0 ? -weight : 0;
              sum += weight;
            }
            for (const double weight : row) {
              const double p = std::abs(weight) / total;
              entropy -= p > 0 ? p * std::log(p) : 0;
            }
            size += total;
            entropies += entropy;
            tokens += std::exp(entropy);
            sums += sum;
          }
        }
        const double rows = kHeadSamples * kHeadTokens;
        const std::map<std::string, double> expected{{"negative_share", negative / size},
                                                     {"attention_entropy", entropies / rows},
                                                     {"attended_tokens", tokens / rows},
                                                     {"row_sum", sums / rows}};
        for (const auto& [key, value] : expected) {
          CATCH_INFO(key);
          const Json place{{"part", "head"}, {"layer", layer}, {"head", head}};
          CATCH_CHECK(only(result, place, key.c_str()) == Approx(value).epsilon(1e-4));
          of_layer[key] += value / static_cast<double>(H);
        }
      }
      for (const auto& [key, value] : of_layer) {
        CATCH_INFO(key);
        const Json place{{"part", "layer"}, {"layer", layer}};
        CATCH_CHECK(only(result, place, key.c_str()) == Approx(value).epsilon(1e-4));
        overall[key] += value / static_cast<double>(layers.size());
      }
    }
    for (const auto& [key, value] : overall) {
      CATCH_CHECK(result.metrics[key].get<double>() == Approx(value).epsilon(1e-4));
    }
    CATCH_CHECK((overall["negative_share"] > 0.01) == (name != "softmax"));
  }
}

CATCH_TEST_CASE("even attention has the entropy log t, and a difference the sign of 1 - lambda") {
  double entropy = 0;
  for (std::int64_t t = 1; t <= kHeadTokens; ++t) {
    entropy += std::log(static_cast<double>(t)) / kHeadTokens;
  }
  for (const double lambda : {0.0, 0.75, 1.25}) {
    auto model = even(constant_lambda(lambda));
    const auto result = evaluate(HeadRedundancyConfig{{.samples = 3}}, model, kHeadNeedles);
    CATCH_CHECK(result.metrics["attention_entropy"].get<double>() == Approx(entropy).epsilon(1e-5));
    CATCH_CHECK(result.metrics["attended_tokens"].get<double>() ==
                Approx((kHeadTokens + 1) / 2.0).epsilon(1e-5));
    CATCH_CHECK(result.metrics["negative_share"].get<double>() ==
                Approx(lambda > 1 ? 1 : 0).margin(1e-9));
    CATCH_CHECK(result.metrics["row_sum"].get<double>() == Approx(1 - lambda).epsilon(1e-5));
    CATCH_CHECK(result.metrics["map_distance"].get<double>() == Approx(0).margin(1e-6));
  }
}

CATCH_TEST_CASE("rows without any weight have no entropy") {
  // Even maps, λ = 1: nothing is left of any row.
  auto model = even(constant_lambda(1));
  const auto result = evaluate(HeadRedundancyConfig{{.samples = 3}}, model, kHeadNeedles);
  CATCH_CHECK(result.metrics["attention_entropy"] == 0.0);
  CATCH_CHECK(result.metrics["attended_tokens"] == 0.0);
  CATCH_CHECK(result.metrics["negative_share"] == 0.0);
  CATCH_CHECK_FALSE(result.metrics.contains("output_cka"));  // outputs are constant
  CATCH_CHECK(cells_with(result, {{"part", "pair"}})[0]["output_cka"].is_null());
}

CATCH_TEST_CASE("identical heads have distance 0 and likeness 1, and one head has no pair") {
  auto model = uneven(SoftmaxAttentionConfig{.heads = 2});
  {
    const at::NoGradGuard no_grad;
    auto parameters = model.named_parameters();
    for (const char* projection : {"q_proj", "k_proj", "v_proj"}) {
      for (const std::int64_t layer : {0, 1}) {
        auto& weight = parameters[concat("layers.", layer, ".attn.", projection, ".weight")];
        weight.narrow(0, 8, 8).copy_(weight.narrow(0, 0, 8).clone());
      }
    }
  }
  const auto result = evaluate(HeadRedundancyConfig{{.samples = 5}}, model, kHeadNeedles);
  CATCH_CHECK(result.metrics["map_distance"].get<double>() == Approx(0).margin(1e-12));
  CATCH_CHECK(result.metrics["output_cka"].get<double>() == Approx(1).epsilon(1e-12));

  auto alone = uneven(SoftmaxAttentionConfig{.heads = 1});
  const auto single = evaluate(HeadRedundancyConfig{{.samples = 5}}, alone, kHeadNeedles);
  CATCH_CHECK_FALSE(single.metrics.contains("map_distance"));
  CATCH_CHECK(single.metrics.contains("attention_entropy"));
  CATCH_CHECK(only(single, {{"part", "layer"}, {"layer", 1}}, "row_sum") == Approx(1));
}

}  // namespace
}  // namespace difflab
