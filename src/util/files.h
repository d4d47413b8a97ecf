#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace difflab {

/// The whole file. @throws UserError naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Replaces `path` by `bytes` so that a reader sees the old or the new file, never a part, also
/// after a power cut: write to a temporary in the same folder, fsync, rename, fsync the folder.
/// @throws UserError (the disk is full, the folder is read-only …); the old file then still stands.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The same for a file that must not exist yet; false, and nothing is changed, if it does.
bool write_file_once(const std::filesystem::path& path, std::string_view bytes);

/// Removes temporaries of the two functions above whose writers were killed: no process of this
/// machine has the number in their name.
void remove_abandoned_temporaries(const std::filesystem::path& folder);

/// Makes the folder and its parents. @throws UserError if that is not possible.
void make_directories(const std::filesystem::path& path);

}  // namespace difflab
