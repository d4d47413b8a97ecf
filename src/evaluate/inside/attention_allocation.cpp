#include "evaluate/inside/attention_allocation.h"

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

constexpr std::array<const char*, 5> kRegions{"begin", "before", "answer", "after", "question"};
constexpr std::int64_t kBegin = 0, kBefore = 1, kAnswer = 2, kAfter = 3, kQuestion = 4;

// The region of every position of sequences that end in one question, "?" and the M tokens of a
// key: [B, T]. The last pair of that key is the answer.
at::Tensor regions_of(const at::Tensor& inputs, std::int64_t M) {
  const auto T = inputs.size(1);
  const auto context = T - 1 - M;
  const auto key = inputs.narrow(1, T - M, M).unsqueeze(1);                          // [B, 1, M]
  const auto is_key = inputs.narrow(1, 0, context).unfold(1, M, 1).eq(key).all(-1);  // [B, P]
  const auto places = at::arange(1, is_key.size(1) + 1, inputs.options());
  const auto key_at = (places * is_key).amax(1, true) - 1;  // [B, 1]
  const auto position = at::arange(T, inputs.options());    // [T]
  auto regions = at::full_like(inputs, kAfter);
  regions.masked_fill_(position < key_at, kBefore);
  regions.masked_fill_((position >= key_at) & (position <= key_at + M), kAnswer);
  regions.narrow(1, 0, 1).fill_(kBegin);
  regions.narrow(1, context, 1 + M).fill_(kQuestion);
  return regions;
}

// Values of the last row by region, summed over sequences and averaged over heads: [5].
at::Tensor by_region(const at::Tensor& row, const at::Tensor& regions) {
  const auto of_position = row.mean(1).to(at::kDouble);  // row [B, H, T] -> [B, T]
  return at::zeros({static_cast<std::int64_t>(kRegions.size())}, of_position.options())
      .index_add(0, regions.flatten(), of_position.flatten());
}

struct Allocation {
  at::Tensor share, weight;  // [layers, 5], sums over sequences
};

Allocation allocate(const EvaluationContext& context, const NeedleConfig& cell,
                    std::int64_t samples) {
  const auto layers = context.model.config().layers;
  const auto zeros = at::zeros({layers, static_cast<std::int64_t>(kRegions.size())}, at::kDouble);
  Allocation sum{zeros.clone(), zeros.clone()};
  const auto task = cell.build();
  for_each_batch(context, *task, samples, [&](const Batch& batch) {
    const auto regions = regions_of(batch.inputs, cell.key_tokens);
    context.model.observe(batch.inputs, [&](const LayerView& view) {
      const auto weights = view.attention.weights(view.attention_input, view.rotary);
      const auto row = weights.select(2, -1);  // [B, H, T]
      const auto size = row.abs();
      sum.share[view.layer] += by_region(size / size.sum(-1, true), regions).cpu();
      sum.weight[view.layer] += by_region(row, regions).cpu();
    });
  });
  return {sum.share / samples, sum.weight / samples};
}

}  // namespace

EvaluationResult AttentionAllocationConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  auto overall = at::zeros({static_cast<std::int64_t>(kRegions.size())}, at::kDouble);
  for (const auto depth : depths) {
    const auto* trained = needles_of(context.task_config);
    auto needles = with_length(*trained, trained->length);
    needles.queries = 1;
    needles.depth = depth;
    const auto [share, weight] = allocate(context, needles, samples);
    const auto add = [&](const Json& layer, const at::Tensor& shares, const at::Tensor& weights) {
      for (std::size_t region = 0; region < kRegions.size(); ++region) {
        const auto place = static_cast<std::int64_t>(region);
        cells.push_back({{"depth", depth},
                         {"layer", layer},
                         {"region", kRegions[region]},
                         {"share", shares[place].item<double>()},
                         {"weight", weights[place].item<double>()},
                         {"samples", samples}});
      }
    };
    for (std::int64_t layer = 0; layer < share.size(0); ++layer) {
      add(layer, share[layer], weight[layer]);
    }
    add("all", share.mean(0), weight.mean(0));
    overall += share.mean(0) / static_cast<double>(depths.size());
  }
  for (std::size_t region = 0; region < kRegions.size(); ++region) {
    result.metrics[concat("attention_to_", kRegions[region])] =
        overall[static_cast<std::int64_t>(region)].item<double>();
  }
  result.metrics["attention_to_noise"] = (overall[kBefore] + overall[kAfter]).item<double>();
  return result;
}

}  // namespace difflab
