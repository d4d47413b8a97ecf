#include "sweep/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "util/terminal/terminal.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

constexpr double kShort = 60;  // seconds; below it tenths matter

std::string duration(double seconds) {
  return seconds < kShort ? fmt::format("{:.1f}s", seconds) : format_duration(seconds);
}

}  // namespace

std::string time_text(const SweepTime& time) {
  const double whole = time.runs * std::max(time.workers, 1);
  std::vector<std::string> shares;
  const auto add = [&](std::string_view name, double seconds) {
    const double percent = whole > 0 ? 100 * seconds / whole : 0;
    if (percent >= 0.5) shares.push_back(fmt::format("{} {:.0f} %", name, percent));
  };
  for (const auto& part : TimeSpent::parts()) add(part.name, time.by_runs.*part.seconds);
  add("other", whole - time.by_runs.sum());
  return fmt::format("{}: runs {} ({} at once: {}), tables and page {}, figures {}",
                     duration(time.runs + time.report), duration(time.runs), time.workers,
                     join(shares), duration(time.report - time.figures), duration(time.figures));
}

}  // namespace difflab::sweep
