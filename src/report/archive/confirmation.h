#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/archive/rebuild.h"
#include "report/archive/reproduction.h"
#include "util/json.h"

namespace difflab::report {

/// Runs of a reference beside the same runs made again.
struct Reproduced {
  std::vector<Reproduction> runs;
  /// The judgement of those whose numbers differ under other conditions.
  std::optional<Elsewhere> elsewhere = {};

  /// Runs that are the same to the last bit, or, under other conditions, lie among other seeds.
  bool confirms() const;
};

/// @param committed runs of runs.json, all of `again` among them
/// @param provenance under which they were made again
Reproduced compare_with(const Archive& archive, const Json& committed,
                        const std::vector<MadeAgain>& again, const Json& provenance);

/// The session that reproduced.json keeps when runs were made again: commit, conditions, and the
/// compared numbers of each run.
Json session_of(const std::vector<MadeAgain>& runs, const Json& provenance, const Archive& archive);

/// reproduced.json with one more session. It replaces an earlier one under the same conditions
/// (kRunConditions), unless that one may confirm the reference (enough runs, of committed code) and
/// either is of another commit or this one may not; the others stay, but for those of runs that the
/// reference has no longer.
/// @param file what it was, or null
/// @param runs of runs.json
Json with_session(const Json& file, const Json& session, const Json& runs);

/// Where runs of a reference were made again and confirm it.
struct Confirmed {
  std::string commit, cpu;
};

/// The sessions of reproduced.json, from a clean tree, in which at least three runs were made again
/// that all confirm what is committed today: the kept numbers are compared anew.
/// @param runs of runs.json
std::vector<Confirmed> confirmations(const Json& file, const Json& runs, const Archive& archive);

}  // namespace difflab::report
