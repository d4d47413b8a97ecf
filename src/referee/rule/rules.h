#pragma once

#include "referee/base/objections.h"

namespace difflab::referee {

// One family of rules a file. To add one: write it, declare it here, name it in rules.cpp.
// Every function checks one rule of the table in docs/referee.md, under its name.

void check_intervals(const Reference& one, Objections& objections);
void check_learned(const Reference& one, Objections& objections);
void check_seeds(const Reference& one, Objections& objections);
void check_verdicts(const Reference& one, Objections& objections);
void check_regime(const Reference& one, Objections& objections);
void check_language(const Reference& one, Objections& objections);
void check_tuning(const Reference& one, Objections& objections);
void check_opponents(const Reference& one, Objections& objections);
void check_horizon(const Reference& one, Objections& objections);
void check_provenance(const References& all, Objections& objections);
void check_wall_clock(const Reference& one, Objections& objections);
void check_recomputable(const Reference& one, Objections& objections);
void check_robustness(const References& all, Objections& objections);
void check_paired(const Reference& one, Objections& objections);

}  // namespace difflab::referee
