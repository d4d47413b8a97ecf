#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "referee/base/objections.h"

namespace difflab::referee {

/// A rule of what a result may say.
struct Rule {
  const char* name;    ///< short, as in a finding
  const char* asks;    ///< what it holds a report to, a clause
  const char* advice;  ///< what to do about it
  Check check;
};

/// All of them, in the order in which a report is judged.
const std::vector<Rule>& rules();

/// The experiments that have a reference, EXPERIMENT/reference below `results`, in order.
std::vector<std::string> reference_names(const std::filesystem::path& results);

/// Each of them, read.
References read_references(const std::filesystem::path& results);

/// All objections of the rules to the references, by rule, then by experiment.
std::vector<Objection> judge(const References& all);

/// The objections as people read them, grouped by experiment; "" if there are none.
std::string to_text(const std::vector<Objection>& objections);

/// {"references", "rules": [...], "objections": [{experiment, rule, where, what, undecided,
/// advice}]}
Json to_json(const std::vector<std::string>& experiments, const std::vector<Objection>& objections);

}  // namespace difflab::referee
