#pragma once

#include <string>
#include <vector>

#include "report/table/claim.h"

namespace difflab::report {

/// One line per claim, as a program reads it: claim, metric, variant, against, where, expect,
/// verdict, difference, low, high, p (adjusted for the number of claims, or to be held to `level`
/// where seeds were added), level, pairs, pairs needed, what was published.
std::string claims_csv(const Study& study, const std::vector<Answer>& answers);

/// The same for a paper, a booktabs tabular with the names that tables show.
std::string claims_tex(const Study& study, const std::vector<Answer>& answers,
                       const Labels& labels);

}  // namespace difflab::report
