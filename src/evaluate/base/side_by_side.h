#pragma once

#include <cstdint>
#include <functional>

namespace difflab {

/// Calls work(0) … work(n − 1), up to `lanes` at the same time, each lane on a thread of its own
/// and the first on the caller's. What one call writes no other may touch. The first exception ends
/// all lanes at their next call and is thrown here.
void side_by_side(int lanes, std::int64_t n, const std::function<void(std::int64_t)>& work);

}  // namespace difflab
