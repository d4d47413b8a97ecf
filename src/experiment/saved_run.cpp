#include "experiment/saved_run.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "record/status.h"
#include "run/diffllama.h"
#include "run/identity.h"
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

RunConfig read_run_config(const RunDirectory& run) {
  auto config = read_run_config(config::load_yaml(run.config()));
  const std::string expected = run.path.filename().string();
  if (const auto id = run_id(config); id != expected) {
    throw UserError(concat(run.config().string(), ": describes run ", id, ", not ", expected,
                           "; was it edited, or written by another version of difflab?"));
  }
  return config;
}

SavedRun load_run(const RunDirectory& run) {
  const auto result = read_result(run);
  if (result && result->value("status", "") == name_of(RunState::kDiverged)) {
    throw UserError(concat(run.path.string(), ": diverged, so there is no trained model"));
  }
  if (!std::filesystem::exists(run.checkpoint())) {
    throw UserError(concat(run.path.string(), result ? ": was restored without its model, or its "
                                                       "checkpoint was deleted; delete the folder "
                                                       "and sweep again to have it trained"
                                                     : ": has no checkpoint yet"));
  }
  SavedRun saved{.config = read_run_config(run)};
  saved.task = build_task(saved.config.task);
  saved.model = std::make_shared<LanguageModel>(saved.config.model, saved.task->vocab_size());
  load_parameters(*saved.model, read_sealed_safetensors(run.checkpoint()),
                  run.checkpoint().string());
  saved.model->eval();
  saved.finished = result.has_value();
  return saved;
}

void export_run(const RunDirectory& run, const std::filesystem::path& file) {
  const auto saved = load_run(run);
  if (!saved.finished) {
    throw UserError(concat(run.path.string(), ": is not finished; the same sweep continues it"));
  }
  save_parameters(file, *saved.model,
                  {{"format", "difflab weights 1"},
                   {"run", run_id(saved.config)},
                   {"config", config::canonical_json(config::write(saved.config))}});
}

void load_initial_weights(LanguageModel& model, const Safetensors& file, const std::string& path) {
  if (!is_diffllama(file)) return load_parameters(model, file, path);
  if (const auto why = unlike_diffllama(model.config()); !why.empty()) {
    throw UserError(concat(path, ": holds DiffLlama weights, but the model's ", why));
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
