#pragma once

#include "evaluate/base/evaluation.h"
#include "model/generate/sampling_config.h"

namespace difflab {

/// Texts of the model for a person to read: continuations of a prompt. They give no numbers; the
/// report shows them.
struct SampleTextConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "sample_text";
  static constexpr std::string_view kAbout = "continuations of a prompt, for a person to read";
  static constexpr std::array<MetricFacts, 0> kMetrics = {};

  std::string prompt = "\n";
  std::int64_t samples = 1;
  Sampling sampling = {.tokens = 400, .temperature = 0.8, .top_k = 0, .seed = 0};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("prompt", prompt, "the text that is continued");
    visit("samples", samples, "texts, each from a seed of its own", config::between(1, 100));
    visit("sampling", sampling, "how tokens are drawn");
  }
  void validate(config::Check& check) const {
    if (prompt.empty()) check.problem("prompt", "is empty; expected at least one character");
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    require_text(task, kKind, check);
  }

  /// Details: {"samples": [{"prompt", "text"}]}.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
