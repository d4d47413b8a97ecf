#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "evaluate/base/evaluation.h"
#include "statistics/metric_facts.h"

namespace difflab {

/// What is left of the accuracy when the weight matrices of all layers, or the residual stream
/// behind each layer, are rounded to few bits: 2^bits − 1 evenly spaced levels between ± the
/// largest size of their row (of a matrix: one output channel; of the stream: one token).
/// Activations with few outliers lose less, which arXiv 2410.05258, section 3.7, expects of DIFF.
/// Embeddings and output head stay as they are.
template <bool kOfWeights>
struct QuantizationConfig : EvaluationCommon {
  static constexpr std::string_view kKind =
      kOfWeights ? "weight_quantization" : "hidden_quantization";
  static constexpr std::string_view kAbout =
      kOfWeights ? "accuracy with weight matrices of few bits (arXiv 2410.05258, section 3.7)"
                 : "accuracy with hidden states of few bits (arXiv 2410.05258, section 3.7)";
  static constexpr std::string_view kPrefix = kOfWeights ? "weights_" : "hidden_";
  static constexpr auto kMetrics =
      kOfWeights ? std::array{share_metric("weights_accuracy_*_bits", Better::kHigher),
                              share_metric("weights_accuracy_*_bits_chance"),
                              share_metric("weights_accuracy_unquantized", Better::kHigher),
                              share_metric("weights_accuracy_unquantized_chance")}
                 : std::array{share_metric("hidden_accuracy_*_bits", Better::kHigher),
                              share_metric("hidden_accuracy_*_bits_chance"),
                              share_metric("hidden_accuracy_unquantized", Better::kHigher),
                              share_metric("hidden_accuracy_unquantized_chance")};

  std::vector<std::int64_t> bits = {8, 6, 4};
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("bits", bits, "bits of a value, sign included", config::between(2, 24));
    visit("samples", samples, "test sequences of the task's first part", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (bits.empty()) check.problem("bits", "is empty; expected at least one number of bits");
  }
  void validate_task(const TaskConfig&, config::Check&) const {}

  /// Metrics: weights_accuracy_B_bits for every B and weights_accuracy_unquantized, or
  /// hidden_accuracy_…. Details: cells as of logit_quantization.
  EvaluationResult run(const EvaluationContext& context) const;
};

using WeightQuantizationConfig = QuantizationConfig<true>;
using HiddenQuantizationConfig = QuantizationConfig<false>;

template <>
EvaluationResult WeightQuantizationConfig::run(const EvaluationContext& context) const;
template <>
EvaluationResult HiddenQuantizationConfig::run(const EvaluationContext& context) const;

}  // namespace difflab
