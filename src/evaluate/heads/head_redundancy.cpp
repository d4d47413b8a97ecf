#include "evaluate/heads/head_redundancy.h"

#include <limits>
#include <map>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

constexpr std::array<const char*, 6> kRedundancyMetrics{"map_distance",    "output_cka",
                                                        "negative_share",  "attention_entropy",
                                                        "attended_tokens", "row_sum"};

/// Sums over the sequences and rows of one layer, in float64.
class LayerSums {
 public:
  void add_weights(const at::Tensor& given) {  // [B, H, T, T]
    const auto weights = given.to(at::kDouble);
    sequences_ += weights.size(0);
    rows_ += static_cast<double>(weights.size(0) * weights.size(2));
    const auto maps = weights.flatten(2);  // [B, H, T·T]
    const auto unit = maps / maps.norm(2, {-1}, true).clamp_min(kSmallest);
    accumulate(distance_, (1 - unit.matmul(unit.transpose(1, 2))).sum(0));
    const auto sizes = weights.abs();
    const auto total = sizes.sum(-1, true);  // [B, H, T, 1]
    const auto p = sizes / total.clamp_min(kSmallest);
    const auto entropy = -at::xlogy(p, p).sum(-1);  // [B, H, T]
    const auto has = (total.squeeze(-1) > 0).to(at::kDouble);
    accumulate(with_weight_, has.sum(at::IntArrayRef{0, 2}));
    accumulate(entropy_, (entropy * has).sum(at::IntArrayRef{0, 2}));
    accumulate(attended_, (entropy.exp() * has).sum(at::IntArrayRef{0, 2}));
    accumulate(size_, total.sum({0, 2, 3}));
    accumulate(negative_, weights.clamp_max(0).abs().sum({0, 2, 3}));
    accumulate(row_sum_, weights.sum(-1).sum(at::IntArrayRef{0, 2}));
  }

  void add_outputs(const at::Tensor& heads) {  // [B, H, T, width]
    const auto H = heads.size(1);
    const auto x = heads.to(at::kDouble).transpose(1, 2).flatten(2).flatten(0, 1);  // [n, H·width]
    positions_ += static_cast<double>(x.size(0));
    heads_ = H;
    accumulate(gram_, x.t().matmul(x));
    accumulate(sum_, x.sum(0));
  }

  std::int64_t heads() const { return heads_; }

  double distance(std::int64_t a, std::int64_t b) const {
    return std::max(0.0, distance_[a][b].item<double>() / static_cast<double>(sequences_));
  }

  // CKA of all pairs of heads, [H, H]; NaN where an output is constant but for rounding.
  at::Tensor cka() const {
    constexpr double kRounding = 1e-10;
    const auto squares = [&](const at::Tensor& gram) {  // of |XᵀY|, [H, H]
      return gram.unflatten(0, {heads_, -1}).unflatten(2, {heads_, -1}).square().sum({1, 3});
    };
    const auto together = squares(gram_ - at::outer(sum_, sum_) / positions_);
    const auto alone = together.diagonal().sqrt();
    const auto varies = alone > kRounding * squares(gram_).diagonal().sqrt();
    const auto defined = varies.unsqueeze(0).logical_and(varies.unsqueeze(1));
    return at::where(defined, together / at::outer(alone, alone),
                     std::numeric_limits<double>::quiet_NaN());
  }

  // [H] each, in the order of kRedundancyMetrics from the third.
  std::array<at::Tensor, 4> of_heads() const {
    const auto rows = with_weight_.clamp_min(1);
    return {negative_ / size_.clamp_min(kSmallest), entropy_ / rows, attended_ / rows,
            row_sum_ / rows_};
  }

 private:
  static constexpr double kSmallest = std::numeric_limits<double>::min();

  std::int64_t sequences_ = 0, heads_ = 0;
  double rows_ = 0, positions_ = 0;
  at::Tensor distance_;                                                      // [H, H]
  at::Tensor with_weight_, entropy_, attended_, size_, negative_, row_sum_;  // [H]
  at::Tensor gram_, sum_;  // [H·width, H·width], [H·width]
};

/// The mean of what there is.
class MeanOfSome {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

using Means = std::array<MeanOfSome, kRedundancyMetrics.size()>;

void add_pairs(std::int64_t layer, const LayerSums& sums, Means& means, Json& cells) {
  const auto cka = sums.cka();
  for (std::int64_t head = 0; head < sums.heads(); ++head) {
    for (std::int64_t other = head + 1; other < sums.heads(); ++other) {
      const double distance = sums.distance(head, other);
      const double likeness = std::min(1.0, cka[head][other].item<double>());  // but for rounding
      const bool has_cka = cka[head][other].isfinite().item<bool>();
      cells.push_back({{"part", "pair"},
                       {"layer", layer},
                       {"head", head},
                       {"other", other},
                       {kRedundancyMetrics[0], distance},
                       {kRedundancyMetrics[1], has_cka ? Json(likeness) : Json()}});
      means[0].add(distance);
      if (has_cka) means[1].add(likeness);
    }
  }
}

void add_single_heads(std::int64_t layer, const LayerSums& sums, Means& means, Json& cells) {
  const auto found = sums.of_heads();
  for (std::int64_t head = 0; head < sums.heads(); ++head) {
    Json cell = {{"part", "head"}, {"layer", layer}, {"head", head}};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double value = found[i][head].item<double>();
      cell[kRedundancyMetrics[i + 2]] = value;
      means[i + 2].add(value);
    }
    cells.push_back(std::move(cell));
  }
}

}  // namespace

EvaluationResult HeadRedundancyConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  std::map<std::int64_t, LayerSums> layers;
  at::Tensor outputs;  // of the layer that ran last, [B, H, T, width]
  const auto hooks =
      hooks_in<WithHeadHook>(context.model, [&](HeadPoint point, const at::Tensor& heads) {
        if (point == HeadPoint::kAfterNorm) outputs = heads;
        return heads;
      });
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    context.model.observe(batch.inputs, [&](const LayerView& view) {
      auto& sums = layers[view.layer];
      sums.add_outputs(outputs);
      sums.add_weights(view.attention.weights(view.attention_input, view.rotary));
    });
  });
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  Means overall;
  for (const auto& [layer, sums] : layers) {
    Means means;
    add_pairs(layer, sums, means, cells);
    add_single_heads(layer, sums, means, cells);
    Json cell = {{"part", "layer"}, {"layer", layer}};
    for (std::size_t i = 0; i < means.size(); ++i) {
      const auto value = means[i].value();
      cell[kRedundancyMetrics[i]] = value ? Json(*value) : Json();
      if (value) overall[i].add(*value);
    }
    cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < overall.size(); ++i) {
    if (const auto value = overall[i].value()) result.metrics[kRedundancyMetrics[i]] = *value;
  }
  return result;
}

}  // namespace difflab
