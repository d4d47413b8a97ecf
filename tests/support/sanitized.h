// Whether this is the sanitizers' build, in which the longest tests take a smaller dose.
#pragma once

namespace difflab::testing {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace difflab::testing
