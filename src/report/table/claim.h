#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/table/question.h"

namespace difflab::report {

struct Study;

/// The runs' answer to a claim.
struct Answer {
  Verdict verdict = Verdict::kUnmeasured;
  std::string against;                 ///< the variant that ours was compared with
  std::optional<Contrast> found = {};  ///< empty: no pairs
  std::optional<double> p;             ///< of the claim; adjusted for the number of claims (Holm)
  std::optional<double> raw;           ///< as if it were the only claim
  std::size_t needed = 0;              ///< pairs that a verdict needs
  std::string text;     ///< verdict, claim, figures with their interval, the source's figures
  std::string figures;  ///< the measured part alone, e.g. "needle accuracy: …, 5 paired seeds"

  std::size_t pairs() const { return found ? found->pairs : 0; }
};

/// One answer per claim, in their order. Over all of them together a false verdict has a
/// probability of at most kAlpha: their exact p are adjusted (Holm), and the interval has to agree.
std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels);

/// One line per claim, as a program reads it: claim, metric, variant, against, where, expect,
/// verdict, difference, low, high, p (adjusted for the number of claims, or to be held to `level`
/// where seeds were added), level, pairs, pairs needed, what was published.
std::string claims_csv(const Study& study, const std::vector<Answer>& answers);

/// The same for a paper, a booktabs tabular with the names that tables show.
std::string claims_tex(const Study& study, const std::vector<Answer>& answers,
                       const Labels& labels);

}  // namespace difflab::report
