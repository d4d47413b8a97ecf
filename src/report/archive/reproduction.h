#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab::report {

/// How a run that was made again compares with the committed one.
struct Reproduction {
  std::string id;
  int numbers = 0;  ///< that were compared: all metrics but times and sizes of the machine
  std::vector<std::string> differences = {};  ///< "test_loss is 0.41 instead of 0.4"
};

/// `count` of the ids, or all if there are no more, in an order that depends on `draw` and the ids
/// alone.
std::vector<std::string> drawn(std::vector<std::string> ids, const std::string& draw,
                               std::size_t count);

/// Compares a run of runs.json with the result.json of the same run made again, bit for bit.
Reproduction compare_run(const Json& committed, const Json& result);

/// What of a run's machine and libraries is another now than it was then, by two provenances,
/// "processor B instead of A": its numbers may then differ in the last digits, and by that
/// anywhere. Empty if nothing is.
std::string other_conditions(const Json& then, const Json& now);

/// reproduced.json beside a reference: under which commit and conditions, and each run.
Json reproduction_record(const std::vector<Reproduction>& runs, const Json& provenance);

/// The commit under which the runs of a record were all made again bit for bit, from a clean tree;
/// empty if it does not say so, or of fewer than three runs.
std::string reproduced_under(const Json& record);

}  // namespace difflab::report
