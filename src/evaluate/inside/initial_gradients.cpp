#include "evaluate/inside/initial_gradients.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "model/score.h"
#include "task/base/task.h"

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

double rms(const at::Tensor& x) { return x.to(at::kDouble).square().mean().sqrt().item<double>(); }

/// Sizes of the attention outputs that are added to the residual stream.
struct Outputs {
  double mean_rms = 0;     // over the layers
  double first_ratio = 0;  // of the first layer, to the embeddings
};

Outputs add_outputs(LanguageModel& model, const Batch& batch, const char* state, Json& cells) {
  const at::NoGradGuard no_grad;
  const auto& config = model.config();
  Outputs outputs;
  model.observe(batch.inputs, [&](const LayerView& view) {
    const double added =
        config.attention_scale * rms(view.attention.forward(view.attention_input, view.rotary));
    const double stream = rms(view.stream);
    cells.push_back({{"part", "output"},
                     {"layer", view.layer},
                     {"state", state},
                     {"rms", added},
                     {"stream_rms", stream}});
    outputs.mean_rms += added;
    if (view.layer == 0) outputs.first_ratio = added / stream;
  });
  outputs.mean_rms /= static_cast<double>(config.layers);
  return outputs;
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
  auto& cells = result.details["cells"] = Json::array();
  fresh.eval();
  result.metrics["initial_grad_norm"] = add_gradients(fresh, batch, cells);
  const auto initial = add_outputs(fresh, batch, "initial", cells);
  result.metrics["attention_rms_initial"] = initial.mean_rms;
  result.metrics["attention_ratio_initial"] = initial.first_ratio;
  result.metrics["attention_rms"] = add_outputs(context.model, batch, "trained", cells).mean_rms;
  return result;
}

}  // namespace difflab
