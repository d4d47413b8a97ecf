#include "statistics/metric_facts.h"

namespace difflab {

bool is_called(std::string_view metric, std::string_view name) {
  if (metric.empty() || name.empty()) return metric.empty() && name.empty();
  if (name.front() != '*') {
    return metric.front() == name.front() && is_called(metric.substr(1), name.substr(1));
  }
  for (std::size_t letters = 1; letters <= metric.size(); ++letters) {
    if (is_called(metric.substr(letters), name.substr(1))) return true;
  }
  return false;
}

}  // namespace difflab
