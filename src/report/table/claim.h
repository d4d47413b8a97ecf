#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/describe.h"

namespace difflab::report {

class Frame;
class Labels;
struct Study;

enum class Verdict {
  kSupported,      ///< p (Holm over the claims) and interval agree on the expected side
  kOpposite,       ///< on the other side
  kEquivalent,     ///< two one-sided tests say that they differ by less than the margin
  kUnresolved,     ///< none of these
  kUninformative,  ///< both variants lie where the metric cannot tell them apart
  kTooFew,         ///< fewer pairs than a verdict needs (pairs_for_verdict)
  kUnmeasured      ///< no pair of finished runs has the metric
};
std::string_view name_of(Verdict verdict);  ///< "supported", …

/// What the runs say to a claim.
struct Answer {
  Verdict verdict = Verdict::kUnmeasured;
  std::optional<double> difference;  ///< ours minus theirs
  std::optional<Interval> interval;
  std::optional<double> p;  ///< of no difference, adjusted for the number of claims (Holm)
  std::size_t pairs = 0;
  std::size_t needed = 0;  ///< pairs that a verdict needs
  std::string text;        ///< verdict, claim, figures with their interval, the source's figures
  std::string figures;     ///< the measured part alone, e.g. "needle accuracy: …, 5 paired seeds"
};

/// One answer per claim, in their order. Over all of them together a false verdict has a
/// probability of at most kAlpha: their exact p are adjusted (Holm), and the interval has to agree.
std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels);

}  // namespace difflab::report
