#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "report/table/question.h"
#include "statistics/sequential.h"

namespace difflab::report {

class Frame;
struct Study;

/// A claim of a study to which seeds are added, as it stands.
struct FollowedClaim {
  Question question;  ///< as of its look
  Verdict verdict = Verdict::kTooFew;
  std::size_t look = 0;  ///< that answered it or set it aside, else the last one; 0: none was made
  bool is_open = true;   ///< another look may answer it
  double level = 0;      ///< that its p had to reach
};

/// The claims of a study that is looked at again and again while seeds are added. Over all claims
/// and looks together a false verdict has a probability of at most kAlpha: p is held to the level
/// of its look (statistics/sequential.h), and the interval, which covers at all looks together with
/// 95 % (Jennison & Turnbull 1989), has to agree. What the metric cannot tell apart, or what no run
/// measures, is set aside at the look that finds it.
class ClaimSequence {
 public:
  /// What several looks spend of kAlpha. Their levels are those of a normal walk; the p of few
  /// pairs vary more from look to look, as the spread is measured anew at each. In simulations they
  /// gave up to a tenth more false answers than the walk, hence the reserve.
  static constexpr double kSpent = 0.045;
  static constexpr double kLeastLevel = 1e-12;  // that an interval can have
  static double spent(std::size_t looks) { return looks > 1 ? kSpent : kAlpha; }

  /// @param looks after how many seeds, ascending; the last one is the most there will be
  ClaimSequence(std::size_t claims, const std::vector<std::size_t>& looks);

  /// Of the intervals at the next look; first looks at few of many seeds spend next to nothing.
  double confidence() const { return 1 - std::max(alone_.at(made_), kLeastLevel); }
  /// The next look, with what the runs of its seeds say.
  void look(std::vector<Question> questions);

  std::size_t made() const { return made_; }
  std::size_t open() const;
  const std::vector<FollowedClaim>& claims() const { return claims_; }

 private:
  std::vector<double> alone_;  // the level of each look, were there one claim
  SequentialQuestions answers_;
  std::size_t made_ = 0;
  std::vector<FollowedClaim> claims_;
};

/// Makes every look of the study of which all runs are there.
ClaimSequence follow_claims(const Study& study, const Frame& frame);

}  // namespace difflab::report
