#include "evaluate/inside/initial_gradients.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "model/attention/base/attention.h"
#include "model/initialise.h"
#include "model/language_model.h"
#include "model/score.h"
#include "task/base/task.h"
#include "util/text.h"

namespace difflab {
namespace {

// "layers.1.attn.q_proj.weight" -> {1, "attn.q_proj.weight"}; others -> {null, the name}.
std::pair<Json, std::string> split_name(const std::string& name) {
  constexpr std::string_view kLayers = "layers.";
  if (!name.starts_with(kLayers)) return {nullptr, name};
  const auto dot = name.find('.', kLayers.size());
  return {std::stoll(name.substr(kLayers.size(), dot - kLayers.size())), name.substr(dot + 1)};
}

double add_gradients(LanguageModel& model, const Batch& batch, Json& cells) {
  mean_loss(model, batch.inputs, batch.targets).backward();
  double sum = 0;
  for (const auto& parameter : model.named_parameters()) {
    const auto& gradient = parameter.value().grad();
    if (!gradient.defined()) continue;
    const double norm = gradient.to(at::kDouble).norm().item<double>();
    const auto [layer, matrix] = split_name(parameter.key());
    cells.push_back({{"part", "gradient"},
                     {"parameter", parameter.key()},
                     {"layer", layer},
                     {"matrix", matrix},
                     {"norm", norm},
                     {"rms", norm / std::sqrt(static_cast<double>(gradient.numel()))}});
    sum += norm * norm;
  }
  return std::sqrt(sum);
}

// The mean over the layers.
double add_outputs(LanguageModel& model, const Batch& batch, const char* state, Json& cells) {
  const at::NoGradGuard no_grad;
  double sum = 0;
  model.observe(batch.inputs, [&](const LayerView& view) {
    const auto output = view.attention.forward(view.attention_input, view.rotary);
    const double rms = output.to(at::kDouble).square().mean().sqrt().item<double>();
    cells.push_back({{"part", "output"}, {"layer", view.layer}, {"state", state}, {"rms", rms}});
    sum += rms;
  });
  return sum / static_cast<double>(model.config().layers);
}

}  // namespace

EvaluationResult InitialGradientsConfig::run(const EvaluationContext& context) const {
  const auto& config = context.model.config();
  const auto device = context.model.parameters().front().device();
  LanguageModel fresh(config, context.task.vocab_size());
  initialise(fresh, config, context.seed);
  fresh.set_precision(context.model.precision());
  fresh.to(device);
  auto batch = context.task.batch(context.seed, Split::kTrain, 0, samples);
  batch = {batch.inputs.to(device), batch.targets.to(device)};
  EvaluationResult result;
  auto cells = Json::array();
  fresh.eval();
  result.metrics["initial_grad_norm"] = add_gradients(fresh, batch, cells);
  result.metrics["attention_rms_initial"] = add_outputs(fresh, batch, "initial", cells);
  result.metrics["attention_rms"] = add_outputs(context.model, batch, "trained", cells);
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
