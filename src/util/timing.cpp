#include "util/timing.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

namespace difflab {
namespace {

// Seconds that all cores together were not idle; proc(5): user, nice, system, idle, iowait, irq,
// softirq, steal.
std::optional<double> busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double ticks[8] = {};
  if (!(file >> word) || word != "cpu") return std::nullopt;
  for (double& number : ticks) {
    if (!(file >> number)) return std::nullopt;
  }
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Spread spread_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

OtherLoad::OtherLoad()
    : begin_(std::chrono::steady_clock::now()), machine_(busy_seconds()), own_(own_seconds()) {}

std::optional<double> OtherLoad::cores() const {
  const auto machine = busy_seconds();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  if (!machine || !machine_ || passed.count() <= 0) return std::nullopt;
  const double others = (*machine - *machine_) - (own_seconds() - own_);
  return std::max(0.0, others / passed.count());
}

}  // namespace difflab
