#include "evaluate/heads/attention_map.h"

#include <ATen/ATen.h>

#include <limits>
#include <memory>

#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "task/base/task.h"

namespace difflab {
namespace {

struct NamedMap {
  const char* name;
  at::Tensor weights;  // [H, T, T]
};

std::vector<NamedMap> maps_of_one(const LayerView& view) {
  std::vector<NamedMap> named{
      {"weights", view.attention.weights(view.attention_input, view.rotary)[0]}};
  const auto maps = view.attention.maps(view.attention_input, view.rotary);
  if (maps.size() < 2) return named;
  named.push_back({"first", maps[0][0]});
  named.push_back({"second", maps[1][0]});
  return named;
}

/// Adds the cells of one layer.
class MapCells {
 public:
  MapCells(const AttentionMapConfig& config, std::vector<std::string> tokens, Json& cells)
      : config_(config), tokens_(std::move(tokens)), cells_(cells) {}

  void add(std::int64_t layer, const NamedMap& map) {
    const auto weights = map.weights.to(at::kDouble).cpu();
    const auto sizes = weights.abs();
    const auto sums = sizes.sum(-1, true).clamp_min(std::numeric_limits<double>::min());
    const auto shares = sizes / sums;
    const Json about{{"layer", layer}, {"map", map.name}};
    add_head("mean", about, weights.mean(0), shares.mean(0));
    if (config_.heads == MapHeads::kMean) return;
    for (std::int64_t head = 0; head < weights.size(0); ++head) {
      add_head(head, about, weights[head], shares[head]);
    }
  }

 private:
  void add_head(const Json& head, const Json& about, const at::Tensor& weights,
                const at::Tensor& shares) {  // [T, T] each
    const auto T = weights.size(0);
    const auto weight = weights.accessor<double, 2>(), share = shares.accessor<double, 2>();
    for (auto query = config_.queries == MapQueries::kLast ? T - 1 : 0; query < T; ++query) {
      for (std::int64_t key = 0; key <= query; ++key) {
        Json cell = about;
        cell["head"] = head;
        cell["query"] = query;
        cell["key"] = key;
        cell["token"] = tokens_[static_cast<std::size_t>(key)];
        cell["weight"] = weight[query][key];
        cell["share"] = share[query][key];
        cells_.push_back(std::move(cell));
      }
    }
  }

  const AttentionMapConfig& config_;
  std::vector<std::string> tokens_;
  Json& cells_;
};

}  // namespace

EvaluationResult AttentionMapConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  std::unique_ptr<Task> deep;
  if (depth) {
    const auto* trained = needles_of(context.task_config);
    auto needles = with_length(*trained, trained->length);
    needles.depth = depth;
    deep = needles.build();
  }
  // For a mixture, its first part, which is the task asked about: a batch has the others last.
  const auto& task = deep ? *deep : *context.task.parts().front().task;
  const auto device = context.model.parameters().front().device();
  const auto inputs =
      task.batch(context.seed, Split::kTest, 0, sequence + 1).inputs.narrow(0, sequence, 1);
  std::vector<std::string> tokens;
  for (std::int64_t t = 0; t < inputs.size(1); ++t) {
    const auto text = task.token_text(inputs[0][t].item<std::int64_t>());
    tokens.push_back(readable_json(text).get<std::string>());
  }
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  MapCells of_layers(*this, std::move(tokens), cells);
  context.model.observe(inputs.to(device), [&](const LayerView& view) {
    for (const auto& map : maps_of_one(view)) of_layers.add(view.layer, map);
  });
  return result;
}

}  // namespace difflab
