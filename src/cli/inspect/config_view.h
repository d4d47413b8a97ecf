#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/compose/trace.h"
#include "config/value/value.h"
#include "util/json.h"

namespace difflab::cli {

/// A composed configuration with the way it came about, to be looked at.
struct ConfigView {
  config::Value values = {};  ///< every key with the value that counts
  config::Value sources =
      {};  ///< the composed tree, resolved as far as it can be; knows its sources
  config::Trace trace;
  std::string tuned_key = {};  ///< whose value a tuning has found; empty: none
  std::string tuned_in = {};   ///< says so, and where
};

/// Composes a tree written for Hydra, without our schema, as Hydra does: keys under `hydra` are
/// Hydra's own and left out. @throws UserError with all problems
ConfigView compose_foreign(const std::vector<std::filesystem::path>& folders,
                           const std::string& config, std::vector<std::string> overrides,
                           bool resolve, const std::string& followed_key);

/// The part of the tree at `key`, "" for all of it. @throws UserError with the nearest right name
const config::Value& part_of(const config::Value& tree, const std::string& key);

/// Where each value at or below `key` came from and what it overrode.
Json why(const ConfigView& view, const std::string& key);
std::string why_text(const Json& answers);

}  // namespace difflab::cli
