#include "report/table/sequence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/data/frame.h"
#include "report/settings/study.h"

namespace difflab::report {
namespace {

std::vector<double> shares_of(const std::vector<std::size_t>& looks) {
  std::vector<double> shares;
  for (const auto seeds : looks) {
    shares.push_back(static_cast<double>(seeds) / static_cast<double>(looks.back()));
  }
  return shares;
}

// The p that would answer the question at this look, if small enough; 1 where something else stands
// against an answer.
TwoWayP answering_p(const Question& question, bool is_open) {
  const auto& found = question.found;
  TwoWayP p = question.p;
  const bool is_asked =
      is_open && found && found->pairs >= question.needed && question.beyond.empty();
  const bool is_clear =
      is_asked && excludes_zero(*found) && std::abs(found->difference) > question.claim->smallest;
  if (!is_clear) p.difference = 1;
  if (!is_asked && p.equivalence) p.equivalence = 1;
  return p;
}

// Whether the runs of the first seeds with this value are all there.
bool has_seeds(const ClaimConfig& claim, const std::string& axis, const std::string& value,
               const Frame& frame, std::size_t seeds) {
  std::vector<bool> there(seeds, false);
  for (const FrameRun& run : frame.runs()) {
    const auto seed = parse_number(run.axis(kSeedAxis));
    if (!seed || *seed >= static_cast<double>(seeds) || !is_about(claim, axis, value, run)) {
      continue;
    }
    if (!run.has_result()) return false;
    there.at(static_cast<std::size_t>(*seed)) = true;
  }
  return std::find(there.begin(), there.end(), false) == there.end();
}

bool is_planned(const ClaimConfig& claim, const std::string& axis, const std::string& value,
                const Frame& frame) {
  return std::any_of(frame.runs().begin(), frame.runs().end(),
                     [&](const FrameRun& run) { return is_about(claim, axis, value, run); });
}

bool can_look(const Study& study, const Frame& frame, const std::vector<FollowedClaim>& followed,
              std::size_t seeds) {
  const std::string axis = compared_axis(study.report, frame.axes());
  for (std::size_t i = 0; i < followed.size(); ++i) {
    const auto& claim = study.report.claims[i];
    const auto& against = compared_with(claim, study);
    // A variant that the command line took out of the sweep is not waited for.
    if (!followed[i].is_open || !is_planned(claim, axis, claim.variant, frame) ||
        !is_planned(claim, axis, against, frame)) {
      continue;
    }
    if (!has_seeds(claim, axis, claim.variant, frame, seeds) ||
        !has_seeds(claim, axis, against, frame, seeds)) {
      return false;
    }
  }
  return true;
}

}  // namespace

ClaimSequence::ClaimSequence(std::size_t claims, const std::vector<std::size_t>& looks)
    : alone_(levels_of_looks(shares_of(looks), spent(looks.size()))),
      answers_(claims, shares_of(looks), spent(looks.size())),
      claims_(claims) {}

void ClaimSequence::look(std::vector<Question> questions) {
  std::vector<TwoWayP> p;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    p.push_back(answering_p(questions[i], claims_[i].is_open));
  }
  answers_.look(p);
  ++made_;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    auto& claim = claims_[i];
    if (!claim.is_open) continue;
    claim.question = std::move(questions[i]);
    claim.look = made_;
    claim.level = answers_.level(i);
    claim.verdict = judge(claim.question, claim.question.p, claim.level);
    // Where a pair was left out as one had not learned, or diverged, other seeds may not.
    const auto& pairs = claim.question.pairs;
    const bool is_measured = claim.question.found || pairs.unlearned > 0 || pairs.diverged > 0;
    const bool is_set_aside =
        claim.question.is_for_good && claim.verdict == Verdict::kUninformative;
    claim.is_open = !answers_.is_answered(i) && !is_set_aside && is_measured;
  }
}

std::size_t ClaimSequence::open() const {
  return static_cast<std::size_t>(std::count_if(
      claims_.begin(), claims_.end(), [](const FollowedClaim& claim) { return claim.is_open; }));
}

ClaimSequence follow_claims(const Study& study, const Frame& frame) {
  ClaimSequence sequence(study.report.claims.size(), study.looks);
  for (const auto seeds : study.looks) {
    if (sequence.open() == 0 || !can_look(study, frame, sequence.claims(), seeds)) break;
    sequence.look(questions_of(study, frame.with_seeds_below(seeds), sequence.confidence()));
  }
  return sequence;
}

}  // namespace difflab::report
