// How much is tried where more could be tried without end.
#pragma once

#include <cstdlib>
#include <string_view>

namespace difflab::testing {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// A test over all experiments or references takes one in so many; the release build takes all.
inline constexpr int kEvery = kSanitized ? 8 : 1;

/// `all` with ./difflab test --all, which sets DIFFLAB_TESTS, but for the sanitizers' build, where
/// a test takes several times as long; else `few`.
template <class T>
T dose(T few, T all) {
  const char* tests = std::getenv("DIFFLAB_TESTS");
  return !kSanitized && tests != nullptr && std::string_view(tests) == "all" ? all : few;
}

}  // namespace difflab::testing
