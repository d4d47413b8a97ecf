#pragma once

#include <string>
#include <vector>

namespace difflab {

struct RunConfig;

namespace cli {

/// Every parameter of each run's model with its shape, what updates it, its share of the learning
/// rate and its weight decay, as a table for a terminal or as JSON.
std::string update_table(const std::vector<const RunConfig*>& runs, bool json);

}  // namespace cli
}  // namespace difflab
