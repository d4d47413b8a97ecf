#include "evaluate/base/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace difflab {

void side_by_side(int lanes, std::int64_t n, const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto lane = [&] {
    for (auto i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
        next = n;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < std::min<std::int64_t>(lanes, n); ++i) others.emplace_back(lane);
    lane();
  }  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace difflab
