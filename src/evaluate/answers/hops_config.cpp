#include <algorithm>
#include <set>

#include "evaluate/answers/hops.h"
#include "util/text.h"

namespace difflab {

void HopsConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  const auto* k_hop = task_as<KHopConfig>(task);
  if (k_hop == nullptr) {
    check.problem("kind", "is hops; expected a task of kind k_hop");
    return;
  }
  if (std::set(hops.begin(), hops.end()).size() != hops.size()) {
    check.problem("hops", "has a number twice; expected each once");
  }
  for (const auto k : hops) {
    if (k % k_hop->nodes == 0) {
      check.problem("hops", concat("has ", k, ", which leads around a cycle of ", k_hop->nodes,
                                   " nodes to the node that is asked about"));
    }
    if (k > k_hop->hops) {
      check.problem("hops", concat("has ", k, "; expected at most the task's hops, ", k_hop->hops));
    }
  }
}

std::vector<std::int64_t> HopsConfig::asked(const KHopConfig& task) const {
  if (!hops.empty()) return hops;
  std::vector<std::int64_t> powers;
  for (std::int64_t k = 1; k <= task.hops; k *= 2) {
    if (k % task.nodes != 0) powers.push_back(k);  // once around a cycle is no question
  }
  return powers;
}

}  // namespace difflab
