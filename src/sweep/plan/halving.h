#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/plan/run.h"
#include "sweep/plan/search_config.h"
#include "sweep/plan/selection.h"

namespace difflab::sweep {

/// Successive halving: all values of the searched axis train to the first rung, the better share of
/// them to the next, and after the last rung one trains to the end. A value is judged by the mean
/// of its metric over seeds. Source: Jamieson & Talwalkar 2016, arXiv 1502.07943. Unlike ASHA
/// (arXiv 1810.05934) a rung waits for all its values: then the choice is the same whatever was
/// faster and however often the sweep was interrupted. All of it is read from the runs' files.
class Halving : public Selection {
 public:
  /// @param runs distinct; all that belong to the search
  /// @throws UserError if the axis does not vary or a rung is no step of the validation.
  Halving(const SearchConfig& config, const std::vector<Run>& runs);

  /// @throws UserError if a run passed a rung without the metric.
  void look() override;
  /// A run waits at a rung that others have not reached, and is dropped if others were better.
  Verdict verdict(const Run& run) const override;
  /// A run that failed cannot be the best.
  void give_up(const Run& run) override;
  bool ends_runs() const override { return true; }
  std::string note() const override;
  std::string reason() const override { return "others were better"; }
  std::string about() const override;
  std::string name() const override { return "search"; }

  int dropped() const;
  /// Training steps of all runs if none but the best go on, and if all did.
  std::int64_t steps() const;
  std::int64_t steps_without_search() const;
  /// "train.lr: 4 values, 2 after 300 steps, 1 after 600" of the first group.
  std::string text() const;

 private:
  struct Member {
    const Run* run;  // not owned: of the constructor's runs
    bool failed = false;
    std::vector<double> values = {};  // at the rungs it has reached, smaller is better
  };
  struct Candidate {
    std::string value;
    std::vector<Member> members = {};  // one a seed
    bool alive = true;
  };
  struct Group {
    std::vector<std::int64_t> rungs;  // steps
    std::vector<Candidate> candidates = {};
    std::size_t decided = 0;  // rungs
  };

  void read(const Group& group, Member& member) const;
  bool decide(Group& group);
  std::size_t survivors(std::size_t candidates, std::size_t rung) const;

  SearchConfig config_;
  std::vector<Run> runs_;
  std::vector<Group> groups_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> places_;  // run id → group, candidate
};

}  // namespace difflab::sweep
