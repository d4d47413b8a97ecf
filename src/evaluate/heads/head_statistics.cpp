#include "evaluate/heads/head_statistics.h"

#include <torch/csrc/autograd/autograd.h>

#include <limits>
#include <memory>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

constexpr std::array<const char*, 2> kStages{"before", "after"};

/// Sums of one layer at one stage, [H] each.
struct HeadSums {
  std::array<at::Tensor, 4> powers;  // of the outputs
  at::Tensor gradient;               // squared norms over sequences
  double numbers = 0;                // of a head
};

void add_powers(HeadSums& sums, const at::Tensor& heads) {                   // [B, H, T, width]
  const auto x = heads.detach().to(at::kDouble).transpose(0, 1).flatten(1);  // [H, n]
  sums.numbers += static_cast<double>(x.size(1));
  for (std::size_t i = 0; i < sums.powers.size(); ++i) {
    accumulate(sums.powers[i], x.pow(static_cast<double>(i + 1)).sum(1));
  }
}

// The mean loss of every sequence, summed. What one sequence does changes nothing in another, so
// the sum's gradient holds those of all.
at::Tensor sum_of_mean_losses(LanguageModel& model, const Batch& batch) {
  const auto asked = Questions::of(batch.targets);
  const auto states = model.hidden(batch.inputs).flatten(0, 1).index_select(0, asked.where);
  const auto losses = token_losses(model.head(states).unsqueeze(0), asked.targets.unsqueeze(0))[0];
  const auto row = asked.where.div(batch.targets.size(1), "floor");  // [n]
  const auto counts =
      at::zeros({batch.targets.size(0)}, losses.options()).index_add(0, row, at::ones_like(losses));
  return (losses / counts.index_select(0, row)).sum();
}

// Σ (x − m)⁴ / n over (Σ (x − m)² / n)², by the sums of powers: [H]. NaN of an output that is
// constant but for rounding.
at::Tensor kurtosis(const HeadSums& sums) {
  constexpr double kRounding = 1e-10;
  const auto n = sums.numbers;
  const auto m = sums.powers[0] / n, m2 = sums.powers[1] / n, m3 = sums.powers[2] / n,
             m4 = sums.powers[3] / n;
  const auto variance = m2 - m.square();
  const auto fourth = m4 - 4 * m * m3 + 6 * m.square() * m2 - 3 * m.pow(4);
  const auto varies = variance > kRounding * m2;
  return at::where(varies, fourth / variance.square(), std::numeric_limits<double>::quiet_NaN());
}

/// Runs the model on batches and keeps what heads put out.
class HeadWatch {
 public:
  explicit HeadWatch(LanguageModel& model)
      : model_(model),
        sums_(static_cast<std::size_t>(model.config().layers) * kStages.size()),
        outputs_(sums_.size()) {
    std::size_t layer = 0;
    model.for_each_attention([&](const std::string&, Attention& attention) {
      const auto first = kStages.size() * layer++;
      hooks_.push_back(std::make_unique<WithHeadHook>(
          attention, [this, first](HeadPoint point, const at::Tensor& heads) {
            // Parameters that are not trained give outputs without a gradient.
            const auto seen = heads.requires_grad() ? heads : heads.detach().requires_grad_();
            outputs_[first + (point == HeadPoint::kAfterNorm ? 1 : 0)] = seen;
            return seen;
          }));
    });
  }

  void add(const Batch& batch) {
    const at::AutoGradMode with_gradients(true);
    const auto loss = sum_of_mean_losses(model_, batch);
    const auto gradients = torch::autograd::grad({loss}, outputs_);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      add_powers(sums_[i], outputs_[i]);
      accumulate(sums_[i].gradient, gradients[i].to(at::kDouble).square().sum({0, 2, 3}));
    }
    sequences_ += static_cast<double>(batch.inputs.size(0));
  }

  EvaluationResult result() const {
    EvaluationResult result;
    auto& cells = result.details["cells"] = Json::array();
    std::array<std::array<std::vector<at::Tensor>, 3>, kStages.size()> all;  // [H] of each layer
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const auto rms = (sums_[i].powers[1] / sums_[i].numbers).sqrt();
      const auto tails = kurtosis(sums_[i]);
      const auto gradient = (sums_[i].gradient / sequences_).sqrt();
      const auto stage = i % kStages.size();
      for (std::int64_t head = 0; head < rms.size(0); ++head) {
        const bool varies = tails[head].isfinite().item<bool>();
        cells.push_back({{"layer", i / kStages.size()},
                         {"head", head},
                         {"stage", kStages[stage]},
                         {"rms", rms[head].item<double>()},
                         {"kurtosis", varies ? Json(tails[head].item<double>()) : Json()},
                         {"gradient", gradient[head].item<double>()}});
      }
      all[stage][0].push_back(rms);
      all[stage][1].push_back(tails.masked_select(tails.isfinite()));
      all[stage][2].push_back(gradient);
    }
    constexpr std::array<const char*, 3> kNames{"head_rms_", "head_kurtosis_", "head_gradient_"};
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        const auto values = at::cat(all[stage][i]);
        if (values.numel() == 0) continue;  // of outputs that are all constant
        result.metrics[concat(kNames[i], kStages[stage])] = values.mean().item<double>();
      }
    }
    return result;
  }

 private:
  LanguageModel& model_;
  std::vector<HeadSums> sums_;       // of all layers, each before and after
  std::vector<at::Tensor> outputs_;  // of the last batch, in the same order
  std::vector<std::unique_ptr<WithHeadHook>> hooks_;
  double sequences_ = 0;
};

}  // namespace

EvaluationResult HeadStatisticsConfig::run(const EvaluationContext& context) const {
  HeadWatch watch(context.model);
  for_each_batch(context, context.task, samples, [&](const Batch& batch) { watch.add(batch); });
  return watch.result();
}

}  // namespace difflab
