#pragma once
// What nearly every test reads: the library's common headers, and one include for Catch2 2 (Debian
// bookworm) and 3. The macros carry the prefix CATCH_, because LibTorch's headers define a CHECK of
// their own.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace difflab {
namespace fs = std::filesystem;
}

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace difflab {
using Catch::Approx;
}
#else
#include <catch2/catch.hpp>
namespace difflab {
using Catch::Contains;
using Catch::Detail::Approx;
}  // namespace difflab
#endif
