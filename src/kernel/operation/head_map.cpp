#include "kernel/operation/head_map.h"

#include <c10/util/Exception.h>

#include <set>

namespace difflab::kernel {

Groups groups_of(const HeadMap& heads) {
  Groups groups;
  std::map<std::int64_t, std::size_t> first;  // output of every noise map
  std::set<std::int64_t> alone(heads.q2.begin(), heads.q2.end());
  for (std::size_t i = 0; i < heads.v.size(); ++i) {
    TORCH_CHECK(alone.insert(heads.q1[i]).second, "attention: query head ", heads.q1[i],
                " is in two maps");
    auto& readers = groups[heads.v[i]];
    const auto known = heads.q2.empty() ? first.end() : first.find(heads.q2[i]);
    if (known == first.end()) {
      if (!heads.q2.empty()) first[heads.q2[i]] = i;
      readers.push_back({i});
      continue;
    }
    const auto other = known->second;
    TORCH_CHECK(heads.v[i] == heads.v[other] && heads.k2[i] == heads.k2[other],
                "attention: output heads ", other, " and ", i,
                " read one noise map, but not its values or keys");
    for (auto& outputs : readers) {
      if (outputs.front() == other) outputs.push_back(i);
    }
  }
  return groups;
}

}  // namespace difflab::kernel
