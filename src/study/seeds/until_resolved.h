#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/settings/study.h"
#include "report/table/sequence.h"
#include "sweep/plan/selection.h"

namespace difflab::cli {

/// As many seeds as the claims of a study need. Every variant gets the seeds of the first look; a
/// claim that a look has not resolved gets those of the next for its two variants, until the last.
/// A look waits for all runs of the claims that are open, and reads them as the report does
/// (report/table/sequence.h). So what is decided hangs on the runs' files alone, not on which were
/// faster, on other runs that lie there, or on interruptions.
class SeedsUntilResolved : public sweep::Selection {
 public:
  /// @param study with looks, and with every run that there may be, seeds 0, 1, …
  explicit SeedsUntilResolved(report::Study study);

  void look() override;
  /// Goes on: its seed is among those that one of its variants has by now. Later: a claim about it
  /// is open.
  Verdict verdict(const sweep::Run& run) const override;
  /// A look without a run would be another one: the seeds end here until the run has its result.
  void give_up(const sweep::Run& run) override;
  bool ends_runs() const override { return false; }
  std::string reason() const override { return "no open claim asks for it"; }
  std::string about() const override;
  std::string name() const override { return "seeds"; }

 private:
  // Of one planned run.
  struct Place {
    std::size_t seed = 0;
    std::vector<std::size_t> claims = {};  // that are about it
  };

  void read();
  std::size_t seeds_of(std::size_t claim) const;
  bool has_next_look() const;
  bool is_released(const Place& place) const;
  bool is_open(const Place& place) const;

  report::Study study_;
  report::ClaimSequence sequence_;
  std::vector<Place> places_;                              // of study_.runs
  std::map<std::string, std::vector<std::size_t>> by_id_;  // several variants may share a run
  std::vector<std::size_t> awaited_;                       // runs of the next look
  std::set<std::string> failed_;                           // ids
  bool ended_ = false;                                     // nothing more can be decided
};

}  // namespace difflab::cli
