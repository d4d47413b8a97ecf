#pragma once
// What nearly every test reads: the library's common headers and those of util, a folder of its
// own, and one include for Catch2 2 (Debian bookworm) and 3. The macros carry the prefix CATCH_,
// because LibTorch's headers define a CHECK of their own.
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

#include "support/temporary_folder.h"
#include "util/error.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

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

namespace difflab::testing {

/// The message of the UserError that `action` throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace difflab::testing
