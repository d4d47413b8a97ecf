#pragma once

#include "evaluate/base/evaluation.h"
#include "text/choice_items.h"

namespace difflab {

/// Multiple choice by likelihood: of the choices behind a context, the model's answer is the one to
/// which it gives the highest probability, log p(choice | context), or the highest per character of
/// the choice. These are acc and acc_norm of EleutherAI's lm-evaluation-harness.
struct MultipleChoiceConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "multiple_choice";
  static constexpr std::string_view kAbout =
      "which of several continuations is the most likely, on items of your own or generated ones";
  static constexpr std::array kMetrics = {
      share_metric("choice_accuracy", Better::kHigher), share_metric("choice_accuracy_chance"),
      share_metric("choice_accuracy_per_character", Better::kHigher),
      share_metric("choice_accuracy_per_character_chance"), loss_metric("choice_loss")};

  InputFile file = {};           ///< JSON lines (choice_items.h); no path: generated
  std::int64_t generated = 200;  ///< items without a file
  std::string delimiter = " ";

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("file", file,
          "items in JSON lines: {\"context\": …, \"choices\": […], \"answer\": 0}; without a path "
          "they are generated");
    visit("generated", generated, "generated items; counts only without a file",
          config::between(1, 100'000));
    visit("delimiter", delimiter, "what stands between context and choice");
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    require_text(task, kKind, check);
  }

  /// @throws UserError as the file's content demands (choice_items.h).
  std::vector<ChoiceItem> items() const;

  /// Items as tokens. @throws UserError naming an item that the tokenizer cannot encode, or a
  /// choice that is longer than a sequence of `length` tokens.
  std::vector<ChoiceTokens> encode(const std::vector<ChoiceItem>& items, const Tokenizer& tokenizer,
                                   std::int64_t length) const;
  InputFile* input_file() { return &file; }
  void check_items(const Tokenizer& tokenizer, std::int64_t length) const {
    encode(items(), tokenizer, length);
  }

  /// Metrics: choice_accuracy and choice_accuracy_per_character with their chances, 1/choices on
  /// average; choice_loss, the mean −log p(right choice | context) in nats. Details: cells for all
  /// items and for each group with group ("all" for all), score (sum, per_character), n, correct,
  /// accuracy, accuracy_low, accuracy_high (Wilson), chance; items, the choice that each got by
  /// either score beside its answer; cut_contexts, how many lost their beginning because they are
  /// longer than the task's sequences.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same from log p(choice | context) of the choices of all items, one behind the other.
  EvaluationResult judge(const std::vector<ChoiceItem>& items,
                         const std::vector<double>& log_likelihoods) const;
};

}  // namespace difflab
