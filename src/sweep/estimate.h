#pragma once

#include <optional>

namespace difflab::sweep {

/// How far a sweep is and when it will end, from work done (training steps, or runs where a task
/// has none) per second of this call. Work that earlier calls did counts as done but not as speed.
class Estimate {
 public:
  explicit Estimate(double total_work) : total_(total_work) {}

  /// All work done so far, `now` seconds after the start.
  void update(double done, double now);

  /// Takes work off the total that nobody will do: its run failed.
  void give_up(double work) { total_ -= work; }

  /// Work per second, nothing in the first moments. Recent minutes count more than old ones.
  std::optional<double> rate() const;
  /// Seconds until everything is done, nothing while there is no rate.
  std::optional<double> seconds_left() const;

 private:
  double total_;
  double done_ = 0, now_ = 0;
  bool started_ = false;
  double weighted_work_ = 0, weighted_seconds_ = 0;  // older terms decay
};

}  // namespace difflab::sweep
