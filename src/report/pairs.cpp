#include "report/pairs.h"

#include <algorithm>

namespace difflab::report {

Pairs pair_runs(const Frame& frame, const std::vector<const FrameRun*>& ours,
                const std::vector<const FrameRun*>& theirs,
                const std::vector<std::string>& compared, const std::string& metric) {
  const auto are_partners = [&](const FrameRun& a, const FrameRun& b) {
    return std::all_of(frame.axes().begin(), frame.axes().end(), [&](const std::string& axis) {
      return std::find(compared.begin(), compared.end(), axis) != compared.end() ||
             a.axis(axis) == b.axis(axis);
    });
  };
  Pairs pairs;
  for (const FrameRun* run : ours) {
    for (const FrameRun* partner : theirs) {
      if (!are_partners(*run, *partner)) continue;
      if (run->censored_above(metric) || partner->censored_above(metric)) ++pairs.censored;
      const auto value = run->metric(metric);
      const auto reference = partner->metric(metric);
      if (!value || !reference) continue;
      pairs.ours.push_back(*value);
      pairs.theirs.push_back(*reference);
      pairs.differences.push_back(*value - *reference);
    }
  }
  return pairs;
}

}  // namespace difflab::report
