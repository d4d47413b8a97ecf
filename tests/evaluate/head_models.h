#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/evaluation_config.h"
#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "task/base/task.h"

namespace difflab::testing {

/// Numbers by their indices, for loops that share nothing with what they check.
using Matrix = std::vector<std::vector<double>>;

inline Matrix matrix_of(const at::Tensor& x) {  // [n, m]
  Matrix rows(static_cast<std::size_t>(x.size(0)));
  const auto wide = x.detach().to(at::kDouble).contiguous();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto* begin = wide.data_ptr<double>() + static_cast<std::int64_t>(i) * wide.size(1);
    rows[i].assign(begin, begin + wide.size(1));
  }
  return rows;
}

/// One head of one layer on one sequence.
struct DumpedHead {
  Matrix first, second;  ///< softmax maps [T, T]; the second is empty without a difference
  Matrix weights;        ///< [T, T]
  Matrix before, after;  ///< outputs around the head norm, [T, width]
};

/// Softmax of every row up to its own position.
inline Matrix softmax_of(const Matrix& logits) {
  auto map = logits;
  for (std::size_t t = 0; t < logits.size(); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < logits.size(); ++s) {
      map[t][s] = s <= t ? std::exp(logits[t][s]) : 0;
      sum += map[t][s];
    }
    for (auto& weight : map[t]) weight /= sum;
  }
  return map;
}

/// All heads of a model without sinks on `inputs` [B, T]: [layer][sequence][head]. The maps are
/// made here of logits, two by two if there is a λ, for head i those at 2i and 2i + 1.
inline std::vector<std::vector<std::vector<DumpedHead>>> dump_heads(LanguageModel& model,
                                                                    const at::Tensor& inputs) {
  const at::NoGradGuard no_grad;
  std::vector<std::vector<std::vector<DumpedHead>>> all;
  at::Tensor logits, before, after;
  std::vector<std::unique_ptr<WithLogitHook>> logit_hooks;
  std::vector<std::unique_ptr<WithHeadHook>> head_hooks;
  model.for_each_attention([&](const std::string&, Attention& attention) {
    logit_hooks.push_back(std::make_unique<WithLogitHook>(attention, [&](const at::Tensor& seen) {
      logits = seen;
      return seen;
    }));
    head_hooks.push_back(
        std::make_unique<WithHeadHook>(attention, [&](HeadPoint point, const at::Tensor& heads) {
          (point == HeadPoint::kBeforeNorm ? before : after) = heads;
          return heads;
        }));
  });
  model.observe(inputs, [&](const LayerView& view) {
    auto& layer = all.emplace_back();
    const auto lambdas = view.attention.lambdas(view.attention_input);  // [B, T, H]
    for (std::int64_t b = 0; b < inputs.size(0); ++b) {
      auto& heads = layer.emplace_back();
      for (std::int64_t h = 0; h < before.size(1); ++h) {
        DumpedHead head;
        const bool pair = lambdas.defined();
        head.first = softmax_of(matrix_of(logits[b][pair ? 2 * h : h]));
        head.weights = head.first;
        if (pair) {
          head.second = softmax_of(matrix_of(logits[b][2 * h + 1]));
          for (std::size_t t = 0; t < head.first.size(); ++t) {
            const double lambda = lambdas[b][static_cast<std::int64_t>(t)][h].item<double>();
            for (std::size_t s = 0; s <= t; ++s) head.weights[t][s] -= lambda * head.second[t][s];
          }
        }
        head.before = matrix_of(before[b][h]);
        head.after = matrix_of(after[b][h]);
        heads.push_back(std::move(head));
      }
    }
  });
  return all;
}

inline const NeedleConfig kHeadNeedles{
    .length = 20, .needles = 2, .queries = 1, .noise_tokens = 6, .keys = 4, .values = 4};
constexpr std::int64_t kHeadSamples = 7, kHeadTokens = 20;

/// Two layers whose attention is uneven, as that of a trained model.
inline LanguageModel uneven(const AttentionConfig& attention, double std = 0.6) {
  const ModelConfig config{
      .d_model = 16, .layers = 2, .ffn_hidden = 16, .init_std = std, .attention = attention};
  LanguageModel model(config, kHeadNeedles.vocab_size());
  initialise(model, config, 5);
  model.eval();
  return model;
}

inline const std::vector<std::pair<std::string, AttentionConfig>> kHeadKinds{
    {"softmax", SoftmaxAttentionConfig{.heads = 4}},
    {"diff_v1", DifferentialAttentionConfig{.heads = 2}},
    {"diff_v2", DifferentialV2Config{.heads = 2}}};

/// What its heads do with the first test sequences.
inline auto dumped(LanguageModel& model) {
  return dump_heads(model, kHeadNeedles.build()->batch(3, Split::kTest, 0, kHeadSamples).inputs);
}

/// The same with even maps: no query says anything.
inline LanguageModel even(const AttentionConfig& attention) {
  auto model = uneven(attention);
  const at::NoGradGuard no_grad;
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.key().find("q_proj") != std::string::npos) parameter.value().zero_();
  }
  return model;
}

inline DifferentialAttentionConfig constant_lambda(double lambda) {
  DifferentialAttentionConfig diff{.heads = 2};
  diff.lambda_form = LambdaForm::kConstant;
  diff.lambda_init = LambdaInit(lambda);
  return diff;
}

}  // namespace difflab::testing
