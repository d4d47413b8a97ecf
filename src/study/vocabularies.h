#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "config/schema/reader.h"
#include "run/run_config.h"
#include "util/json.h"

namespace difflab::cli {

/// The configurations of runs with the sizes of their vocabularies. Finding a size may mean reading
/// a text; it is done once per task.
class Vocabularies {
 public:
  struct Found {
    RunConfig run;
    std::int64_t vocab_size;
  };

  /// @param config a run's resolved configuration
  /// @throws UserError if it is none, or if its text cannot be read.
  Found find(const Json& config) {
    auto run = config::read<RunConfig>(config::from_json(config));
    const auto [place, is_new] = sizes_.try_emplace(config.at("task").dump());
    if (is_new) place->second = vocab_size(run.task);
    return {std::move(run), place->second};
  }

 private:
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace difflab::cli
