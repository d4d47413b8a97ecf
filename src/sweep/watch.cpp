#include "sweep/watch.h"

#include <algorithm>

namespace difflab::sweep {
namespace {

constexpr double kBetweenQuestions = 15;  // seconds; squeue costs the whole cluster something
constexpr std::size_t kRateLines = 5;     // metrics lines that a run's rate is taken from

std::optional<double> number_at(const Json& line, const std::string& key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

double fraction_of(const WatchedRun& run) {
  if (is_complete(run.state)) return 1;
  if (run.steps <= 0) return 0;
  return std::clamp(static_cast<double>(run.step) / static_cast<double>(run.steps), 0.0, 1.0);
}

// Steps per second of training alone, by the run's own clock; known from the first look on.
std::optional<double> training_rate(const std::vector<double>& steps,
                                    const std::vector<double>& seconds) {
  if (steps.size() < 2) return std::nullopt;
  const auto first = steps.size() - std::min(steps.size(), kRateLines);
  const double took = seconds.back() - seconds[first];
  if (!(took > 0)) return std::nullopt;
  return (steps.back() - steps[first]) / took;
}

}  // namespace

int WatchView::complete() const {
  return static_cast<int>(std::ranges::count_if(runs, is_complete, &WatchedRun::state));
}

bool WatchView::ended() const {
  return std::all_of(runs.begin(), runs.end(), [](const WatchedRun& run) {
    return is_complete(run.state) || (run.state == RunState::kFailed && !run.queued);
  });
}

void Watch::read_metrics(Memory& memory) const {
  const auto news = memory.metrics.look();
  if (news.again) {
    memory.steps.clear();
    memory.seconds.clear();
    memory.curve.clear();
  }
  for (const auto& line : news.lines) {
    if (const auto value = number_at(line, metric_)) memory.curve.push_back(*value);
    const auto step = number_at(line, "step"), seconds = number_at(line, "train_seconds");
    if (!step || !seconds) continue;
    memory.steps.push_back(*step);
    memory.seconds.push_back(*seconds);
  }
}

WatchedRun Watch::look_at(const Run& run) {
  auto& memory = memory_.try_emplace(run.directory.path.string(), run.directory).first->second;
  WatchedRun seen;
  seen.label = run.label();
  if (std::error_code none; !std::filesystem::exists(run.directory.result(), none)) {
    memory.complete.reset();
  }
  const bool known = memory.complete.has_value();
  const auto standing = known ? *memory.complete : standing_of(run);
  if (!known) read_metrics(memory);  // after the state: a run that has ended has written its last
  if (is_complete(standing.state)) memory.complete = standing;
  seen.state = standing.state;
  seen.step = standing.position.done();
  seen.steps = standing.position.all();
  seen.curve = memory.curve;
  seen.queued = queue_.of_run.count(run.id) > 0 && !is_complete(seen.state);
  seen.problem = standing.message;
  if (seen.state == RunState::kRunning) {
    seen.rate = training_rate(memory.steps, memory.seconds);
    // The status is written less often than it could be, never ahead of the metrics.
    if (!memory.steps.empty() && seen.steps > 0) {
      const auto own = static_cast<std::int64_t>(memory.steps.back());
      seen.step = std::max(seen.step, standing.position.before + own);
    }
  }
  return seen;
}

void Watch::ask_queue(const std::vector<std::filesystem::path>& folders, double now) {
  if (now < next_question_) return;
  next_question_ = now + kBetweenQuestions;
  queue_ = {};
  for (const auto& folder : folders) {
    try {
      auto queue = queue_of(folder);
      queue_.of_run.merge(queue.of_run);
      if (queue.silence) queue_.silence = queue.silence;
    } catch (const std::exception& error) {  // a submission that is being written or removed
      queue_.silence = error.what();
    }
  }
}

void Watch::add_expectation(const std::vector<Run>& runs, WatchView& view, double now) {
  double total = 0, done = 0, rates = 0;             // of training steps
  double lost = 0;                                   // of runs that nobody will do
  double all_effort = 0, done_effort = 0, pace = 0;  // of operations, where they are known
  int running = 0, measured = 0;
  view.in_steps = std::ranges::any_of(runs, [](const Run& run) { return run.work > 1; });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = view.runs[i];
    const auto work = static_cast<double>(std::max<std::int64_t>(runs[i].work, 1));
    if (run.state == RunState::kFailed && !run.queued) {
      lost += work;
      continue;
    }
    total += work;
    done += work * fraction_of(run);
    const double effort = std::max(runs[i].effort(), 1.0);
    all_effort += effort;
    done_effort += effort * fraction_of(run);
    if (run.state != RunState::kRunning) continue;
    ++running;
    if (!run.rate) continue;
    ++measured;
    rates += *run.rate;
    pace += *run.rate * effort / work;
  }
  view.done = total + lost > 0 ? done / (total + lost) : 1;
  if (!speed_) speed_.emplace(total);
  if (!estimate_) estimate_.emplace(all_effort);
  speed_->update(done, now);
  estimate_->update(done_effort, now);
  if (running == 0) return;
  // Steps are reported many at a time; until the estimate has seen enough of them, and where it
  // looks only once, the runs' own clocks know better. A run that is too young counts as the
  // others.
  if (view.in_steps && measured > 0) {
    view.rate = rates / measured * running;
    pace *= static_cast<double>(running) / measured;
    if (pace > 0) view.seconds_left = (all_effort - done_effort) / pace;
  } else {
    view.rate = speed_->rate();
    view.seconds_left = estimate_->seconds_left();
  }
}

WatchView Watch::look(const std::vector<Run>& runs,
                      const std::vector<std::filesystem::path>& folders, double now) {
  WatchView view;
  view.metric = metric_;
  // The queue first: a task that ends between the two looks has then written its results already.
  ask_queue(folders, now);
  view.silence = queue_.silence.value_or("");
  for (const auto& run : runs) view.runs.push_back(look_at(run));
  add_expectation(runs, view, now);
  return view;
}

}  // namespace difflab::sweep
