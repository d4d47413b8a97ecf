#include "sweep/launcher/local.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "record/provenance.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxWorkers = 1024;

// Bytes of memory of this machine, cut to the limit of its container.
double memory_of_machine() {
  struct sysinfo info {};
  double bytes = ::sysinfo(&info) == 0
                     ? static_cast<double>(info.totalram) * static_cast<double>(info.mem_unit)
                     : 1e18;
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max" or bytes
  if (double most = 0; limit >> most) bytes = std::min(bytes, most);
  return bytes;
}

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

double LocalLauncher::memory_of_run() const {
  const double limit = static_cast<double>(memory_mb) * (1 << 20);
  return limit > 0 ? std::min(limit, memory_of_machine()) : memory_of_machine();
}

std::unique_ptr<Launcher> LocalLauncher::build(const fs::path& worker, int threads_per_run,
                                               std::size_t runs) const {
  const int capacity = workers.resolve(threads_per_run);
  const int at_once = std::clamp(static_cast<int>(runs), 1, capacity);
  // Who gave a number of workers has said how many cores are theirs.
  const int cores = workers.number ? capacity * threads_per_run : usable_cores();
  const auto cores_per_run = std::to_string(std::max(1, cores / at_once));
  return launch_in({{.host = {}, .capacity = capacity, .command = [=](const fs::path&) {
                       hand_on_source_state(worker);
                       return std::vector<std::string>{worker.string(), "serve", cores_per_run};
                     }}});
}

}  // namespace difflab::sweep
