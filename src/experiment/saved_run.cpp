#include "experiment/saved_run.h"

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "record/sealed_safetensors.h"
#include "record/status.h"
#include "run/identity.h"
#include "train/tensor_file.h"
#include "util/error.h"

namespace difflab {

RunConfig read_run_config(const RunDirectory& run) {
  config::Problems problems;
  auto config = config::read<RunConfig>(config::load_yaml(run.config()), "", problems);
  problems.throw_if_any();
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

}  // namespace difflab
