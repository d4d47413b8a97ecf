#pragma once

#include <nlohmann/json.hpp>

namespace difflab {

/// JSON whose keys keep the order in which they were written, so that equal runs give equal bytes.
using Json = nlohmann::ordered_json;

}  // namespace difflab
