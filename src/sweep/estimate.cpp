#include "sweep/estimate.h"

#include <algorithm>
#include <cmath>

namespace difflab::sweep {
namespace {

constexpr double kMemorySeconds = 180;  // after this long a measurement counts 1/e
constexpr double kFirstSeconds = 2;

}  // namespace

void Estimate::update(double done, double now) {
  if (started_ && now > now_) {
    const double seconds = now - now_;
    const double keep = std::exp(-seconds / kMemorySeconds);
    // A run that starts again takes work back; that is a loss, not a negative speed.
    weighted_work_ = keep * weighted_work_ + std::max(0.0, done - done_);
    weighted_seconds_ = keep * weighted_seconds_ + seconds;
  }
  started_ = true;
  done_ = done;
  now_ = std::max(now, now_);
}

std::optional<double> Estimate::rate() const {
  if (weighted_seconds_ < kFirstSeconds || weighted_work_ <= 0) return std::nullopt;
  return weighted_work_ / weighted_seconds_;
}

std::optional<double> Estimate::seconds_left() const {
  const auto speed = rate();
  if (!speed) return std::nullopt;
  return std::max(0.0, total_ - done_) / *speed;
}

}  // namespace difflab::sweep
