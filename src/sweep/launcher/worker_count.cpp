#include "sweep/launcher/worker_count.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "config/value/value.h"

namespace difflab::sweep {
namespace {

constexpr int kMaxWorkers = 1024;

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int cores =
      ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : ::get_nprocs();
  std::ifstream quota("/sys/fs/cgroup/cpu.max");  // "max 100000" or "150000 100000"
  double microseconds = 0, period = 0;
  if (quota >> microseconds >> period && period > 0) {
    cores = std::min(cores, std::max(1, static_cast<int>(std::lround(microseconds / period))));
  }
  return cores;
}

double memory_of_machine() {
  struct sysinfo info {};
  double bytes = ::sysinfo(&info) == 0
                     ? static_cast<double>(info.totalram) * static_cast<double>(info.mem_unit)
                     : 1e18;
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max" or bytes
  if (double most = 0; limit >> most) bytes = std::min(bytes, most);
  return bytes;
}

int WorkerCount::resolve(int threads_per_run) const {
  return number.value_or(std::max(1, usable_cores() / std::max(1, threads_per_run)));
}

std::optional<WorkerCount> WorkerCount::from_value(const config::Value& value) {
  if (value.is_string() && value.as_string() == "auto") return WorkerCount{};
  if (!value.is_int() || value.as_int() < 1 || value.as_int() > kMaxWorkers) return std::nullopt;
  return WorkerCount{static_cast<int>(value.as_int())};
}

config::Value WorkerCount::to_value() const {
  return number ? config::Value(*number) : config::Value("auto");
}

}  // namespace difflab::sweep
