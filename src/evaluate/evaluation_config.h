#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "evaluate/answers/hallucination.h"
#include "evaluate/heads/attention_map.h"
#include "evaluate/heads/attention_sink.h"
#include "evaluate/heads/head_redundancy.h"
#include "evaluate/heads/head_statistics.h"
#include "evaluate/heads/sparse_attention.h"
#include "evaluate/inside/activation_outliers.h"
#include "evaluate/inside/attention_allocation.h"
#include "evaluate/inside/initial_gradients.h"
#include "evaluate/inside/lambda_distribution.h"
#include "evaluate/inside/quantization.h"
#include "evaluate/language/count_model.h"
#include "evaluate/language/heldout.h"
#include "evaluate/language/loss_by_position.h"
#include "evaluate/language/multiple_choice.h"
#include "evaluate/language/sample_text.h"
#include "evaluate/retrieval/ar_hit.h"
#include "evaluate/retrieval/in_context_shots.h"
#include "evaluate/retrieval/needle_grid.h"
#include "evaluate/speed/decoding.h"
#include "evaluate/speed/throughput.h"

namespace difflab {

/// Every evaluation of a trained model; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using EvaluationConfig =
    std::variant<HeldoutConfig, NeedleGridConfig, InContextShotsConfig, HallucinationConfig,
                 AttentionAllocationConfig, ActivationOutliersConfig, QuantizationConfig,
                 LossByPositionConfig, MultipleChoiceConfig, ArHitConfig, CountModelConfig,
                 InitialGradientsConfig, LambdaDistributionConfig, AttentionSinkConfig,
                 HeadRedundancyConfig, HeadStatisticsConfig, AttentionMapConfig,
                 SparseAttentionConfig, ThroughputConfig, SampleTextConfig, DecodingConfig>;

/// Settings that every evaluation has.
inline EvaluationCommon& common_of(EvaluationConfig& config) {
  return std::visit([](auto& kind) -> EvaluationCommon& { return kind; }, config);
}
inline const EvaluationCommon& common_of(const EvaluationConfig& config) {
  return common_of(const_cast<EvaluationConfig&>(config));
}

/// Prefix of the names of an evaluation's metrics in a result.
inline std::string metric_prefix(const EvaluationConfig& config) {
  const auto& name = common_of(config).name;
  return name.empty() ? "" : name + "_";
}

/// The task that an evaluation asks a model on that was trained on `trained`.
inline const TaskConfig& asked_task(const EvaluationConfig& config, const TaskConfig& trained) {
  const auto& other = common_of(config).other_task.config;
  return other ? *other : trained;
}

/// The name of an evaluation's kind in ids and results.
inline std::string kind_name(const EvaluationConfig& config, const TaskConfig& trained) {
  return std::visit(
      [&](const auto& kind) {
        const auto former = kind.known_as(asked_task(config, trained));
        return std::string(former.empty() ? kind.kKind : former);
      },
      config);
}

/// Name under which a result keeps what an evaluation found.
inline std::string result_name(const EvaluationConfig& config, const TaskConfig& trained) {
  const auto& name = common_of(config).name;
  if (!name.empty()) return name;
  const bool is_grid = std::holds_alternative<NeedleGridConfig>(config);  // of a model there is one
  return is_grid ? std::string(NeedleGridConfig::kKind) : kind_name(config, trained);
}

/// T of the longest sequence that an evaluation asks about.
inline std::int64_t longest_sequence(const EvaluationConfig& config, const TaskConfig& asked) {
  const auto longest = std::visit([&](const auto& kind) { return kind.longest(asked); }, config);
  return std::max(longest, sequence_length(asked));
}

}  // namespace difflab
