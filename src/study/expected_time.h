#pragma once

#include <string>
#include <vector>

#include "study/study.h"

namespace difflab::study {

/// Says of each run of the study how many operations its training takes.
void count_operations(const Study& study, std::vector<sweep::Run>& runs);

/// When a sweep will be done, as a clause: "in about 28m 40s, at 14:05, as 12 runs like these took
/// here". Earlier runs of the results folder tell it, those with the same evaluations and threads
/// on the same kind of processor, scaled by the operations of their training.
/// @param to_run the runs without a result, operations counted
std::string expected_end(const Study& study, const std::vector<sweep::Run>& to_run, int workers);

}  // namespace difflab::study
