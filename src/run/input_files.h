#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "run/run_config.h"

namespace difflab {

/// Every file that a run may read, given or not: of its task, its stages, its evaluations and what
/// they ask, and its first weights.
void each_input_file(RunConfig& run, const std::function<void(InputFile&)>& visit);

/// Makes a run's input files part of its identity when a sweep is planned: fills in their SHA-256
/// (or compares it, if it is given) and makes their paths absolute with `place`, which gets the key
/// ("task.file.path") and the path as written. Reports as problems of those keys: files that cannot
/// be read, a text too short for its sequences, parameters that do not fit the model.
void resolve_input_files(RunConfig& config,
                         const std::function<std::filesystem::path(const std::string& key,
                                                                   const std::string& path)>& place,
                         config::Check& check);

/// The size of a run's vocabulary. Finding it may mean reading a text; it is done once per task.
/// @throws UserError if its text cannot be read.
std::int64_t vocab_size_of(const RunConfig& run);

}  // namespace difflab
