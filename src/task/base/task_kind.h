#pragma once

// What the header of a kind of task needs.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "task/base/lengths.h"
#include "task/base/symbols.h"
#include "util/text.h"

namespace difflab {

class Task;

}  // namespace difflab
