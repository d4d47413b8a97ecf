#include "report/data/equal_level.h"

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "statistics/equal_level.h"

namespace difflab::report {
namespace {

// Levels of `variant` along the axis of sizes, all else as in `run`; none if a run lacks a metric.
std::optional<Levels> levels_of(const EqualLevelConfig& config, const FrameRun& run,
                                const Frame& frame, const std::string& variant) {
  Levels levels;
  for (const FrameRun& other : frame.runs()) {
    if (!is_same_value(other.axis(config.variants), variant) ||
        !frame.are_partners(run, other, {config.along, config.variants})) {
      continue;
    }
    const auto x = other.metric(config.x), y = other.metric(config.value);
    if (!x || !y) return std::nullopt;
    levels[*x] = *y;
  }
  return levels;
}

}  // namespace

std::optional<double> EqualLevelConfig::of(const FrameRun& run, const Frame& frame) const {
  const auto own = levels_of(*this, run, frame, run.axis(variants));
  const auto base = levels_of(*this, run, frame, frame.baseline());
  if (!own || !base) return std::nullopt;
  return share_at_equal_level(*own, *base, metric_of(value).better == Better::kLower);
}

}  // namespace difflab::report
