#include "evaluate/heads/attention_sink.h"

#include <limits>
#include <map>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

enum SinkMap : std::size_t { kFirst, kSecond, kWeights, kRelative, kSinkMaps };
constexpr std::array<const char*, kSinkMaps> kCellNames{"first", "second", "weights", "relative"};
constexpr std::array<const char*, kSinkMaps> kMetricNames{"sink_first_map", "sink_second_map",
                                                          "sink_weights", "sink_relative_weights"};

struct SinkSums {
  at::Tensor above, mean;  // [H], sums over sequences
  std::int64_t samples = 0;
};

// The maps of one layer, [B, H, T, T] each; undefined where it has none.
std::array<at::Tensor, kSinkMaps> sink_maps(const LayerView& view) {
  const auto maps = view.attention.maps(view.attention_input, view.rotary);
  const auto sizes = view.attention.weights(view.attention_input, view.rotary).abs();
  // A row without any weight stays one.
  const auto sums = sizes.sum(-1, true).clamp_min(std::numeric_limits<float>::min());
  return {maps[0], maps.size() > 1 ? maps[1] : at::Tensor(), sizes, sizes / sums};
}

void add_to(SinkSums& sums, const at::Tensor& weights, std::int64_t position, double epsilon) {
  const auto queries = weights.size(-1) - position;
  const auto mean =
      weights.select(-1, position).narrow(-1, position, queries).to(at::kDouble).mean(-1);  // [B,H]
  accumulate(sums.above, (mean > epsilon).to(at::kDouble).sum(0));
  accumulate(sums.mean, mean.sum(0));
  sums.samples += weights.size(0);
}

}  // namespace

EvaluationResult AttentionSinkConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  std::map<std::pair<std::int64_t, std::size_t>, SinkSums> sums;  // of (layer, map)
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    if (batch.inputs.size(1) <= position) return;  // a short one of several lengths
    context.model.observe(batch.inputs, [&](const LayerView& view) {
      const auto maps = sink_maps(view);
      for (std::size_t map = 0; map < maps.size(); ++map) {
        if (!maps[map].defined()) continue;
        add_to(sums[{view.layer, map}], maps[map], position, epsilon);
      }
    });
  });
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  std::array<std::vector<at::Tensor>, kSinkMaps> shares;  // of all layers, [H] each
  for (const auto& [of, sum] : sums) {
    const auto [layer, map] = of;
    const auto share = sum.above / sum.samples, mean = sum.mean / sum.samples;
    shares[map].push_back(share);
    for (std::int64_t head = 0; head < share.size(0); ++head) {
      cells.push_back({{"layer", layer},
                       {"head", head},
                       {"map", kCellNames[map]},
                       {"share", share[head].item<double>()},
                       {"mean", mean[head].item<double>()},
                       {"samples", sum.samples}});
    }
  }
  for (std::size_t map = 0; map < shares.size(); ++map) {
    if (shares[map].empty()) continue;
    result.metrics[kMetricNames[map]] = at::cat(shares[map]).mean().item<double>();
  }
  return result;
}

}  // namespace difflab
