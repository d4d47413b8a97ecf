#pragma once

#include <chrono>
#include <thread>

#include "util/process.h"

namespace difflab::cli {

/// A run may be between two processes for a moment: one look that finds nobody at it proves
/// nothing.
constexpr int kLooksAtNobody = 3;

/// Sleeps, and calls `meanwhile` now and then, unless a stop signal comes; then false.
template <class Meanwhile>
bool pause(double seconds, Meanwhile meanwhile) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (StopSignals::count() == 0 && std::chrono::steady_clock::now() < end) {
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return StopSignals::count() == 0;
}

inline bool pause(double seconds) {
  return pause(seconds, [] {});
}

}  // namespace difflab::cli
