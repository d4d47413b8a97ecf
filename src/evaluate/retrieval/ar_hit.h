#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Loss on associative-recall hits and on the others. A hit is the last token of an n-gram that has
/// come before in the same context, so it could be copied. Source: Arora et al. 2023, arXiv
/// 2312.04927; used in arXiv 2410.05258, table 6.
struct ArHitConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "ar_hit";
  static constexpr std::string_view kAbout =
      "loss on tokens that complete an n-gram of the context, and on others (arXiv 2312.04927)";
  static constexpr std::array kMetrics = {share_metric("ar_hit_share"),
                                          loss_metric("ar_hit_loss", "AR-Hit loss"),
                                          share_metric("ar_hit_accuracy", Better::kHigher),
                                          loss_metric("others_loss", "other tokens' loss"),
                                          share_metric("others_accuracy", Better::kHigher)};

  std::int64_t n = 2;  ///< tokens of an n-gram
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("n", n, "tokens of an n-gram, the predicted one included", config::between(2, 64));
    visit("samples", samples, "test sequences", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    require_every_token(task, kKind, check);
  }

  /// Metrics: ar_hit_share of all predictions; ar_hit_loss, ar_hit_accuracy, others_loss and
  /// others_accuracy, each null where there are none. Details: n, hits, others.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
