#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "evaluate/base/evaluation.h"
#include "statistics/metric_facts.h"

namespace difflab {

/// What is left of the accuracy when attention logits are rounded to few bits: every map's logits
/// to 2^bits − 1 evenly spaced levels between ± their largest size in that sequence (dynamic absmax
/// per head). Source: arXiv 2410.05258, figure 8.
struct LogitQuantizationConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "logit_quantization";
  static constexpr std::string_view kAbout =
      "accuracy with attention logits of few bits (arXiv 2410.05258, figure 8)";
  static constexpr std::array kMetrics = {share_metric("accuracy_*_bits", Better::kHigher),
                                          share_metric("accuracy_*_bits_chance"),
                                          share_metric("accuracy_unquantized", Better::kHigher),
                                          share_metric("accuracy_unquantized_chance")};

  std::vector<std::int64_t> bits = {16, 8, 6, 4};
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("bits", bits, "bits of a logit, sign included", config::between(2, 24));
    visit("samples", samples, "test sequences of the task's first part", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (bits.empty()) check.problem("bits", "is empty; expected at least one number of bits");
  }
  void validate_task(const TaskConfig&, config::Check&) const {}

  /// Metrics: accuracy_B_bits for every B, accuracy_unquantized. Details: cells, each with bits (0
  /// for logits as they are), samples, n, correct, accuracy, accuracy_low, accuracy_high, chance,
  /// loss.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
