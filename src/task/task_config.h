#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "task/association/context_qa.h"
#include "task/association/fuzzy_recall.h"
#include "task/association/in_context.h"
#include "task/association/mqar.h"
#include "task/association/noisy_recall.h"
#include "task/in_text/text.h"
#include "task/in_text/text_needle.h"
#include "task/language/language.h"
#include "task/needle/associative_needle.h"
#include "task/needle/needle.h"
#include "task/needle/needle_recall.h"
#include "task/needle/recall.h"
#include "task/tracking/common_words.h"
#include "task/tracking/k_hop.h"
#include "task/tracking/selective_copy.h"
#include "task/tracking/variable_tracking.h"

namespace difflab {

class Task;

/// Every task a model can be trained on; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using TaskConfig =
    std::variant<NeedleRecallConfig, NeedleConfig, RecallConfig, AssociativeNeedleConfig,
                 MqarConfig, NoisyRecallConfig, FuzzyRecallConfig, KHopConfig,
                 VariableTrackingConfig, CommonWordsConfig, SelectiveCopyConfig, InContextConfig,
                 ContextQaConfig, TextNeedleConfig, TextConfig, LanguageConfig>;

std::unique_ptr<Task> build_task(const TaskConfig& config);

/// A task whose every position asks for the next token, with sequences of this length alone; null
/// for other tasks.
std::unique_ptr<Task> build_next_token_task(const TaskConfig& config, std::int64_t length);

/// True if every position of a task asks for the next token.
inline bool asks_every_token(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.kEveryToken; }, config);
}

/// V, as the built task says it, without building it. @throws UserError if a text cannot be read.
inline std::int64_t vocab_size(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.vocab_size(); }, config);
}

/// T, as the built task says it.
inline std::int64_t sequence_length(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.sequence_length(); }, config);
}

/// The task if it is of this kind, else null: for an evaluation that asks one kind alone.
template <class Kind>
const Kind* task_as(const TaskConfig& config) {
  return std::get_if<Kind>(&config);
}

/// The needles in a task, or null if it has none.
inline const NeedleConfig* needles_of(const TaskConfig& config) {
  if (const auto* mixed = task_as<NeedleRecallConfig>(config)) return &mixed->needle;
  return task_as<NeedleConfig>(config);
}

/// The file that a task may read, or null if it reads none.
inline InputFile* text_file(TaskConfig& config) {
  return std::visit([](auto& kind) { return kind.input_file(); }, config);
}

/// Names of Task::parts(), without building the task; all of `kParts`, also parts with a share of
/// 0.
inline std::vector<std::string> part_names(const TaskConfig& config) {
  return std::visit(
      [](const auto& kind) {
        std::vector<std::string> names(kind.kParts.begin(), kind.kParts.end());
        if (kind.recall_share > 0) names.emplace_back("recall");
        return names;
      },
      config);
}

/// The text that a task needs for sequences of `length` tokens, by default its own; none if it is
/// made of symbols.
inline std::optional<TextConfig> text_of(const TaskConfig& config, std::int64_t length = 0) {
  return std::visit(
      [&](const auto& kind) -> std::optional<TextConfig> { return kind.text(length); }, config);
}

/// The tokenizer of a task in text; none if it is made of symbols.
/// @throws UserError if the text cannot be read.
inline std::optional<Tokenizer> read_tokenizer(const TaskConfig& config) {
  return std::visit(
      [](const auto& kind) -> std::optional<Tokenizer> { return kind.read_tokenizer(); }, config);
}

/// The names of a task's tokens, by which people and other tasks know them; none if it is made of
/// text.
inline std::optional<Symbols> symbols_of(const TaskConfig& config) {
  return std::visit([](const auto& kind) -> std::optional<Symbols> { return kind.vocabulary(); },
                    config);
}

}  // namespace difflab
