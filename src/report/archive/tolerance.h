#pragma once

#include <string>
#include <vector>

#include "report/settings/study.h"

namespace difflab::report {

/// How a run that was made again under other conditions stands among the committed ones.
struct Elsewhere {
  int judged = 0;                         ///< numbers that could be
  std::vector<std::string> outside = {};  ///< "test_loss is 0.9; other seeds say 0.38 to 0.42"
};

/// Another processor rounds otherwise, and training makes any size of that, so the run counts as
/// one more seed: each metric that a claim is about (without claims: the headline, or what tables
/// compare; if those are all of the machine, every number of the run) must be there and lie in
/// the 99.9 % prediction interval of the runs of its cell, mean ± t · sd · √(1
/// + 1/n), or within 1 % of the mean, whichever is wider. A time that was censored counts as its
/// bound. Cells of fewer than three runs and metrics of the machine are not judged.
/// @param result the result.json of the run made again
Elsewhere judge_elsewhere(const Study& study, const Frame& frame, const std::string& id,
                          const Json& result);

}  // namespace difflab::report
