#include "study/seeds/until_resolved.h"

#include <algorithm>
#include <utility>

#include "record/run_directory.h"
#include "record/status.h"
#include "report/data/frame.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

std::size_t seed_of(const report::PlannedRun& run) {
  for (const auto& [axis, value] : run.axes) {
    if (axis != report::kSeedAxis) continue;
    if (const auto seed = report::parse_number(value)) return static_cast<std::size_t>(*seed);
  }
  return 0;
}

std::vector<std::string> axes_of_runs(const report::Study& study) {
  std::vector<std::string> axes;
  if (study.runs.empty()) return axes;
  for (const auto& [axis, value] : study.runs.front().axes) axes.push_back(axis);
  return axes;
}

}  // namespace

SeedsUntilResolved::SeedsUntilResolved(report::Study study)
    : study_(std::move(study)), sequence_(study_.report.claims.size(), study_.looks) {
  const auto axis = report::compared_axis(study_.report, axes_of_runs(study_));
  const auto& claims = study_.report.claims;
  for (std::size_t i = 0; i < study_.runs.size(); ++i) {
    report::FrameRun run;
    run.plan = study_.runs[i];
    Place place{.seed = seed_of(run.plan)};
    for (std::size_t claim = 0; claim < claims.size(); ++claim) {
      if (is_about(claims[claim], axis, claims[claim].variant, run) ||
          is_about(claims[claim], axis, compared_with(claims[claim], study_), run)) {
        place.claims.push_back(claim);
      }
    }
    places_.push_back(std::move(place));
    by_id_[run.plan.id].push_back(i);
  }
  read();
}

// Makes the looks that can be made, and finds what the next one waits for.
void SeedsUntilResolved::read() {
  sequence_ = follow_claims(study_, frame_of(study_));
  awaited_.clear();
  ended_ = !has_next_look();
  for (std::size_t i = 0; i < places_.size() && !ended_; ++i) {
    if (is_open(places_[i]) && is_released(places_[i])) awaited_.push_back(i);
  }
}

void SeedsUntilResolved::look() {
  while (!ended_) {
    std::erase_if(awaited_, [&](std::size_t i) {
      const auto& run = study_.runs[i];
      return failed_.count(run.id) > 0 || is_complete(state_of(RunDirectory{run.directory}));
    });
    if (!awaited_.empty()) return;
    const auto made = sequence_.made();
    read();
    // A run that failed, or that is not there, is not to come.
    if (sequence_.made() == made) ended_ = true;
  }
}

// How many seeds the variants of a claim have by now.
std::size_t SeedsUntilResolved::seeds_of(std::size_t claim) const {
  const auto& followed = sequence_.claims()[claim];
  const auto& looks = study_.looks;
  const auto look =
      followed.is_open ? std::min(sequence_.made(), looks.size() - 1) : followed.look - 1;
  return looks[look];
}

bool SeedsUntilResolved::has_next_look() const {
  return sequence_.open() > 0 && sequence_.made() < study_.looks.size();
}

bool SeedsUntilResolved::is_released(const Place& place) const {
  return place.seed < study_.looks.front() ||
         std::any_of(place.claims.begin(), place.claims.end(),
                     [&](std::size_t claim) { return place.seed < seeds_of(claim); });
}

bool SeedsUntilResolved::is_open(const Place& place) const {
  return std::any_of(place.claims.begin(), place.claims.end(),
                     [&](std::size_t claim) { return sequence_.claims()[claim].is_open; });
}

sweep::Selection::Verdict SeedsUntilResolved::verdict(const sweep::Run& run) const {
  const auto& places = by_id_.at(run.id);
  const auto any = [&](auto holds) {
    return std::any_of(places.begin(), places.end(),
                       [&](std::size_t i) { return holds(places_[i]); });
  };
  if (any([&](const Place& place) { return is_released(place); })) return Verdict::kGoOn;
  return !ended_ && any([&](const Place& place) { return is_open(place); }) ? Verdict::kLater
                                                                            : Verdict::kDrop;
}

void SeedsUntilResolved::give_up(const sweep::Run& run) { failed_.insert(run.id); }

std::string SeedsUntilResolved::about() const {
  const auto& looks = study_.looks;
  std::vector<std::string> seeds;
  for (const auto look : looks) seeds.push_back(concat(look));
  std::string text = looks.size() == 1 ? concat(looks.front(), ", one look")
                                       : concat(looks.front(), " to ", looks.back(),
                                                ", with a look after ", join(seeds));
  const auto claims = study_.report.claims.size();
  text += concat("; ", sequence_.made(), " of ", looks.size(), " looks made, ", sequence_.open(),
                 " of ", claims, claims == 1 ? " claim" : " claims", " open");
  return text;
}

}  // namespace difflab::cli
