#pragma once

// Includes and EvaluationCommon, which the header of every kind of evaluation needs.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "evaluate/base/asked_task.h"
#include "statistics/metric_facts.h"
#include "statistics/share.h"
#include "task/task_config.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {

class LanguageModel;
class Task;

/// Settings of every kind of evaluation, with the defaults that a kind overrides by declaring the
/// same name. Each also lists, as `kMetrics`, the metrics that its `run` gives, with all that is
/// known of them (statistics/metric_facts.h).
struct EvaluationCommon {
  /// Text that the task's tokens must be able to say; a field of a kind that has one.
  static constexpr std::string_view prompt = "";

  /// Key of the result and prefix of its metrics; empty: the kind as key, and no prefix.
  std::string name = {};
  /// Steps of the training at which the model is asked, instead of at its end.
  std::vector<std::int64_t> at = {};
  AskedTask other_task = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name,
          "what the result is kept under, for a kind that is used twice; empty: kind");
    visit("at", at,
          "steps whose checkpoints are asked (train.keep_checkpoints); empty: the trained model",
          config::at_least(0));
    visit("task", other_task, "what it is asked on; null: what it was trained on");
  }

  /// Checks the task that the kind is asked on; by default any will do.
  void validate_task(const TaskConfig&, config::Check&) const {}
  /// The kind's name in ids, if that is another than kKind: kinds that became one keep theirs.
  std::string_view known_as(const TaskConfig&) const { return {}; }
  /// True for those of the kind's metrics that the evaluation gives on a task.
  bool gives(std::string_view, const TaskConfig&) const { return true; }
  /// T of the longest sequence that is asked on a task, beside the task's own.
  std::int64_t longest(const TaskConfig&) const { return 0; }
  /// The longest window of the task's text that is read, beside the task's own.
  std::int64_t text_length() const { return 0; }
  /// The file that the kind may read, or null.
  InputFile* input_file() { return nullptr; }
  /// Checks that a task with such tokens and sequences can be asked what the file holds.
  /// @throws UserError
  void check_items(const Tokenizer&, std::int64_t) const {}
};

/// An evaluation of sequences of the test split.
struct SampledEvaluation : EvaluationCommon {
  std::int64_t samples = 64;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("samples", samples, "test sequences", config::at_least(1));
  }
};

/// The largest of some numbers, 0 if there are none.
inline std::int64_t largest_of(const std::vector<std::int64_t>& numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

/// Refuses another task than running text; `kind` is the evaluation's.
inline void require_text(const TaskConfig& task, std::string_view kind, config::Check& check) {
  if (task_as<TextConfig>(task) == nullptr) {
    check.problem("kind", concat("is ", kind, "; expected a task of kind text"));
  }
}

/// Refuses a task of which some position asks nothing.
inline void require_every_token(const TaskConfig& task, std::string_view kind,
                                config::Check& check) {
  if (asks_every_token(task)) return;
  check.problem("kind", concat("is ", kind, "; expected a task of kind text or language"));
}

/// Adds accuracy, accuracy_low and accuracy_high (Wilson, 95 %) of `correct` right answers of n.
inline void add_accuracy(Json& cell, std::int64_t correct, std::int64_t n) {
  const auto interval = wilson_interval(correct, n);
  cell["accuracy"] = static_cast<double>(correct) / static_cast<double>(n);
  cell["accuracy_low"] = interval->low;
  cell["accuracy_high"] = interval->high;
}

/// Inputs of an evaluation.
struct EvaluationContext {
  LanguageModel& model;
  const TaskConfig& task_config;
  const Task& task;
  std::uint64_t seed;
  int lanes = 1;  ///< batches that may be scored at the same time; changes no number
};

/// Numbers that an evaluation found.
struct EvaluationResult {
  Json metrics = Json::object();  ///< single numbers, for tables
  Json details = Json::object();  ///< everything, for figures
};

}  // namespace difflab
