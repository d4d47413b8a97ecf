#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/canonical.h"
#include "run/run_config.h"
#include "util/json.h"

namespace difflab::cli {

/// The sizes of the vocabularies of runs. Finding a size may mean reading a text; it is done once
/// per task.
class Vocabularies {
 public:
  struct Found {
    RunConfig run;
    std::int64_t vocab_size;
  };

  /// @throws UserError if its text cannot be read.
  std::int64_t size_of(const RunConfig& run) {
    const auto task = config::canonical_json(*config::write(run).find("task"));
    if (const auto known = sizes_.find(task); known != sizes_.end()) return known->second;
    return sizes_[task] = vocab_size(run.task);
  }

  /// @param config a run's resolved configuration
  /// @throws UserError if it is none, or if its text cannot be read.
  Found find(const Json& config) {
    auto run = config::read<RunConfig>(config::from_json(config));
    const auto size = size_of(run);
    return {std::move(run), size};
  }

 private:
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace difflab::cli
