#pragma once

#include <string>

namespace difflab {

struct RunConfig;

/// The name of a run: the first 16 hexadecimal digits of the SHA-256 of its whole resolved
/// configuration in canonical form, defaults included, and of the schema version; keys that cannot
/// change the result are left out. Hashing only what differs from the defaults would silently reuse
/// old results when a default changes.
std::string run_id(const RunConfig& config);

}  // namespace difflab
