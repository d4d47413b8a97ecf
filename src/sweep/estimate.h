#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace difflab::sweep {

/// How far a sweep is and when it will end, from work done (training steps, or runs where a task
/// has none) per second of this call. Work that earlier calls did counts as done but not as speed.
class Estimate {
 public:
  explicit Estimate(double total_work) : total_(total_work) {}

  /// All work done so far, `now` seconds after the start.
  void update(double done, double now) {
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

  /// Takes work off the total that nobody will do: its run failed.
  void give_up(double work) { total_ -= work; }

  /// Work per second, nothing in the first moments. Recent minutes count more than old ones.
  std::optional<double> rate() const {
    if (weighted_seconds_ < kFirstSeconds || weighted_work_ <= 0) return std::nullopt;
    return weighted_work_ / weighted_seconds_;
  }
  /// Seconds until everything is done, nothing while there is no rate.
  std::optional<double> seconds_left() const {
    const auto speed = rate();
    return speed ? std::optional(std::max(0.0, total_ - done_) / *speed) : std::nullopt;
  }

 private:
  static constexpr double kMemorySeconds = 180;  // after this long a measurement counts 1/e
  static constexpr double kFirstSeconds = 2;

  double total_;
  double done_ = 0, now_ = 0;
  bool started_ = false;
  double weighted_work_ = 0, weighted_seconds_ = 0;  // older terms decay
};

}  // namespace difflab::sweep
