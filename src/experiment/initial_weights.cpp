#include "experiment/initial_weights.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "run/diffllama.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

at::Tensor stored_value(const StoredPart& part, const at::Tensor& parameter,
                        const Safetensors& file, const std::string& path) {
  if (part.name.empty()) return at::ones_like(parameter);
  const auto stored = to_tensor(file.at(part.name), path);
  if (stored.sizes() != parameter.sizes() || !stored.is_floating_point()) {
    throw UserError(
        concat(path, ": tensor ", part.name, " has another shape or type than the model's"));
  }
  return part.rows.empty() ? stored : stored.index_select(0, at::tensor(part.rows, at::kLong));
}

}  // namespace

void load_initial_weights(LanguageModel& model, const Safetensors& file, const std::string& path) {
  if (!is_diffllama(file)) return load_parameters(model, file, path);
  if (const auto why = unlike_diffllama(model.config()); !why.empty()) {
    throw UserError(concat(path, ": holds weights of DiffLlama, and the model's ", why));
  }
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const auto& parameter : model.named_parameters()) {
    const auto part = diffllama_part(model.config(), parameter.key());
    copies.emplace_back(parameter.value(), stored_value(part, parameter.value(), file, path));
  }
  const at::NoGradGuard no_grad;
  for (auto& [parameter, value] : copies) parameter.copy_(value);
}

}  // namespace difflab
