#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/value/value.h"

namespace difflab::config {

/// A YAML file and what its `# @package` header says.
struct Document {
  Value root;                          ///< a map, or null for an empty file
  std::optional<std::string> package;  ///< e.g. "_global_"
};

/// Reads one YAML document. Plain scalars are typed as Hydra types them (3e-3 is a number, 1_000 a
/// whole one, y and n are texts); differences are listed in docs/configuration.md. Duplicate keys
/// are refused, aliases and merge keys are expanded within limits, and size, depth and number of
/// nodes are bounded.
/// @param name stands in messages and sources, e.g. "experiments/x.yaml".
/// @throws UserError "name:line:column: …" for anything that is no such document.
Document parse_document(std::string_view text, const std::string& name);
Value parse_yaml(std::string_view text, const std::string& name);

/// The same from a file, named relative to the working directory. @throws UserError
Document load_document(const std::filesystem::path& path);
Value load_yaml(const std::filesystem::path& path);

/// The tree as a YAML document in block style, short lists of scalars in one line. Reading it back
/// gives an equal tree.
std::string to_yaml(const Value& value);

/// `path` as a message shows it: relative to the working directory if it lies inside.
std::string shown_path(const std::filesystem::path& path);

}  // namespace difflab::config
