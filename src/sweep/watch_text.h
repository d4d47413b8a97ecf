#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "sweep/watch.h"
#include "util/terminal/terminal.h"

namespace difflab::sweep {

/// The whole view, every run in its place.
std::vector<std::string> watch_lines(const WatchView& view, const std::string& title, int width);

/// The same for a screen: where not all runs fit, those that run come first, then those that
/// failed, and what is left out is counted.
std::vector<std::string> watch_frame(const WatchView& view, const std::string& title,
                                     ScreenSize size);

/// Prints changes since the previous view as plain lines for a log, and a sign of life every
/// minute: "headline: 3/30 done · 2 running · 1.2k steps/s · 14m 05s left".
class WatchLog {
 public:
  explicit WatchLog(std::ostream& out) : out_(out) {}
  void show(const WatchView& view, const std::string& title, double now);

 private:
  std::ostream& out_;
  std::map<std::string, RunState> states_;  // by label
  double next_sign_ = 0;
};

}  // namespace difflab::sweep
