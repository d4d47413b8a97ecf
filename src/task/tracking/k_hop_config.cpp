#include <cmath>
#include <vector>

#include "task/needle/recall.h"
#include "task/tracking/k_hop.h"

namespace difflab {

void KHopConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, sequence_length(), check);
  check_at_most({"least_nodes", least_nodes}, {"nodes", nodes}, check);
  check_at_least({"names", names}, {"nodes", nodes}, "because the nodes of a cycle are distinct",
                 check);
  if (asked) check_at_most({"asked", *asked}, {"hops", hops}, check);
}

std::vector<double> KHopConfig::sizes() const {
  std::vector<double> weights;
  double sum = 0;
  for (auto n = least_nodes; n <= nodes; ++n) {
    weights.push_back(1 / (static_cast<double>(n) + std::sqrt(static_cast<double>(nodes))));
    sum += weights.back();
  }
  for (auto& weight : weights) weight /= sum;
  return weights;
}

}  // namespace difflab
