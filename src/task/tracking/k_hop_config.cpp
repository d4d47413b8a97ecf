#include <cmath>
#include <vector>

#include "task/needle/recall.h"
#include "task/tracking/k_hop.h"
#include "util/text.h"

namespace difflab {

void KHopConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, sequence_length(), check);
  if (least_nodes > nodes) {
    check.problem("least_nodes", concat("is ", least_nodes, "; expected at most nodes, ", nodes));
  }
  if (nodes > names) {
    check.problem("names", concat("is ", names, "; expected at least nodes, ", nodes,
                                  ", because the nodes of a cycle are distinct"));
  }
  if (asked && *asked > hops) {
    check.problem("asked", concat("is ", *asked, "; expected at most hops, ", hops));
  }
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
