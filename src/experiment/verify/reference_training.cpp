#include <ATen/ATen.h>

#include <cmath>

#include "config/schema/traits.h"
#include "experiment/verify/reference_case.h"
#include "model/language_model.h"
#include "model/score.h"
#include "train/step/optimizer.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr double kTolerance = 1e-9;  // Adam divides by small numbers
constexpr std::int64_t kSteps = 3;

AttentionConfig attention_of(const ReferenceCase& reference) {
  const std::string kind = reference.peer.at("attention");
  const std::int64_t heads = reference.peer.at("baseline_heads");
  if (kind == "baseline") return SoftmaxAttentionConfig{.heads = heads};
  if (kind == "diff_naive") return DifferentialAttentionConfig{.heads = heads / 2};
  if (kind == "diff_v2") return DifferentialV2Config{.heads = heads};
  throw UserError(concat(reference.path.string(), ": unknown attention ", kind,
                         "; expected baseline, diff_naive or diff_v2"));
}

// The reference's Transformer names its last projection as DIFF V2's file does.
std::string name_in_case(std::string name, const Json& peer) {
  const auto at = name.find("attn.out_proj");
  if (peer.at("attention") == "baseline" && at != name.npos) name.replace(at, 13, "attn.o_proj");
  return name;
}

class Replay {
 public:
  Replay(const ReferenceCase& reference, Kernels kernels)
      : reference_(reference),
        kernels_(kernels),
        peer_(reference.peer),
        model_({.d_model = peer_.at("d_model"),
                .layers = peer_.at("layers"),
                .ffn_hidden = peer_.at("ffn_hidden"),
                .norm_eps = peer_.at("norm_eps"),
                .tied_head = peer_.at("tied"),
                .attention = attention_of(reference)},
               peer_.at("vocab"), kernels) {
    model_.to(at::kDouble);
    load_parameters(model_, reference.file, reference.path.string(),
                    [&](const auto& name) { return "param." + name_in_case(name, peer_); });
    if (stored("rotary_cos").size(0) < stored("tokens").size(2) - 1) {
      throw UserError(
          concat(reference.path.string(), ": rotary_cos is shorter than the sequences"));
    }
    model_.set_rotary(
        Rotary::from(stored("rotary_cos").to(at::kDouble), stored("rotary_sin").to(at::kDouble)));
  }

  std::vector<TensorError> run() {
    const Json& adamw = peer_.at("adamw");
    Optimizer optimizer(model_, {.beta1 = adamw.at("betas").at(0),
                                 .beta2 = adamw.at("betas").at(1),
                                 .adam_eps = adamw.at("eps"),
                                 .weight_decay = adamw.at("weight_decay")});
    const auto tokens = stored("tokens");  // [steps, B, T + 1]
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const auto context = tokens.size(2) - 1;
      optimizer.zero_grad();
      const auto loss =
          mean_loss(model_, tokens[step].narrow(1, 0, context), tokens[step].narrow(1, 1, context));
      loss.backward();
      note_number("loss", step, loss.item<double>());
      if (step == 0) note_all("grad0.", [](const auto& parameter) { return parameter.grad(); });
      note_number("grad_norm_before_clip", step, optimizer.clip(peer_.at("clip")));
      optimizer.step(adamw.at("lr"));
    }
    note_all("after3.", [](const auto& parameter) { return parameter; });
    return std::move(errors_);
  }

 private:
  at::Tensor stored(const std::string& name) const {
    return to_tensor(reference_.file.at(name), reference_.path.string());
  }
  void note(const std::string& name, double error) {
    errors_.push_back({name, "float64", config::name_of(kernels_), error, kTolerance});
  }
  void note_number(const char* key, std::int64_t step, double ours) {
    const double theirs = peer_.at(key).at(static_cast<std::size_t>(step));
    note(concat(key, " step ", step + 1), std::abs(ours - theirs) / std::abs(theirs));
  }
  template <class Pick>
  void note_all(const std::string& prefix, Pick pick) {
    for (const auto& parameter : model_.named_parameters()) {
      const auto name = prefix + name_in_case(parameter.key(), peer_);
      note(name, relative_error(pick(parameter.value()), stored(name)));
    }
  }

  const ReferenceCase& reference_;
  Kernels kernels_;
  const Json& peer_;
  LanguageModel model_;
  std::vector<TensorError> errors_;
};

}  // namespace

CaseReport verify_training(const ReferenceCase& reference) {
  CaseReport report{reference.name(), {}};
  for (const auto& [name, kernels] : config::named_values<Kernels>()) {
    if (calls_by_map(kernels) && reference.peer.at("attention") == "baseline") continue;
    for (auto& error : Replay(reference, kernels).run()) report.errors.push_back(std::move(error));
  }
  return report;
}

}  // namespace difflab
