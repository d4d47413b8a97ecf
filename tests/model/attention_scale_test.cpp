// model.attention_scale, beside a model whose attention puts out so much more by its weights.

#include "model/language_model.h"
#include "model/score.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/dose.h"
#include "support/tensors.h"

namespace difflab {
namespace {

constexpr std::int64_t kScaleVocab = 30;
constexpr double kScale = 0.3;

bool puts_out(const std::string& parameter) {
  return parameter.find(".attn.out_proj.") != std::string::npos ||
         parameter.find(".attn.o_proj.") != std::string::npos;
}

/// A model with scale 1 whose output projections are multiplied by `weights`, or one with a scale.
struct Scaled {
  LanguageModel model;

  Scaled(ModelConfig config, Kernels kernels, double scale, double weights)
      : model((config.attention_scale = scale, config), kScaleVocab, kernels) {
    initialise(model, config, 1);
    for (auto& parameter : model.named_parameters()) {
      if (puts_out(parameter.key())) parameter.value().detach().mul_(weights);
    }
  }
  std::map<std::string, at::Tensor> gradients(const at::Tensor& tokens) {
    mean_loss(model, tokens, tokens.roll(1, 1)).backward();
    std::map<std::string, at::Tensor> all;
    for (const auto& parameter : model.named_parameters()) {
      all[parameter.key()] = parameter.value().grad().clone();
    }
    return all;
  }
  at::Tensor decoded(const at::Tensor& tokens) {
    const at::NoGradGuard no_grad;
    DecodingState state;
    at::Tensor last;
    for (std::int64_t i = 0; i < tokens.size(1); ++i) {
      last = model.hidden(tokens.narrow(1, i, 1), &state);
    }
    return last;
  }
};

CATCH_TEST_CASE("attention_scale is what the output projections could be multiplied by instead") {
  const auto tokens = (at::arange(48, at::kLong).square() % kScaleVocab).view({4, 12});
  const auto places = at::tensor({3, 11, 30});
  const bool every = testing::dose(false, true);
  bool turn = false;  // else of the four combinations each variant has two, with both of each
  for (const auto& [name, attention] : testing::attention_variants()) {
    turn = !turn;
    for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
      for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
        if (!every && turn == ((block == BlockKind::kLlama) == (kernels == Kernels::kFused)))
          continue;
        CATCH_INFO(name << ", " << static_cast<int>(block) << ", " << static_cast<int>(kernels));
        const ModelConfig config{
            .d_model = 32, .layers = 2, .block = block, .attention = attention};
        Scaled scaled(config, kernels, kScale, 1), by_weights(config, kernels, 1, kScale);
        const auto near = [](const at::Tensor& a, const at::Tensor& b) {
          return testing::relative_error(a.detach(), b.detach()) < 1e-5;
        };
        CATCH_CHECK(near(scaled.model.forward(tokens), by_weights.model.forward(tokens)));
        CATCH_CHECK(near(scaled.model.hidden_at(tokens, places),
                         by_weights.model.hidden_at(tokens, places)));
        CATCH_CHECK(near(scaled.decoded(tokens), by_weights.decoded(tokens)));
        Scaled unscaled(config, kernels, 1, 1);
        CATCH_CHECK_FALSE(near(scaled.model.forward(tokens), unscaled.model.forward(tokens)));
        const auto expected = by_weights.gradients(tokens);
        for (const auto& [parameter, gradient] : scaled.gradients(tokens)) {
          CATCH_INFO(parameter);
          const auto wanted = expected.at(parameter) * (puts_out(parameter) ? kScale : 1);
          // Softmax hides a bias of all keys: its gradient is rounding alone.
          const double size = std::max(wanted.abs().max().item<double>(), 1e-5);
          CATCH_CHECK((gradient - wanted).abs().max().item<double>() < 1e-3 * size);
        }
      }
    }
  }
}

}  // namespace
}  // namespace difflab
