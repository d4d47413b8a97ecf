#pragma once
// One include for Catch2 2 (Debian bookworm) and 3. The macros carry the prefix CATCH_, because
// LibTorch's headers define a CHECK of their own.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace difflab {
using Catch::Approx;
}
#else
#include <catch2/catch.hpp>
namespace difflab {
using Catch::Detail::Approx;
}
#endif
