#pragma once

#include <string>

#include "study/study.h"

namespace difflab::study {

/// How far apart the parameter counts of compared models may be: (largest − smallest) / smallest.
constexpr double kMatchedWithin = 0.01;

/// Refuses a study whose compared models differ in size by more than kMatchedWithin, unless the
/// experiment says `unmatched: reason`. Compared are the values of one axis, the tables' first, at
/// equal values of all others: what varies the size on purpose is an axis of its own.
/// @throws UserError with the sizes that do not match.
void require_matched(const Study& study);

/// Why the seeds of a study cannot resolve an effect, as a clause; "" if they can or if nothing is
/// compared.
std::string too_few_seeds(const Study& study);

}  // namespace difflab::study
