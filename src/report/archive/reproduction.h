#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/archive/rebuild.h"
#include "report/settings/study.h"
#include "util/json.h"

namespace difflab::report {

/// Keys of a provenance that the last digits of a run's numbers depend on, and what a person calls
/// them.
inline constexpr std::pair<const char*, const char*> kRunConditions[] = {
    {"cpu", "processor"},          {"instruction_set", "instructions"},
    {"device_name", "device"},     {"device", "device"},
    {"libtorch", "LibTorch"},      {"compiler", "compiler"},
    {"environment", "environment"}};

/// A run that was made again.
struct MadeAgain {
  std::string id;
  Json result;  ///< result.json, or what a record keeps of it
};

/// How runs that were made again under other conditions stand among the committed ones.
struct Elsewhere {
  int judged = 0;  ///< metrics that could be
  /// "test_loss lies 2.1 standard deviations above other seeds (chance: up to 1.6)".
  std::vector<std::string> outside = {};

  bool stands() const { return judged > 0 && outside.empty(); }
};

/// How a run that was made again compares with the committed one.
struct Reproduction {
  std::string id;
  int numbers = 0;  ///< that were compared: all metrics but times and sizes of the machine
  std::vector<std::string> differences = {};  ///< "test_loss is 0.41 instead of 0.4"
  std::string others = "";  ///< other_conditions that it was made under, which may explain these

  bool confirms() const { return numbers > 0 && differences.empty(); }  ///< to the last bit
  bool is_elsewhere() const { return !differences.empty() && !others.empty(); }
};

/// `count` of the ids, or all if there are no more, in an order that depends on `draw` and the ids
/// alone.
std::vector<std::string> drawn(std::vector<std::string> ids, const std::string& draw,
                               std::size_t count);

/// The metrics that a report reads off curves and cells (learned.h, derived.h), which are in
/// runs.json and in no result.
std::vector<std::string> metrics_of_report(const Study& study);

/// True if a metric of a run made again must equal the committed one: any but those of the machine
/// and those that a report reads off curves and cells.
/// @param of_report metrics_of_report
bool is_compared(const std::string& metric, const std::vector<std::string>& of_report);

/// Compares a run of runs.json with the result.json of the same run made again, bit for bit.
/// @param of_report metrics that are in no result
Reproduction compare_run(const Json& committed, const Json& result,
                         const std::vector<std::string>& of_report);

/// Differences between the machines and libraries of two provenances of a run, "processor B instead
/// of A": its numbers may then differ in the last digits, and as a result anywhere. Empty if there
/// are none. A value that only one of the two records counts as different.
std::string other_conditions(const Json& then, const Json& now);

/// By the same two provenances what a run began with: "the same first batch and initial weights",
/// so that its arithmetic differs, "another first batch". Empty if one of them does not tell.
std::string how_begun(const Json& then, const Json& now);

/// Another processor rounds otherwise, and training makes any size of that, so each run counts as
/// one more seed. Of each metric that a claim is about (without claims: the headline, or what
/// tables compare; if those are all of the machine, every number of a run) the distances of the K
/// runs from the means of their cells, in standard deviations of these, must average to no more
/// than t · √Σ(k + k²/n) / K, with k of the K runs in a cell of n committed ones and t at .9995 of
/// Σ(n − 1) degrees of freedom; of one run that is the 99.9 % prediction interval of its cell. A
/// cell whose interval is narrower than 1 % of its mean counts as that wide. A time that was
/// censored counts as its bound. Cells of fewer than three runs and metrics of the machine are not
/// judged.
Elsewhere judge_elsewhere(const Study& study, const Frame& frame,
                          const std::vector<MadeAgain>& runs);

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
