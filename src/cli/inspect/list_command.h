#pragma once

#include <string>
#include <vector>

namespace difflab::cli {

/// What `list` can list.
std::vector<std::string> listable();

}  // namespace difflab::cli
