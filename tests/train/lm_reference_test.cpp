// Three training steps of a whole language model against the reference cases: losses, gradient
// norms, first gradients and the parameters after three AdamW steps, float64 at 1e-9 (Adam divides
// by small numbers).
#include <ATen/ATen.h>

#include "model/language_model.h"
#include "model/score.h"
#include "record/safetensors.h"
#include "support/catch.h"
#include "support/tensors.h"
#include "train/step/optimizer.h"
#include "util/json.h"

namespace difflab {
namespace {

using testing::relative_error, testing::to_tensor;

constexpr double kTolerance = 1e-9;

// The reference's Transformer names its last projection as DIFF V2's file does.
std::string stored_name(std::string name, const Safetensors& file) {
  const auto at = name.find("attn.out_proj");
  const bool renamed = file.metadata().at("peer").find("\"attention\": \"baseline\"") != name.npos;
  if (renamed && at != name.npos) name.replace(at, 13, "attn.o_proj");
  return name;
}

void check_case(const std::string& name, const AttentionConfig& attention) {
  CATCH_INFO(name);
  const auto file = Safetensors::read(std::filesystem::path(DIFFLAB_ROOT) /
                                      "tests/model/reference" / (name + ".safetensors"));
  const Json peer = Json::parse(file.metadata().at("peer"));
  const ModelConfig config{.d_model = peer["d_model"],
                           .layers = peer["layers"],
                           .ffn_hidden = peer["ffn_hidden"],
                           .attention = attention};

  LanguageModel model(config, peer["vocab"]);
  model.to(at::kDouble);
  {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : model.named_parameters()) {
      parameter.value().copy_(to_tensor(file.at("param." + stored_name(parameter.key(), file))));
    }
  }
  model.set_rotary(Rotary::from(to_tensor(file.at("rotary_cos")).to(at::kDouble),
                                to_tensor(file.at("rotary_sin")).to(at::kDouble)));
  const Json adamw = peer["adamw"];
  Optimizer optimizer(model, {.beta1 = adamw["betas"][0],
                              .beta2 = adamw["betas"][1],
                              .adam_eps = adamw["eps"],
                              .weight_decay = adamw["weight_decay"]});
  const auto tokens = to_tensor(file.at("tokens"));  // [steps, B, T + 1]
  for (std::int64_t step = 0; step < 3; ++step) {
    CATCH_INFO("step " << step);
    const auto inputs = tokens[step].narrow(1, 0, tokens.size(2) - 1);
    const auto targets = tokens[step].narrow(1, 1, tokens.size(2) - 1);
    optimizer.zero_grad();
    const auto loss = mean_loss(model, inputs, targets);
    loss.backward();
    CATCH_CHECK(
        loss.item<double>() ==
        Approx(peer["loss"][static_cast<std::size_t>(step)].get<double>()).epsilon(kTolerance));
    if (step == 0) {
      for (const auto& parameter : model.named_parameters()) {
        CATCH_INFO("gradient of " << parameter.key());
        CATCH_CHECK(relative_error(parameter.value().grad(),
                                   to_tensor(file.at("grad0." + stored_name(parameter.key(),
                                                                            file)))) < kTolerance);
      }
    }
    const double norm = optimizer.clip(peer["clip"]);
    CATCH_CHECK(norm ==
                Approx(peer["grad_norm_before_clip"][static_cast<std::size_t>(step)].get<double>())
                    .epsilon(kTolerance));
    optimizer.step(adamw["lr"]);
  }
  for (const auto& parameter : model.named_parameters()) {
    CATCH_INFO(parameter.key() << " after three steps");
    CATCH_CHECK(relative_error(parameter.value(),
                               to_tensor(file.at("after3." + stored_name(parameter.key(), file)))) <
                kTolerance);
  }
}

CATCH_TEST_CASE("three training steps equal the reference language models") {
  check_case("lm_baseline", SoftmaxAttentionConfig{.heads = 4});
  check_case("lm_diff_naive", DifferentialAttentionConfig{.heads = 2});
}

}  // namespace
}  // namespace difflab
