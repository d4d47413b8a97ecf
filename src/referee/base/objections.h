#pragma once

#include <string>
#include <vector>

#include "referee/base/reference.h"

namespace difflab::referee {

/// A rule's objection to a report.
struct Objection {
  std::string experiment;
  std::string rule;
  std::string where;  ///< file, cell or claim
  std::string what;   ///< a clause, with the figures that show it
  bool undecided =
      false;  ///< the folder does not tell: a failure of recomputability, never silence
};

/// List to which a rule adds its objections.
class Objections {
 public:
  explicit Objections(std::string rule) : rule_(std::move(rule)) {}

  void object(const Reference& reference, std::string where, std::string what) {
    list_.push_back({reference.name, rule_, std::move(where), std::move(what), false});
  }
  /// The rule cannot be decided from the folder.
  void cannot_check(const Reference& reference, std::string where, const std::string& why) {
    list_.push_back({reference.name, rule_, std::move(where), "cannot be checked: " + why, true});
  }

  const std::vector<Objection>& list() const { return list_; }

 private:
  std::string rule_;
  std::vector<Objection> list_;
};

/// All reports of a results folder: some rules ask whether another one holds what is missing.
using References = std::vector<Reference>;

/// One rule over all of them.
using Check = void (*)(const References& all, Objections& objections);

/// A rule that looks at each report alone. A specification that is none stops it there, not
/// everywhere.
template <void (*kCheck)(const Reference&, Objections&)>
void each(const References& all, Objections& objections) {
  for (const Reference& one : all) {
    try {
      kCheck(one, objections);
    } catch (const Json::exception& error) {
      objections.cannot_check(one, "the folder", error.what());
    }
  }
}

}  // namespace difflab::referee
