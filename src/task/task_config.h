#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "task/association/context_qa.h"
#include "task/association/in_context.h"
#include "task/association/mqar.h"
#include "task/association/noisy_recall.h"
#include "task/in_text/text.h"
#include "task/in_text/text_needle.h"
#include "task/needle/needle.h"
#include "task/needle/needle_recall.h"
#include "task/needle/recall.h"

namespace difflab {

class Task;

/// Every task a model can be trained on; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using TaskConfig =
    std::variant<NeedleRecallConfig, NeedleConfig, RecallConfig, MqarConfig, NoisyRecallConfig,
                 InContextConfig, ContextQaConfig, TextNeedleConfig, TextConfig>;

std::unique_ptr<Task> build_task(const TaskConfig& config);

/// V, as the built task says it, without building it. @throws UserError if a text cannot be read.
inline std::int64_t vocab_size(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.vocab_size(); }, config);
}

/// T, as the built task says it.
inline std::int64_t sequence_length(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.sequence_length(); }, config);
}

/// The needles in a task, or null if it has none.
inline const NeedleConfig* needles_of(const TaskConfig& config) {
  if (const auto* mixed = std::get_if<NeedleRecallConfig>(&config)) return &mixed->needle;
  return std::get_if<NeedleConfig>(&config);
}

}  // namespace difflab
