#include "run/metrics.h"

#include <type_traits>
#include <variant>

#include "evaluate/evaluation_config.h"

namespace difflab {
namespace {

template <class... Kinds>
std::vector<MetricFacts> metrics_of(std::type_identity<std::variant<Kinds...>>) {
  std::vector<MetricFacts> all;
  (all.insert(all.end(), Kinds::kMetrics.begin(), Kinds::kMetrics.end()), ...);
  return all;
}

}  // namespace

std::vector<MetricFacts> metrics_of_evaluations() {
  return metrics_of(std::type_identity<EvaluationConfig>{});
}

}  // namespace difflab
