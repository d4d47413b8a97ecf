#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>

#include "config/value/value.h"

namespace difflab::config {

/// What ${now:…} and ${hydra:…} stand for. What is absent does not exist where the configuration is
/// resolved, and a reference to it is an error.
struct Facts {
  std::optional<std::time_t> start;            ///< of the whole sweep
  std::optional<std::string> job_name;         ///< the experiment
  std::optional<std::size_t> job_num;          ///< which run of the sweep, from 0
  std::map<std::string, std::string> choices;  ///< "model" → "diff", "model@teacher" → "small"
};

}  // namespace difflab::config
