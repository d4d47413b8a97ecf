#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/settings/study.h"
#include "util/json.h"

namespace difflab::report {

/// What a provenance tells that the last digits of a run's numbers depend on.
struct RunCondition {
  const char *key, *name;  ///< in provenance.json, and for a person
};
inline constexpr std::array<RunCondition, 7> kRunConditions{{{"cpu", "processor"},
                                                             {"instruction_set", "instructions"},
                                                             {"device_name", "device"},
                                                             {"device", "device"},
                                                             {"libtorch", "LibTorch"},
                                                             {"compiler", "compiler"},
                                                             {"environment", "environment"}}};

/// How a run that was made again under other conditions stands among the committed ones.
struct Elsewhere {
  int judged = 0;                         ///< numbers that could be
  std::vector<std::string> outside = {};  ///< "test_loss is 0.9; other seeds say 0.38 to 0.42"
};

/// How a run that was made again compares with the committed one.
struct Reproduction {
  std::string id;
  int numbers = 0;  ///< that were compared: all metrics but times and sizes of the machine
  std::vector<std::string> differences = {};  ///< "test_loss is 0.41 instead of 0.4"
  /// Where these come from other conditions, how it stands among other seeds.
  std::optional<Elsewhere> elsewhere = {};

  /// Whether the committed numbers stand: the same to the last bit, or, under other conditions, one
  /// more seed that does not stand out.
  bool confirms() const {
    if (differences.empty()) return numbers > 0;
    return elsewhere && elsewhere->judged > 0 && elsewhere->outside.empty();
  }
};

/// `count` of the ids, or all if there are no more, in an order that depends on `draw` and the ids
/// alone.
std::vector<std::string> drawn(std::vector<std::string> ids, const std::string& draw,
                               std::size_t count);

/// The metrics that a report reads off curves and cells (learned.h, derived.h), which are in
/// runs.json and in no result.
std::vector<std::string> metrics_of_report(const Study& study);

/// Whether a metric of a run made again has to be the committed one: of all but those of the
/// machine and those that a report reads off curves and cells.
/// @param of_report metrics_of_report
bool is_compared(const std::string& metric, const std::vector<std::string>& of_report);

/// Compares a run of runs.json with the result.json of the same run made again, bit for bit.
/// @param of_report metrics that are in no result
Reproduction compare_run(const Json& committed, const Json& result,
                         const std::vector<std::string>& of_report);

/// What of a run's machine and libraries is another now than it was then, by two provenances,
/// "processor B instead of A": its numbers may then differ in the last digits, and by that
/// anywhere. Empty if nothing is. What one of the two does not tell may be another.
std::string other_conditions(const Json& then, const Json& now);

/// By the same two provenances what a run began with: "the same first batch and initial weights",
/// so that its arithmetic differs, "another first batch". Empty if one of them does not tell.
std::string how_begun(const Json& then, const Json& now);

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
