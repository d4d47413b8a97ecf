#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How few attention weights a trained model needs: those smaller than a threshold are dropped
/// when it is asked, and accuracy and loss are told beside the share of weights that is left.
///
/// A threshold is a part of the largest weight of the row, by size. It means the same for all kinds
/// of attention and lengths: an absolute one would empty rows of many even weights, and those of
/// differences of maps, whose sums are smaller and which a head norm scales up again. Rows are not
/// renormalised unless it is asked for. Of a pair of DIFF V2 whose maps mix different values, each
/// map is pruned on its own.
struct SparseAttentionConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "sparse_attention";
  static constexpr std::string_view kAbout =
      "accuracy and loss with small attention weights dropped, beside the share that is kept";
  static constexpr std::array kMetrics = {share_metric("accuracy_all_weights", Better::kHigher),
                                          share_metric("accuracy_all_weights_chance"),
                                          share_metric("weights_needed", Better::kLower)};

  std::vector<double> thresholds = {0.01, 0.03, 0.1, 0.3, 1};
  bool renormalise = false;
  double tolerance = 0.01;
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("thresholds", thresholds,
          "parts of the row's largest weight below which weights are dropped",
          config::between(0, 1));
    visit("renormalise", renormalise,
          "whether what is kept of a row is scaled to the size that the row had");
    visit("tolerance", tolerance, "accuracy that may be lost with the weights needed",
          config::between(0, 1));
    visit("samples", samples, "test sequences of the task's first part", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (thresholds.empty()) check.problem("thresholds", "is empty; expected at least one");
  }

  /// Metrics: accuracy_all_weights, of the model as it is; weights_needed, the smallest share of
  /// weights kept at any of the thresholds, or 1, with which no more than `tolerance` of that
  /// accuracy is lost. Details: cells, the first of threshold 0, which drops nothing; each with
  /// threshold, kept (the share of weights in all layers, heads and rows up to the row's own
  /// position), samples, n, correct, accuracy, accuracy_low, accuracy_high, chance, loss.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
