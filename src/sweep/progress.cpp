#include "sweep/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace difflab::sweep {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLines = 1s;
constexpr auto kBetweenLooks = 500ms;

// The share of its work that a run says it has done; 0 if it says nothing.
double fraction_of(const Run& run) {
  const auto position = position_of(run.directory);
  const auto all = static_cast<double>(position.all());
  return all > 0 ? std::clamp(static_cast<double>(position.done()) / all, 0.0, 1.0) : 0;
}

constexpr double kShort = 60;  // seconds; below it tenths matter

std::string duration(double seconds) {
  return seconds < kShort ? fmt::format("{:.1f}s", seconds) : format_duration(seconds);
}

}  // namespace

Progress::Progress(std::ostream& out, const std::vector<Run>& runs, Settings settings)
    : out_(out),
      settings_(settings),
      line_(out, settings.width),
      total_(static_cast<int>(runs.size())),
      speed_(all_of(runs).work),
      estimate_(all_of(runs).effort) {
  in_steps_ = std::ranges::any_of(runs, [](const Run& run) { return run.work > 1; });
  next_sign_ = begin_ + settings_.between_signs;
  for (const auto& run : runs) {
    if (is_complete(state_of(run.directory))) {
      ++done_;
      finished_.add(run, 1);
    } else if (const double fraction = fraction_of(run); fraction > 0) {
      partial_[run.id].add(run, fraction);  // an earlier call got that far
    }
  }
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Progress::say(const std::string& line, bool important) {
  const auto now = Clock::now();
  if (settings_.live) {
    if (important) line_.print_above(line);
    return;
  }
  if (!important && now < next_line_) return;
  next_line_ = now + kBetweenLines;
  next_sign_ = now + settings_.between_signs;
  out_ << line << '\n' << std::flush;
}

std::string Progress::position() const { return fmt::format("{}/{}", done_, total_); }

void Progress::started(const Run& run) {
  started_[run.id] = Clock::now();
  say(fmt::format("[{}] {}: started", position(), run.label()), false);
}

void Progress::ended(const Run& run, const std::string& how, bool important) {
  const auto started = started_.find(run.id);
  std::string line = fmt::format("[{}] {}: {}", position(), run.label(), how);
  if (started != started_.end()) {
    const std::chrono::duration<double> took = Clock::now() - started->second;
    line += fmt::format(" after {}", format_duration(took.count()));
  }
  partial_.erase(run.id);
  say(line, important || done_ + failed_ == total_);
}

void Progress::completed(const Run& run, RunState state) {
  ++done_;
  finished_.add(run, 1);
  ended(run, std::string(name_of(state)), state == RunState::kDiverged);
}

void Progress::failed(const Run& run, const std::string& message) {
  ++failed_;
  speed_.give_up(static_cast<double>(run.work));
  estimate_.give_up(run.effort());
  ended(run, "failed", true);
  say(fmt::format("    {}", message.substr(0, message.find('\n'))), true);
}

void Progress::retried(const Run& run, const std::string& reason, int attempt, int most) {
  say(fmt::format("[{}] {}: {}; trying again ({} of {})", position(), run.label(), reason, attempt,
                  most),
      true);
}

Progress::Done Progress::all_of(const std::vector<Run>& runs) {
  Done all;
  for (const auto& run : runs) all.add(run, 1);
  return all;
}

void Progress::waiting(std::size_t runs, const std::string& holder, double silence) {
  say(fmt::format("[{}] waiting for {} held by {}; if that says nothing for {}, "
                  "this sweep takes over",
                  position(), runs == 1 ? "a run" : fmt::format("{} runs", runs), holder,
                  format_duration(silence)),
      true);
}

void Progress::unreachable(const std::string& reason) {
  say(concat("[", position(), "] ", reason, "; its runs wait for a machine that answers"), true);
}

void Progress::stopping() {
  stopping_ = true;
  say("stopping: runs save their state (once more Ctrl-C kills them)", true);
}

void Progress::tick(const std::vector<const Run*>& running) {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kBetweenLooks;
  for (const auto* run : running) {
    auto& partial = partial_[run->id];
    partial.add(*run, std::max(0.0, fraction_of(*run) - partial.share));
  }
  Done all = finished_;
  for (const auto& [id, partial] : partial_) {
    all.work += partial.work;
    all.effort += partial.effort;
  }
  speed_.update(all.work, seconds());
  estimate_.update(all.effort, seconds());
  if (settings_.live) {
    line_.show(status_text(running));
  } else if (now >= next_sign_) {
    say(status_text(running), true);
  }
}

std::string Progress::status_text(const std::vector<const Run*>& running) const {
  std::string text = fmt::format("{} done · {} running", position(), running.size());
  if (failed_ > 0) text += fmt::format(" · {} failed", failed_);
  if (stopping_) return text + " · stopping";
  if (const auto rate = speed_.rate()) {
    text += in_steps_ ? fmt::format(" · {} steps/s", format_count(*rate))
                      : fmt::format(" · {} runs/min", format_count(*rate * 60));
  }
  if (const auto left = estimate_.seconds_left()) {
    text += fmt::format(" · {} left", format_duration(*left));
  }
  for (const auto* run : running) {
    const auto partial = partial_.find(run->id);
    const double done = partial == partial_.end() ? 0 : partial->second.share;
    text += fmt::format(" · {} {:.0f} %", run->label(), 100 * done);
  }
  return text;
}

std::string time_text(const SweepTime& time) {
  const double whole = time.runs * std::max(time.workers, 1);
  std::vector<std::string> shares;
  const auto add = [&](std::string_view name, double seconds) {
    const double percent = whole > 0 ? 100 * seconds / whole : 0;
    if (percent >= 0.5) shares.push_back(fmt::format("{} {:.0f} %", name, percent));
  };
  for (const auto& part : TimeSpent::parts()) add(part.name, time.by_runs.*part.seconds);
  add("other", whole - time.by_runs.sum());
  return fmt::format("{}: runs {} ({} at once: {}), tables and page {}, figures {}",
                     duration(time.runs + time.report), duration(time.runs), time.workers,
                     join(shares), duration(time.report - time.figures), duration(time.figures));
}

}  // namespace difflab::sweep
