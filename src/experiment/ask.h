#pragma once

#include <vector>

#include "evaluate/base/evaluation.h"
#include "record/answers.h"
#include "record/lease.h"
#include "record/provenance.h"

namespace difflab {

struct RunConfig;

/// Asks the trained model what its run is to answer, one answer for each evaluation. What this run
/// or another with the same training has answered is read, not asked again. If some evaluations
/// fail, the others are asked and kept before the first of the errors is thrown.
std::vector<Answer> ask(const RunConfig& config, const RunDirectory& run,
                        const EvaluationContext& context, const Provenance& provenance,
                        const Lease* lease);

}  // namespace difflab
