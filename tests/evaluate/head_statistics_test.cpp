// Sizes, tails and gradients of heads' outputs, beside loops over dumped outputs and finite
// differences.

#include "evaluate/head_models.h"
#include "model/score.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::cells_with, testing::dumped, testing::evaluate, testing::kHeadKinds;
using testing::kHeadNeedles, testing::kHeadSamples, testing::only, testing::uneven;

CATCH_TEST_CASE("sizes and tails of heads are those of loops over their outputs") {
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    const auto result =
        evaluate(HeadStatisticsConfig{{.samples = kHeadSamples}}, model, kHeadNeedles);
    const auto layers = dumped(model);
    for (const std::string stage : {"before", "after"}) {
      double sizes = 0, tails = 0, heads = 0;
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        for (std::size_t head = 0; head < layers[layer][0].size(); ++head) {
          std::vector<double> all;
          for (const auto& sequence : layers[layer]) {
            for (const auto& row :
                 stage == "before" ? sequence[head].before : sequence[head].after) {
              all.insert(all.end(), row.begin(), row.end());
            }
          }
          const auto n = static_cast<double>(all.size());
          double mean = 0, square = 0, second = 0, fourth = 0;
          for (const double x : all) {
            mean += x / n;
            square += x * x / n;
          }
          for (const double x : all) {
            second += std::pow(x - mean, 2) / n;
            fourth += std::pow(x - mean, 4) / n;
          }
          const Json place{{"layer", layer}, {"head", head}, {"stage", stage}};
          CATCH_CHECK(only(result, place, "rms") == Approx(std::sqrt(square)).epsilon(1e-4));
          CATCH_CHECK(only(result, place, "kurtosis") ==
                      Approx(fourth / (second * second)).epsilon(1e-4));
          sizes += std::sqrt(square);
          tails += fourth / (second * second);
          ++heads;
        }
      }
      CATCH_CHECK(result.metrics["head_rms_" + stage].get<double>() ==
                  Approx(sizes / heads).epsilon(1e-4));
      CATCH_CHECK(result.metrics["head_kurtosis_" + stage].get<double>() ==
                  Approx(tails / heads).epsilon(1e-4));
    }
  }
}

/// The mean loss of every sequence [B] if something is added to all heads' outputs of one layer.
at::Tensor losses_with(LanguageModel& model, const Batch& batch, std::int64_t layer,
                       HeadPoint where, const at::Tensor& added) {  // [H, T, width]
  const at::NoGradGuard no_grad;
  std::vector<std::unique_ptr<WithHeadHook>> hooks;
  std::int64_t at = 0;
  model.for_each_attention([&](const std::string&, Attention& attention) {
    if (at++ != layer) return;
    hooks.push_back(
        std::make_unique<WithHeadHook>(attention, [&](HeadPoint point, const at::Tensor& heads) {
          return point == where ? heads + added : heads;
        }));
  });
  const auto losses = token_losses(model.forward(batch.inputs), batch.targets);
  return losses.sum(1) / (batch.targets >= 0).sum(1);
}

CATCH_TEST_CASE("gradients of heads are those of finite differences, sequence by sequence") {
  auto needles = kHeadNeedles;
  needles.length = 12;
  needles.queries = 2;
  const auto batch = needles.build()->batch(3, Split::kTest, 0, 3);
  for (const auto& [name, attention] : kHeadKinds) {
    auto model = uneven(attention, 0.3);
    model.to(at::kDouble);
    const auto result = evaluate(HeadStatisticsConfig{{.samples = 3}}, model, needles);
    const auto H =
        static_cast<std::int64_t>(cells_with(result, {{"layer", 0}, {"stage", "before"}}).size());
    const auto width = 16 / H;
    for (const std::int64_t layer : {0, 1}) {
      for (const auto point : {HeadPoint::kBeforeNorm, HeadPoint::kAfterNorm}) {
        const char* stage = point == HeadPoint::kBeforeNorm ? "before" : "after";
        CATCH_INFO(name << ", layer " << layer << ", " << stage);
        const auto head = H - 1;
        const double step = 1e-5;
        double squares = 0;
        for (std::int64_t i = 0; i < 12 * width; ++i) {
          auto added = at::zeros({H, 12, width}, at::kDouble);
          added[head][i / width][i % width] = step;
          const auto up = losses_with(model, batch, layer, point, added);
          const auto down = losses_with(model, batch, layer, point, -added);
          squares += ((up - down) / (2 * step)).square().sum().item<double>();
        }
        const Json place{{"layer", layer}, {"head", head}, {"stage", stage}};
        CATCH_CHECK(squares > 0);
        CATCH_CHECK(only(result, place, "gradient") ==
                    Approx(std::sqrt(squares / 3)).epsilon(1e-5));
      }
    }
  }
}

CATCH_TEST_CASE("without a head norm nothing lies between before and after but DIFF's factor") {
  DifferentialAttentionConfig bare{.heads = 2};
  bare.head_norm = HeadNormKind::kNone;
  bare.lambda_init = LambdaInit(0.75);
  for (const double factor : {1.0, 0.25}) {
    auto model = factor == 1 ? uneven(SoftmaxAttentionConfig{.heads = 2}) : uneven(bare);
    const auto found = evaluate(HeadStatisticsConfig{{.samples = 5}}, model, kHeadNeedles).metrics;
    const auto ratio = [&](const char* what) {
      return found[concat("head_", what, "_after")].get<double>() /
             found[concat("head_", what, "_before")].get<double>();
    };
    CATCH_CHECK(ratio("rms") == Approx(factor).epsilon(1e-5));
    CATCH_CHECK(ratio("kurtosis") == Approx(1).epsilon(1e-5));
    CATCH_CHECK(ratio("gradient") == Approx(1 / factor).epsilon(1e-5));
  }
  auto normed = uneven(SoftmaxAttentionConfig{.heads = 2, .head_norm = HeadNormKind::kRms});
  const auto found = evaluate(HeadStatisticsConfig{{.samples = 5}}, normed, kHeadNeedles).metrics;
  CATCH_CHECK(found["head_rms_after"].get<double>() == Approx(1).epsilon(1e-3));
  CATCH_CHECK(std::abs(found["head_rms_before"].get<double>() - 1) > 0.05);
}

CATCH_TEST_CASE("heads that put out nothing have no tails, and parameters need no gradient") {
  auto model = uneven(SoftmaxAttentionConfig{.heads = 2});
  for (auto& parameter : model.parameters()) parameter.set_requires_grad(false);
  const auto frozen = evaluate(HeadStatisticsConfig{{.samples = 5}}, model, kHeadNeedles);
  CATCH_CHECK(frozen.metrics["head_gradient_before"].get<double>() > 0);
  {
    const at::NoGradGuard no_grad;
    for (const std::int64_t layer : {0, 1}) {
      model.named_parameters()[concat("layers.", layer, ".attn.v_proj.weight")].zero_();
    }
  }
  const auto silent = evaluate(HeadStatisticsConfig{{.samples = 5}}, model, kHeadNeedles);
  CATCH_CHECK(silent.metrics["head_rms_before"] == 0.0);
  CATCH_CHECK_FALSE(silent.metrics.contains("head_kurtosis_before"));
  CATCH_CHECK(cells_with(silent, {{"stage", "after"}})[0]["kurtosis"].is_null());
  CATCH_CHECK(silent.metrics["head_gradient_after"].get<double>() > 0);
}

}  // namespace
}  // namespace difflab
