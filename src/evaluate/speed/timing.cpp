#include "evaluate/speed/timing.h"

#include <ATen/ATen.h>
#include <malloc.h>

#include <fstream>
#include <string>
#include <string_view>

namespace difflab {
namespace {

// A line of /proc/self/status such as "VmHWM:  123456 kB".
std::optional<double> status_mib(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stod(line.substr(key.size() + 1)) / 1024;
  }
  return std::nullopt;
}

// Sets the high-water mark back to the present memory (proc(5), clear_refs).
bool forget_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5 << std::flush;
  return clear.good();
}

}  // namespace

SgemmPeak::SgemmPeak(const at::Tensor& like)
    : a_(at::randn({1024, 1024}, like.options().dtype(at::kFloat))),
      b_(at::randn_like(a_)),
      c_(at::empty_like(a_)) {}

double SgemmPeak::measure() {
  const double seconds = seconds_of([&] {
    at::mm_out(c_, a_, b_);
    c_[0][0].item<float>();  // waits for a device
  });
  return 2.0 * 1024 * 1024 * 1024 / seconds;
}

std::optional<double> peak_mib_of(const std::function<void()>& run) {
  malloc_trim(0);  // what earlier calls gave back, so that it counts again
  const auto before = status_mib("VmRSS");
  if (!before || !forget_peak()) return std::nullopt;
  run();
  const auto peak = status_mib("VmHWM");
  return peak ? std::optional(std::max(0.0, *peak - *before)) : std::nullopt;
}

}  // namespace difflab
