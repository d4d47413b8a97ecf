#include "study/load/tuning_trials.h"

#include "report/data/frame.h"
#include "report/data/learned.h"
#include "report/data/metric.h"

namespace difflab::cli {

const Said& Trials::said_by(const sweep::Run& run) const {
  const auto [place, is_new] = said_.try_emplace(run.id);
  auto& said = place->second;
  if (!is_new) return said;
  const auto& learned = study_.report.learned;
  const report::Frame frame(
      report::read_runs({{run.id, run.axes, run.config, run.directory.path}}, name_), "", learned,
      {});
  const auto& found = frame.runs().front();
  said.is_finished = found.state == RunState::kFinished;
  said.metric = found.metric(study_.tune.metric);
  const auto has_learned = found.metric(report::kLearned);
  if (learned.given() && said.is_finished && !has_learned && is_restored(run.directory)) {
    throw report::nobody_knows_who_learned(learned, run.label(), run.directory.path.string());
  }
  said.has_learned = said.metric && (!learned.given() || has_learned.value_or(1) == 1.0);
  if (!said.metric) said.metric = found.censored_above(study_.tune.metric);
  return said;
}

std::optional<Tried> Trials::read(const std::vector<sweep::Run>& runs) const {
  Tried tried;
  for (const auto& run : runs) {
    const auto& said = said_by(run);
    if (!said.is_finished || !said.metric) return std::nullopt;
    tried.learned += said.has_learned ? 1 : 0;
    tried.metric += *said.metric;
  }
  // Divided once: a share of each seed would round, and equal means would differ.
  tried.metric /= static_cast<double>(runs.size());
  if (study_.tune.goal == Goal::kHighest) tried.metric = -tried.metric;
  return tried.learned > 0 ? std::optional(tried) : std::nullopt;
}

bool Trials::seeds_may_fail() const {
  const bool is_event = report::metric_of(study_.tune.metric).outcome() == Outcome::kTimeToEvent;
  return is_event || study_.report.learned.given();
}

bool Trials::leave_seeds_out() const { return !study_.tune.every_seed && seeds_may_fail(); }

}  // namespace difflab::cli
