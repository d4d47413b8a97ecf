#include "sweep/plan/halving.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "record/run_directory.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();
constexpr const char* kSeedAxis = "seed";

// The steps of the validation behind which values are dropped.
std::vector<std::int64_t> rungs_of(const SearchConfig& config, const Run& run) {
  const auto& train = run.config.at("train");
  const auto steps = train.at("steps").get<std::int64_t>();
  const auto every = train.at("eval_every").get<std::int64_t>();
  std::vector<std::int64_t> rungs;
  for (const double share : config.rungs) {
    const double evaluations =
        std::ceil(share * static_cast<double>(steps) / static_cast<double>(every) - 1e-9);
    const auto step = every * std::max<std::int64_t>(1, static_cast<std::int64_t>(evaluations));
    if (step >= steps || (!rungs.empty() && step <= rungs.back())) {
      throw UserError(concat("search.rungs: ", share, " of ", steps,
                             " steps, with a validation every ", every, ", falls on step ", step,
                             "; expected steps that differ and lie before the last (", run.label(),
                             ")"));
    }
    rungs.push_back(step);
  }
  return rungs;
}

}  // namespace

Halving::Halving(const SearchConfig& config, const std::vector<Run>& runs)
    : config_(config), runs_(runs) {
  std::map<std::string, std::size_t> groups;
  for (const auto& run : runs_) {
    std::string variant;
    std::optional<std::string> value;
    for (const auto& [axis, label] : run.axes) {
      if (axis == config_.axis) value = label;
      if (axis != config_.axis && axis != kSeedAxis) variant += concat(axis, "=", label, "\n");
    }
    if (!value) {
      throw UserError(concat("search.axis: is ", config_.axis,
                             ", which the sweep does not vary; expected one of its axes"));
    }
    const auto [place, is_new] = groups.try_emplace(variant, groups_.size());
    if (is_new) groups_.push_back({rungs_of(config_, run)});
    auto& group = groups_[place->second];
    if (rungs_of(config_, run) != group.rungs) {
      throw UserError(concat("search.axis: values of ", config_.axis,
                             " train for different numbers of steps (", run.label(), ")"));
    }
    auto found =
        std::find_if(group.candidates.begin(), group.candidates.end(),
                     [&](const Candidate& candidate) { return candidate.value == *value; });
    if (found == group.candidates.end()) {
      found = group.candidates.insert(group.candidates.end(), {*value});
    }
    found->members.push_back({&run});
    places_[run.id] = {place->second, static_cast<std::size_t>(found - group.candidates.begin())};
  }
}

void Halving::read(const Group& group, Member& member) const {
  if (member.values.size() > group.decided) return;
  const auto rung = group.rungs[group.decided];
  const double sign = config_.goal == Goal::kLowest ? 1 : -1;
  const auto state = state_of(member.run->directory);  // before its lines, which are all then
  const auto lines = read_metrics(member.run->directory);
  const auto score = [&](const Json& line) {
    const auto value = line.find(config_.metric);
    const bool number =
        value != line.end() && value->is_number() && std::isfinite(value->get<double>());
    return number ? sign * value->get<double>() : kWorst;
  };
  for (const auto& line : lines) {
    const auto step = line.value("step", std::int64_t{-1});
    if (step < rung) continue;
    if (step > rung || !line.contains(config_.metric)) {
      std::vector<std::string> names;
      for (const auto& [name, value] : line.items()) names.push_back(name);
      throw UserError(concat("search.metric: ", config_.metric, " is missing at step ", rung,
                             " of ", member.run->label(), suggestion(config_.metric, names)));
    }
    member.values.push_back(score(line));
    return;
  }
  // It ended before the rung: it diverged, or got to the event at which it stops.
  if (!member.failed && !is_complete(state)) return;
  if (!member.failed && is_restored(member.run->directory)) {
    throw UserError(concat("search.metric: ", member.run->label(),
                           " was restored without the lines of ", config_.metric, "; delete ",
                           member.run->directory.path.string(), " to have it trained"));
  }
  const bool has_stopped = !member.failed && state == RunState::kFinished && !lines.empty();
  member.values.push_back(has_stopped ? score(lines.back()) : kWorst);
}

std::size_t Halving::survivors(std::size_t candidates, std::size_t rung) const {
  if (rung + 1 == config_.rungs.size()) return 1;
  const double kept = std::ceil(config_.keep * static_cast<double>(candidates));
  return std::clamp<std::size_t>(static_cast<std::size_t>(kept), 1, candidates);
}

bool Halving::decide(Group& group) {
  if (group.decided == group.rungs.size()) return false;
  struct Score {
    double mean;
    Candidate* candidate;
  };
  std::vector<Score> scores;
  bool complete = true;
  for (auto& candidate : group.candidates) {
    if (!candidate.alive) continue;
    double sum = 0;
    for (auto& member : candidate.members) {
      read(group, member);
      if (member.values.size() <= group.decided) {
        complete = false;
      } else {
        sum += member.values[group.decided];
      }
    }
    scores.push_back({sum / static_cast<double>(candidate.members.size()), &candidate});
  }
  if (!complete) return false;
  const auto kept = survivors(scores.size(), group.decided);
  // Of equals the first in the order of the sweep.
  std::stable_sort(scores.begin(), scores.end(),
                   [](const Score& a, const Score& b) { return a.mean < b.mean; });
  for (std::size_t i = kept; i < scores.size(); ++i) scores[i].candidate->alive = false;
  ++group.decided;
  return true;
}

void Halving::look() {
  for (auto& group : groups_) {
    while (decide(group)) {
    }
  }
}

Halving::Verdict Halving::verdict(const Run& run) const {
  const auto& [group_place, candidate_place] = places_.at(run.id);
  const auto& group = groups_[group_place];
  const auto& candidate = group.candidates[candidate_place];
  if (!candidate.alive) return Verdict::kDrop;
  if (group.decided == group.rungs.size()) return Verdict::kGoOn;
  const auto member = std::find_if(candidate.members.begin(), candidate.members.end(),
                                   [&](const Member& other) { return other.run->id == run.id; });
  return member->values.size() > group.decided ? Verdict::kWait : Verdict::kGoOn;
}

void Halving::give_up(const Run& run) {
  const auto& [group, candidate] = places_.at(run.id);
  for (auto& member : groups_[group].candidates[candidate].members) {
    if (member.run->id == run.id) member.failed = true;
  }
}

int Halving::dropped() const {
  return static_cast<int>(std::count_if(
      runs_.begin(), runs_.end(), [&](const Run& run) { return verdict(run) == Verdict::kDrop; }));
}

std::int64_t Halving::steps() const {
  std::int64_t sum = 0;
  for (const auto& group : groups_) {
    auto alive = group.candidates.size();
    std::int64_t before = 0;
    const auto& first = group.candidates.front().members;
    const auto seeds = static_cast<std::int64_t>(first.size());
    for (std::size_t rung = 0; rung < group.rungs.size(); ++rung) {
      sum += seeds * static_cast<std::int64_t>(alive) * (group.rungs[rung] - before);
      before = group.rungs[rung];
      alive = survivors(alive, rung);
    }
    sum += seeds * (first.front().run->config.at("train").at("steps").get<std::int64_t>() - before);
  }
  return sum;
}

std::int64_t Halving::steps_without_search() const {
  std::int64_t sum = 0;
  for (const auto& run : runs_) sum += run.config.at("train").at("steps").get<std::int64_t>();
  return sum;
}

std::string Halving::note() const {
  return concat("One value of ", config_.axis,
                " was chosen for each variant by successive halving on ", config_.metric, " (",
                text(), "); ", dropped(), " runs were dropped.");
}

std::string Halving::about() const {
  return concat(text(), "; ", steps(), " training steps instead of ", steps_without_search());
}

std::string Halving::text() const {
  const auto& group = groups_.front();
  auto alive = group.candidates.size();
  std::string text = concat(config_.axis, ": ", alive, " values");
  for (std::size_t rung = 0; rung < group.rungs.size(); ++rung) {
    alive = survivors(alive, rung);
    text += concat(", ", alive, " after ", group.rungs[rung], " steps");
  }
  return text;
}

}  // namespace difflab::sweep
