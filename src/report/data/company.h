#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/data/frame.h"
#include "util/json.h"

namespace difflab::report {

/// Other work on the machines of some runs while they ran. Seconds and speeds count as data only
/// for runs that were alone.
struct Company {
  std::string with;   ///< the first that was not alone, and with what: "a and b"; empty: all were
  bool known = true;  ///< whether all runs say how busy others kept their machine
};

/// @param runs id and provenance of each; null where there is none
Company company_of(const std::vector<std::pair<std::string, const Json*>>& runs);

/// The same of those that have a result.
Company company_of(const std::vector<const FrameRun*>& runs);

}  // namespace difflab::report
