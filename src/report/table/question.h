#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/settings/claim_config.h"
#include "statistics/holm.h"

namespace difflab::report {

struct Study;

enum class Verdict {
  kSupported,      ///< p and interval agree on the expected side, or within the expected margin
  kOpposite,       ///< on the other side, or beyond that margin
  kEquivalent,     ///< two one-sided tests say that they differ by less than the margin
  kUnresolved,     ///< none of these
  kUninformative,  ///< both variants lie where the metric cannot tell them apart
  kTooFew,         ///< fewer pairs than a verdict needs (pairs_for_verdict), or than are planned
  kUnmeasured,     ///< no pair of finished runs has the metric
  kWithdrawn       ///< the claim says why it asks the wrong thing
};
std::string_view name_of(Verdict verdict);  ///< "supported", …

/// A claim beside what was measured for it.
struct Question {
  const ClaimConfig* claim = nullptr;  ///< not owned
  Metric metric;
  std::string against;
  Pairs pairs = {};
  std::optional<Contrast> found = {};
  double margin = 0;        ///< 0: equivalence is not asked for
  TwoWayP p = {1, {}};      ///< of its tests, as if it were the only claim
  std::string beyond = {};  ///< why these runs cannot answer, if so: a sentence
  /// Levels of the runs that it is about; those of another task may have another.
  std::vector<double> chance = {};
  std::size_t needed = 0;    ///< pairs that a verdict needs
  std::string at_both = {};  ///< what a second value of the opponent's tuning says, a clause
};

/// True if the run is in the claim's cell (the claim's values of the other axes), and for
/// `is_about` also has `value` of the compared axis.
bool is_in_cell(const ClaimConfig& claim, const FrameRun& run);
bool is_about(const ClaimConfig& claim, const std::string& axis, const std::string& value,
              const FrameRun& run);

/// The variant that the claim's own is compared with: the one it names, the baseline, or the best
/// opponent. The best has the best mean over the seeds of the value that its tuning took, by which
/// no claim is judged; if one of them has no finalists, over the claim's own runs.
std::string compared_with(const ClaimConfig& claim, const Study& study, const Frame& frame);

/// One question per claim, in their order, with what the runs found.
std::vector<Question> questions_of(const Study& study, const Frame& frame);

/// Holds a claim about a ratio of times to a second group of the opponent's runs, too, as those at
/// another value of its tuning that ties with the one taken: the larger p counts, and 1 if the two
/// point to different sides. The claim still counts once. @param times up to their bound, if any
void hold_at_both(Question& question, std::span<const double> times);

bool expects_equivalence(const Question& question);
bool as_expected(const Question& question);

/// True if too many pairs are censored to call their times equivalent: a difference beyond the
/// horizon counts as none.
bool hides_differences(const Pairs& pairs);

/// @param p adjusted for the number of claims
Verdict judge(const Question& question, const TwoWayP& p);

}  // namespace difflab::report
