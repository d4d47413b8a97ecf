#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

enum class Quantized { kWeights, kStates, kLogits };

template <>
inline constexpr auto config::kNames<Quantized> = names("weights", "states", "logits");

/// Accuracy that is left when numbers are rounded to few bits: 2^bits − 1 evenly spaced levels
/// between ± the largest size in a group. A group is a row of a layer's matrix (one output
/// channel), a token of the residual stream behind a layer, or the logits of a sequence in one map
/// (dynamic absmax per head; arXiv 2410.05258, figure 8). Activations with few outliers lose less,
/// which section 3.7 there expects of DIFF. Embeddings and output head are not rounded.
struct QuantizationConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "quantization";
  static constexpr std::string_view kAbout =
      "accuracy with weights, hidden states or attention logits of few bits (arXiv 2410.05258)";
  static constexpr std::array kFormerNames = {
      config::FormerName{"weight_quantization", R"({"of": "weights"})"},
      config::FormerName{"hidden_quantization", R"({"of": "states"})"},
      config::FormerName{"logit_quantization", R"({"of": "logits", "bits": [16, 8, 6, 4]})"}};
  static constexpr std::array kMetrics = {
      share_metric("weights_accuracy_*_bits", Better::kHigher),
      share_metric("weights_accuracy_*_bits_chance"),
      share_metric("weights_accuracy_unquantized", Better::kHigher),
      share_metric("weights_accuracy_unquantized_chance"),
      share_metric("hidden_accuracy_*_bits", Better::kHigher),
      share_metric("hidden_accuracy_*_bits_chance"),
      share_metric("hidden_accuracy_unquantized", Better::kHigher),
      share_metric("hidden_accuracy_unquantized_chance"),
      share_metric("accuracy_*_bits", Better::kHigher),
      share_metric("accuracy_*_bits_chance"),
      share_metric("accuracy_unquantized", Better::kHigher),
      share_metric("accuracy_unquantized_chance")};

  Quantized of = Quantized::kLogits;
  std::vector<std::int64_t> bits = {8, 6, 4};
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("of", of,
          "what is rounded: the matrices of all layers, the residual stream after each, or the "
          "logits of attention");
    visit("bits", bits, "bits of a number, sign included", config::between(2, 24));
    visit("samples", samples, "test sequences of the task's first part", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (bits.empty()) check.problem("bits", "is empty; expected at least one number of bits");
  }

  std::string_view known_as(const TaskConfig&) const {
    return kFormerNames[static_cast<std::size_t>(of)].name;
  }
  /// Begins the names of the metrics: weights_, hidden_ or nothing.
  std::string_view prefix() const {
    return std::array{"weights_", "hidden_", ""}[static_cast<std::size_t>(of)];
  }
  bool gives(std::string_view metric, const TaskConfig&) const {
    return metric.substr(0, metric.find("accuracy")) == prefix();
  }

  /// Metrics: accuracy_B_bits for every B and accuracy_unquantized behind the prefix, and their
  /// chance. Details: cells, each with bits (0 for nothing rounded), samples, n, correct, accuracy,
  /// accuracy_low, accuracy_high, chance, loss.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
