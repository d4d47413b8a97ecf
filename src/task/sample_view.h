#pragma once

#include <cstdint>
#include <string>

#include "task/base/task.h"
#include "util/json.h"

namespace difflab {

/// The first `samples` sequences of each part of a task, for a person and for a program:
///   {"vocab_size", "length", "chance", "entropy" (nats a token, null if unknown), "is_text",
///   "samples": [{"part", "share", "index",
///    "tokens": [...], "text": [...], "scored": [{"position", "target", "text"}]}]}
Json samples_json(const Task& task, std::uint64_t seed, Split split, std::int64_t samples);

/// The same to be read. Symbols stand in lines; a→b says that b is to be predicted behind a. Text
/// stands as it is, with what is to be predicted below it.
std::string samples_text(const Json& view);

}  // namespace difflab
