#include "run/memory.h"

#include <cmath>

#include "model/cost.h"
#include "run/run_config.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr double kBytes = 4;  // of a number

double number(std::int64_t n) { return static_cast<double>(n); }

// Bytes of the maps [T, T] of the first `layers` layers, either before or behind the softmax.
double bytes_of_maps(const ModelConfig& model, std::int64_t layers, std::int64_t T) {
  double maps = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    maps += number(attention_cost(model, layer).maps);
  }
  return maps * number(T) * number(T) * kBytes;
}

bool keeps_maps(const RunConfig& config) { return !uses_kernels(config.kernels); }

MemoryNeed need_of_training(const RunConfig& config) {
  const auto T = sequence_length(config.task), B = config.train.batch_size;
  const auto& model = config.model;
  const double weights = number(count_parameters(model, 1).total());
  // A layer whose values are computed once more keeps only the two parts of its stream.
  const auto again = config.train.recompute ? model.layers - 1 : 0, whole = model.layers - again;
  // Behind each other layer at least: x, its norm, q, k, v, heads, the norm and the hidden states.
  const double states =
      number(8 * whole + 2 * again) * number(B) * number(T) * number(model.d_model);
  const double maps = keeps_maps(config) ? number(B) * bytes_of_maps(model, whole, T) : 0;
  const double kept = std::visit([](const auto& kind) { return kind.state_per_parameter(); },
                                 config.train.optimizer);
  // Values, gradients and what the optimiser keeps.
  return {"train.batch_size", kBytes * ((2 + kept) * weights + states) + maps,
          concat("training ", B, " sequences of ", T, " tokens")};
}

MemoryNeed need_of_evaluation(const RunConfig& config, std::size_t index, std::int64_t T) {
  const auto& model = config.model;
  const double weights = number(count_parameters(model, 1).total());
  const double states = number(T) * 4 * number(model.d_model);
  const double maps = keeps_maps(config) ? 2 * bytes_of_maps(model, 1, T) : 0;
  return {concat("evaluate[", index, "]"), kBytes * (weights + states) + maps,
          concat("a sequence of ", T, " tokens")};
}

std::string gibibytes(double bytes) {
  const double tenths = std::ceil(bytes / (1 << 30) * 10) / 10;
  return concat(tenths, " GiB");
}

}  // namespace

std::vector<MemoryNeed> least_memory(const RunConfig& config, bool trained) {
  std::vector<MemoryNeed> needs;
  if (config.device != Device::kCpu) return needs;
  if (!trained) {
    if (config.train.steps > 0) needs.push_back(need_of_training(config));
    for (auto earlier = earlier_run(config); earlier; earlier = earlier_run(*earlier)) {
      if (earlier->train.steps == 0) continue;
      auto need = need_of_training(*earlier);
      need.key = concat("stages[", earlier->stages.size(), "].", need.key);
      needs.push_back(std::move(need));
    }
  }
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto& asked = asked_task(config.evaluate[i], config.task);
    needs.push_back(need_of_evaluation(config, i, longest_sequence(config.evaluate[i], asked)));
  }
  return needs;
}

std::optional<std::string> lacks_memory(const RunConfig& config, bool trained, double available) {
  for (const auto& need : least_memory(config, trained)) {
    if (need.bytes <= available) continue;
    return concat(need.key, " asks for ", need.text, ", which takes at least ",
                  gibibytes(need.bytes),
                  keeps_maps(config) ? " with kernels=plain, which keeps maps of T × T" : "",
                  "; a run here has ", gibibytes(available));
  }
  return std::nullopt;
}

}  // namespace difflab
