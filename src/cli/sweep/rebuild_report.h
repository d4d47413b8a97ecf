#pragma once

#include <filesystem>

namespace difflab::cli {

/// Writes the report in `from` again to `to`, from what lies in `from` alone: equal code gives
/// equal bytes. All of it is there in the end, or nothing.
/// @throws UserError if there is no report that can be written again, or if `to` holds something or
/// lies in `from`.
void rebuild(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace difflab::cli
