// What evaluations see inside models that are built by hand, so that the answer is known.

#include "evaluate/evaluation_config.h"
#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "support/evaluation_cells.h"
#include "support/parrot.h"

namespace difflab {
namespace {

using testing::cells_with, testing::evaluate, testing::only;

const NeedleConfig kAnalysisNeedles{
    .length = 24, .needles = 2, .queries = 1, .noise_tokens = 8, .keys = 4, .values = 4};
constexpr std::int64_t kVocab = 18;  // 2 + 8 + 4 + 4

/// One layer whose token i is the unit vector i, whose blocks add nothing, and whose attention
/// gives a pair of equal tokens the logit `match` and every other pair 0.
LanguageModel matcher(double match, AttentionConfig attention, std::int64_t width_of_head) {
  const at::NoGradGuard no_grad;
  LanguageModel model({.d_model = kVocab,
                       .layers = 1,
                       .ffn_hidden = 8,
                       .norm_eps = 0,
                       .positions = Positions::kNone,
                       .attention = attention},
                      kVocab);
  for (const auto& parameter : model.named_parameters()) parameter.value().zero_();
  auto parameters = model.named_parameters();
  parameters["tok_embeddings.weight"].copy_(at::eye(kVocab));
  parameters["layers.0.attn_norm.weight"].fill_(1);
  // The norm makes √D of 1, both sides are multiplied by w: w² D / √d = match.
  const double w =
      std::sqrt(match * std::sqrt(static_cast<double>(width_of_head)) / double{kVocab});
  for (const char* name : {"layers.0.attn.q_proj.weight", "layers.0.attn.k_proj.weight"}) {
    auto& weight = parameters[name];
    weight.copy_(w * at::eye(weight.size(0), kVocab));
  }
  return model;
}

CATCH_TEST_CASE("even attention lies on each region by its number of positions") {
  auto model = matcher(0, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  const auto result = evaluate(AttentionAllocationConfig{.depths = {0, 100}, .samples = 50}, model,
                               kAnalysisNeedles);
  for (const double depth : {0.0, 100.0}) {
    NeedleConfig needles = kAnalysisNeedles;
    needles.depth = depth;
    const auto batch = needles.build()->batch(3, Split::kTest, 0, 50);
    double before = 0;
    for (std::int64_t row = 0; row < 50; ++row) {
      std::int64_t t = 1;
      while (!batch.inputs[row][t].equal(batch.inputs[row][23])) ++t;
      before += static_cast<double>(t - 1) / 50;
    }
    CATCH_CHECK(before < (depth == 0 ? 3 : 24));
    for (const Json& layer : {Json(0), Json("all")}) {
      const auto share = [&](const char* region) {
        return only(result, {{"depth", depth}, {"layer", layer}, {"region", region}}, "share");
      };
      CATCH_CHECK(share("begin") == Approx(1 / 24.));
      CATCH_CHECK(share("answer") == Approx(2 / 24.));
      CATCH_CHECK(share("question") == Approx(2 / 24.));
      CATCH_CHECK(share("before") == Approx(before / 24));
      CATCH_CHECK(share("after") == Approx((24 - 5 - before) / 24).margin(1e-6));
    }
  }
  CATCH_CHECK(result.metrics["attention_to_noise"].get<double>() == Approx(19 / 24.));
}

CATCH_TEST_CASE("the answer is the last pair with all tokens of the asked key") {
  auto task = kAnalysisNeedles;
  task.length = 40;
  task.key_tokens = 2;
  task.distractors = {.near = 1, .same_value = 0, .stale = 2};
  task.values = 7;
  task.noise_tokens = 5;
  auto model = matcher(0, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  const auto result =
      evaluate(AttentionAllocationConfig{.depths = {60}, .samples = 50}, model, task);
  task.depth = 60;
  const auto inputs = task.build()->batch(3, Split::kTest, 0, 50).inputs;
  double before = 0;
  for (std::int64_t row = 0; row < 50; ++row) {
    const auto token = [&](std::int64_t t) { return inputs[row][t].item<std::int64_t>(); };
    std::int64_t t = 35;  // behind it only the question, and the value before that
    while (token(t) != token(38) || token(t + 1) != token(39)) --t;
    before += static_cast<double>(t - 1) / 50;
  }
  const auto to = [&](const char* region) {
    return result.metrics[concat("attention_to_", region)].get<double>();
  };
  CATCH_CHECK(to("answer") == Approx(3 / 40.));
  CATCH_CHECK(to("question") == Approx(3 / 40.));
  CATCH_CHECK(to("before") == Approx(before / 40));
  CATCH_CHECK(to("after") == Approx((40 - 7 - before) / 40).margin(1e-6));
}

CATCH_TEST_CASE("planted attention on the asked key is found there, whatever the depth") {
  // Of 24 positions two hold the asked key: the needle's and the question's.
  const double e = std::exp(2.0);
  auto model = matcher(2, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  const auto result = evaluate(AttentionAllocationConfig{.depths = {0, 50, 100}, .samples = 30},
                               model, kAnalysisNeedles);
  CATCH_CHECK(result.metrics["attention_to_answer"].get<double>() ==
              Approx((e + 1) / (2 * e + 22)).epsilon(1e-5));
  CATCH_CHECK(result.metrics["attention_to_begin"].get<double>() ==
              Approx(1 / (2 * e + 22)).epsilon(1e-5));
  CATCH_CHECK(cells_with(result, {{"region", "answer"}}).size() == 6);
}

CATCH_TEST_CASE("shares of a difference are those of sizes, weights keep the sign and 1 - lambda") {
  const double lambda = 0.75;
  DifferentialAttentionConfig diff{.heads = 1};
  diff.lambda_form = LambdaForm::kConstant;
  diff.lambda_init = LambdaInit(lambda);
  auto model = matcher(2, diff, kVocab / 2);
  {
    // The first map is even; the second has the tokens from 9 on, to which keys belong.
    const at::NoGradGuard no_grad;
    model.named_parameters()["layers.0.attn.q_proj.weight"].narrow(0, 0, 9).zero_();
  }
  const auto result =
      evaluate(AttentionAllocationConfig{.depths = {50}, .samples = 20}, model, kAnalysisNeedles);
  const double S = 2 * std::exp(2.0) + 22;
  const double same = 1 / 24. - lambda * std::exp(2.0) / S, other = 1 / 24. - lambda / S;
  CATCH_REQUIRE(same < 0);
  const double sizes = 2 * std::abs(same) + 22 * std::abs(other);
  const Json answer{{"layer", 0}, {"region", "answer"}};
  CATCH_CHECK(only(result, answer, "weight") == Approx(same + other).epsilon(1e-4));
  CATCH_CHECK(only(result, answer, "share") ==
              Approx((std::abs(same) + std::abs(other)) / sizes).epsilon(1e-4));
  double share = 0, weight = 0;
  for (const auto& cell : cells_with(result, {{"layer", 0}})) {
    share += cell["share"].get<double>();
    weight += cell["weight"].get<double>();
  }
  CATCH_CHECK(share == Approx(1));
  CATCH_CHECK(weight == Approx(1 - lambda));
}

CATCH_TEST_CASE("outliers are the planted ones") {
  const double match = 7;
  auto model = matcher(match, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  const auto result = evaluate(ActivationOutliersConfig{{.samples = 40}}, model, kAnalysisNeedles);
  CATCH_CHECK(result.metrics["logit_top1"].get<double>() == Approx(match).epsilon(1e-5));
  CATCH_CHECK(result.metrics["logit_median"] == 0.0);
  CATCH_CHECK(result.metrics["hidden_top1"].get<double>() == Approx(1));  // unit vectors
  CATCH_CHECK(result.metrics["hidden_median"] == 0.0);
  CATCH_CHECK(only(result, {{"activation", "logit"}, {"rank", 100}}, "value") ==
              Approx(match).epsilon(1e-5));
  // Pairs (t, s <= t) of equal tokens have the logit 7, between 4 and 8.
  const auto tokens = kAnalysisNeedles.build()->batch(3, Split::kTest, 0, 40).inputs;
  const auto equal = tokens.unsqueeze(2).eq(tokens.unsqueeze(1)).tril();
  const double share = equal.sum().item<double>() / (40 * 24 * 25 / 2);
  CATCH_CHECK(only(result, {{"activation", "logit"}, {"low", 4.0}}, "share") == Approx(share));
  double all = 0;
  for (const auto& cell : cells_with(result, {{"part", "histogram"}, {"activation", "logit"}})) {
    all += cell["share"].get<double>();
  }
  CATCH_CHECK(all == Approx(1));
}

CATCH_TEST_CASE("rounding the logits reaches the answer") {
  // Equal tokens have logit 2, so two bits (−2, 0, 2) lose nothing of it: the loss stays.
  auto model = matcher(2, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  {
    const at::NoGradGuard no_grad;
    auto parameters = model.named_parameters();
    parameters["layers.0.attn.v_proj.weight"].copy_(at::eye(kVocab));
    parameters["layers.0.attn.out_proj.weight"].copy_(at::eye(kVocab));
    parameters["norm.weight"].fill_(1);
    parameters["output.weight"].copy_(at::eye(kVocab));
    // Values are seen with a logit of 0.9, which two bits round to 0 and many bits keep.
    auto& k = parameters["layers.0.attn.k_proj.weight"];
    for (std::int64_t key = 10; key < 14; ++key) k[key].narrow(0, 14, 4).fill_(0.45 * k[key][key]);
  }
  const auto result =
      evaluate(QuantizationConfig{.of = Quantized::kLogits, .bits = {2, 16}, .samples = 60}, model,
               kAnalysisNeedles);
  const double exact = only(result, {{"bits", 0}}, "loss");
  CATCH_CHECK(only(result, {{"bits", 16}}, "loss") == Approx(exact).epsilon(1e-3));
  CATCH_CHECK(std::abs(only(result, {{"bits", 2}}, "loss") - exact) > 1e-2);
  CATCH_CHECK(result.metrics["accuracy_unquantized_chance"] == 0.5);
  CATCH_CHECK(cells_with(result, {{"bits", 2}})[0]["n"] == 60);
  // Nothing stays behind in the model.
  const auto again =
      evaluate(QuantizationConfig{.of = Quantized::kLogits, .bits = {16}, .samples = 60}, model,
               kAnalysisNeedles);
  CATCH_CHECK(only(again, {{"bits", 0}}, "loss") == exact);
}

TextConfig short_text(std::int64_t length) {
  TextConfig text;
  text.generated_characters = 20'000;
  text.length = length;
  return text;
}

CATCH_TEST_CASE("the loss by position is that of each position, at every length") {
  const auto text = short_text(16);
  const auto V = text.vocab_size();
  auto model = testing::parrot(5, V, 2);
  const auto result =
      evaluate(LossByPositionConfig{.lengths = {16, 40}, .bin = 12, .samples = 30}, model, text);
  const double log_sum = std::log(std::exp(2.0) + static_cast<double>(V - 1));
  for (const std::int64_t length : {16, 40}) {
    const auto said = short_text(length).build()->batch(3, Split::kTest, 0, 30).targets.eq(5);
    CATCH_REQUIRE(cells_with(result, {{"length", length}}).size() == (length == 16 ? 2 : 4));
    for (const auto& cell : cells_with(result, {{"length", length}})) {
      const std::int64_t first = cell["position"], last = cell["until"];
      const auto share =
          said.narrow(1, first - 1, last - first + 1).to(at::kDouble).mean().item<double>();
      CATCH_CHECK(cell["loss"].get<double>() == Approx(log_sum - 2 * share).epsilon(1e-5));
      CATCH_CHECK(cell["n"] == (last - first + 1) * 30);
    }
  }
  CATCH_CHECK(result.metrics["loss_at_40"] ==
              cells_with(result, {{"length", 40}, {"position", 37}})[0]["loss"]);
}

CATCH_TEST_CASE("of a language whose entropy is known the loss is told above it") {
  const LanguageConfig language{.length = 24, .words = 10, .followers = 2, .names = 3};
  const auto V = language.vocab_size();
  auto model = testing::parrot(0, V, 2);  // B, which is never right
  const auto by_position = evaluate(
      LossByPositionConfig{.lengths = {24, 36}, .bin = 10, .samples = 20}, model, language);
  const double loss = std::log(std::exp(2.0) + static_cast<double>(V - 1));
  const auto entropies = with_length(language, 36).build()->token_entropies();
  for (const auto& cell : by_position.details["cells"]) {
    const std::int64_t first = cell["position"], last = cell["until"];
    double sum = 0;
    for (auto t = first - 1; t < last; ++t) sum += entropies[static_cast<std::size_t>(t)];
    CATCH_CHECK(cell["excess"].get<double>() ==
                Approx(loss - sum / static_cast<double>(last - first + 1)).epsilon(1e-5));
  }
  CATCH_CHECK(by_position.metrics["loss_excess_at_36"].get<double>() ==
              by_position.details["cells"].back()["excess"].get<double>());
  const auto heldout = evaluate(HeldoutConfig{.samples = 30}, model, language);
  CATCH_CHECK(heldout.metrics["language_loss_excess"].get<double>() ==
              Approx(loss - *language.build()->entropy()).epsilon(1e-5));
  const auto of_recall = evaluate(HeldoutConfig{.samples = 4}, model, RecallConfig{.tokens = V});
  CATCH_CHECK_FALSE(of_recall.metrics.contains("recall_loss_excess"));
}

CATCH_TEST_CASE("hits are the targets that end an n-gram of their context") {
  const auto text = short_text(50);
  auto model = testing::parrot(5, text.vocab_size(), 2);
  const auto batch = text.build()->batch(3, Split::kTest, 0, 20);
  for (const std::int64_t n : {2, 4}) {
    const auto result = evaluate(ArHitConfig{.n = n, .samples = 20}, model, text);
    std::int64_t hits = 0, said = 0;
    for (std::int64_t row = 0; row < 20; ++row) {
      std::string all;  // the window as a text of one character per token
      for (std::int64_t t = 0; t < 50; ++t)
        all += static_cast<char>(batch.inputs[row][t].item<int>());
      all += static_cast<char>(batch.targets[row][49].item<int>());
      for (std::size_t end = static_cast<std::size_t>(n); end < all.size() + 0; ++end) {
        const auto gram =
            all.substr(end - static_cast<std::size_t>(n) + 1, static_cast<std::size_t>(n));
        const bool hit = all.substr(0, end).find(gram) != std::string::npos;
        hits += hit ? 1 : 0;
        said += hit && all[end] == 5 ? 1 : 0;
      }
    }
    CATCH_REQUIRE(hits > 5);
    CATCH_CHECK(result.details["hits"] == hits);
    CATCH_CHECK(result.details["others"] == 20 * 50 - hits);
    CATCH_CHECK(result.metrics["ar_hit_accuracy"].get<double>() ==
                Approx(static_cast<double>(said) / static_cast<double>(hits)));
    const double log_sum = std::log(std::exp(2.0) + static_cast<double>(text.vocab_size() - 1));
    CATCH_CHECK(
        result.metrics["ar_hit_loss"].get<double>() ==
        Approx(log_sum - 2 * static_cast<double>(said) / static_cast<double>(hits)).epsilon(1e-5));
  }
}

CATCH_TEST_CASE("initial gradients are those of the untouched model, whatever it has become") {
  const ModelConfig config{
      .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 2}};
  LanguageModel trained(config, kVocab);
  initialise(trained, config, 99);
  const auto result = evaluate(InitialGradientsConfig{.samples = 12}, trained, kAnalysisNeedles, 4);
  LanguageModel fresh(config, kVocab);
  initialise(fresh, config, 4);
  auto halved = config;
  halved.attention_scale = 0.5;
  LanguageModel half(halved, kVocab);
  const auto smaller = evaluate(InitialGradientsConfig{.samples = 12}, half, kAnalysisNeedles, 4);
  const auto batch = kAnalysisNeedles.build()->batch(4, Split::kTrain, 0, 12);
  // ∂loss/∂output = (softmax − one-hot)ᵀ h / n, by hand.
  const at::NoGradGuard no_grad;
  const auto h = fresh.hidden(batch.inputs).select(1, -1);  // asked at the last position
  const auto target = batch.targets.select(1, -1);
  const auto error = fresh.head(h).softmax(-1) - at::one_hot(target, kVocab);
  const double norm = (error.t().matmul(h) / 12).norm().item<double>();
  CATCH_CHECK(only(result, {{"parameter", "output.weight"}}, "norm") == Approx(norm).epsilon(1e-4));
  CATCH_CHECK(
      cells_with(result, {{"part", "gradient"}, {"layer", 1}, {"matrix", "attn.q_proj.weight"}})
          .size() == 1);
  double sum = 0;
  for (const auto& cell : cells_with(result, {{"part", "gradient"}})) {
    sum += std::pow(cell["norm"].get<double>(), 2);
  }
  CATCH_CHECK(result.metrics["initial_grad_norm"].get<double>() == Approx(std::sqrt(sum)));
  CATCH_CHECK(result.metrics["attention_rms_initial"] != result.metrics["attention_rms"]);
  CATCH_CHECK(cells_with(result, {{"part", "output"}}).size() == 4);

  const auto embeddings =
      fresh.named_parameters()["tok_embeddings.weight"].index_select(0, batch.inputs.flatten());
  const double first =
      only(result, {{"part", "output"}, {"state", "initial"}, {"layer", 0}}, "rms");
  const double ratio = first / embeddings.square().mean().sqrt().item<double>();
  CATCH_CHECK(result.metrics["attention_ratio_initial"].get<double>() == Approx(ratio));
  CATCH_CHECK(smaller.metrics["attention_ratio_initial"].get<double>() == Approx(ratio / 2));
}

CATCH_TEST_CASE("lambdas are spread as planted, and kinds without one have none") {
  // λ of token i is i / 20, the same in both heads.
  DifferentialV2Config v2{.heads = 2};
  v2.head_dim = 10;
  auto model = matcher(0, v2, 10);
  {
    const at::NoGradGuard no_grad;
    const auto p = (at::arange(kVocab).to(at::kFloat) / 20).clamp_min(1e-3);
    model.named_parameters()["layers.0.attn.lambda_proj.weight"].copy_(
        (p / (1 - p)).log().div(std::sqrt(double{kVocab})).expand({2, kVocab}));
  }
  const auto result =
      evaluate(LambdaDistributionConfig{{.samples = 30}, 10}, model, kAnalysisNeedles);
  const auto tokens =
      kAnalysisNeedles.build()->batch(3, Split::kTest, 0, 30).inputs.to(at::kDouble);
  const auto planted = (tokens / 20).clamp_min(1e-3);
  CATCH_CHECK(result.metrics["lambda_mean"].get<double>() ==
              Approx(planted.mean().item<double>()).epsilon(1e-4));
  CATCH_CHECK(result.metrics["lambda_sd"].get<double>() ==
              Approx(planted.std(false).item<double>()).epsilon(1e-4));
  CATCH_CHECK(only(result, {{"part", "head"}, {"head", 1}}, "mean") ==
              Approx(planted.mean().item<double>()).epsilon(1e-4));
  double all = 0;
  for (const auto& cell : cells_with(result, {{"part", "histogram"}})) {
    all += cell["share"].get<double>();
  }
  CATCH_CHECK(all == Approx(1));

  auto transformer = matcher(1, SoftmaxAttentionConfig{.heads = 1}, kVocab);
  const auto none = evaluate(LambdaDistributionConfig{}, transformer, kAnalysisNeedles);
  CATCH_CHECK(none.details["cells"].empty());
  CATCH_CHECK(none.metrics.empty());
}

}  // namespace
}  // namespace difflab
