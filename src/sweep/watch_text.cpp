#include "sweep/watch_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "util/text.h"

namespace difflab::sweep {
namespace {

constexpr int kMostBars = 24, kFewestBars = 8;
constexpr int kShortestLabel = 24;
constexpr double kSecondsBetweenSigns = 60;

// The order in which runs keep their place on a small screen.
constexpr std::array kRanks = {RunState::kRunning,     RunState::kFailed,   RunState::kDiverged,
                               RunState::kInterrupted, RunState::kFinished, RunState::kNew};

std::string state_of(const WatchedRun& run) {
  if (run.queued && run.state != RunState::kRunning) return "queued";
  return std::string(name_of(run.state));
}

std::string counts_of(const std::vector<const WatchedRun*>& runs) {
  std::map<std::string, int> counts;
  for (const auto* run : runs) ++counts[state_of(*run)];
  std::vector<std::string> words;
  for (const auto& [state, count] : counts) words.push_back(fmt::format("{} {}", count, state));
  return join(words);
}

std::string padded(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(0, width - columns_of(text))), ' ');
}

std::string steps_of(const WatchedRun& run) {
  return run.steps > 0 ? fmt::format("{}/{}", run.step, run.steps) : "";
}

std::string rate_text(double rate) {
  return rate < 10 ? fmt::format("{:.2g}/s", rate) : format_count(rate) + "/s";
}

// Columns: label, state, steps, curve, its last value, rate. What a narrow screen has no room for
// is left out from the right; the curve gives way first.
struct Layout {
  int label = 0, state = 0, steps = 0, bars = 0, value = 0, rate = 0;

  Layout(const WatchView& view, const std::vector<const WatchedRun*>& runs, int width) {
    std::size_t points = 0;
    value = columns_of(view.metric);
    state = columns_of("finished");
    for (const auto* run : runs) {
      label = std::max(label, columns_of(printable(run->label)));
      state = std::max(state, columns_of(state_of(*run)));
      steps = std::max(steps, columns_of(steps_of(*run)));
      points = std::max(points, run->curve.size());
      if (run->rate) rate = columns_of("steps/s");
    }
    if (points == 0) value = 0;
    bars = std::min(kMostBars, static_cast<int>(points));
    const auto left_for_label = [&] { return width - 1 - (total() - label); };
    for (int* column : {&bars, &rate, &value, &steps}) {
      if (left_for_label() >= std::min(label, kShortestLabel)) break;
      const int missing = std::min(label, kShortestLabel) - left_for_label();
      const int rest = *column - missing;
      *column = column == &bars && rest >= kFewestBars ? rest : 0;
    }
    label = std::clamp(left_for_label(), 1, label);
  }
  int total() const {
    int sum = label + 2 + state;
    for (const int column : {steps, bars, value, rate}) sum += column > 0 ? column + 2 : 0;
    return sum;
  }

  std::string line(const std::string& name, const std::string& how, const std::string& steps_text,
                   const std::string& curve, const std::string& last,
                   const std::string& speed) const {
    std::string text = padded(shorten(name, label), label) + "  " + padded(how, state);
    const auto add = [&](const std::string& word, int column, bool right) {
      if (column == 0) return;
      text += "  ";
      text += right ? fmt::format("{:>{}}", word, column) : padded(word, column);
    };
    add(steps_text, steps, true);
    add(curve, bars, false);
    add(last, value, true);
    add(speed, rate, true);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
  std::string heading(const WatchView& view) const {
    return line("run", "state", "step", "", view.metric, "steps/s");
  }
  std::string line(const WatchedRun& run) const {
    const auto last = run.curve.empty() ? "" : fmt::format("{:.4g}", run.curve.back());
    return line(printable(run.label), state_of(run), steps_of(run), sparkline(run.curve, bars),
                last, run.rate ? rate_text(*run.rate) : "");
  }
};

// "1.2k steps/s · 14m 05s left", as far as it is known.
std::string pace_of(const WatchView& view) {
  std::vector<std::string> words;
  if (view.rate) {
    words.push_back(view.in_steps ? fmt::format("{} steps/s", format_count(*view.rate))
                                  : fmt::format("{} runs/min", format_count(*view.rate * 60)));
  }
  if (view.seconds_left)
    words.push_back(fmt::format("{} left", format_duration(*view.seconds_left)));
  return join(words, " · ");
}

std::string counts_line(const WatchView& view, const std::string& title) {
  std::string text = fmt::format("{}: {}/{} done", title, view.complete(), view.runs.size());
  const std::array<std::string_view, 5> kinds{"running", "queued", "failed",
                                              name_of(RunState::kDiverged), "interrupted"};
  for (const auto state : kinds) {
    const auto count =
        std::ranges::count_if(view.runs, [&](const auto& run) { return state_of(run) == state; });
    if (count > 0) text += fmt::format(" · {} {}", count, state);
  }
  return text;
}

std::string bar_of(const WatchView& view, int width) {
  const auto pace = pace_of(view);
  const auto text =
      fmt::format(" {:3.0f} %{}{}", std::floor(100 * view.done), pace.empty() ? "" : " · ", pace);
  const int room = std::clamp(width - 1 - columns_of(text), 10, 40);
  const int full = static_cast<int>(std::floor(view.done * room));
  std::string bar;
  for (int i = 0; i < room; ++i) bar += i < full ? "█" : "░";
  return bar + text;
}

std::vector<std::string> problems_of(const WatchView& view) {
  std::vector<std::string> lines;
  for (const auto& run : view.runs) {
    if (run.problem.empty()) continue;
    lines.push_back(fmt::format("{}: {}", state_of(run), printable(run.label)));
    lines.push_back(
        fmt::format("    {}", printable(run.problem.substr(0, run.problem.find('\n')))));
  }
  if (!view.silence.empty()) {
    lines.push_back(fmt::format("the queue does not answer: {}", printable(view.silence)));
  }
  return lines;
}

std::vector<const WatchedRun*> all_of(const WatchView& view) {
  std::vector<const WatchedRun*> runs;
  for (const auto& run : view.runs) runs.push_back(&run);
  return runs;
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> watch_lines(const WatchView& view, const std::string& title, int width) {
  std::vector<std::string> lines{counts_line(view, title), bar_of(view, width), ""};
  const auto runs = all_of(view);
  const Layout layout(view, runs, width);
  lines.push_back(layout.heading(view));
  for (const auto* run : runs) lines.push_back(layout.line(*run));
  if (const auto problems = problems_of(view); !problems.empty()) {
    lines.emplace_back();
    append(lines, problems);
  }
  return lines;
}

std::vector<std::string> watch_frame(const WatchView& view, const std::string& title,
                                     ScreenSize size) {
  const std::string footer = "Ctrl-C ends this view, not the sweep";
  auto lines = watch_lines(view, title, size.width);
  const auto height = static_cast<std::size_t>(std::max(size.height, 8));
  if (lines.size() + 2 <= height) {
    append(lines, {"", footer});
    return lines;
  }
  // The runs that matter most, in sweep order within each kind; a third is left for problems.
  auto problems = problems_of(view);
  if (const auto most = height / 3; problems.size() > most) {
    const auto hidden = problems.size() - (most - 1);
    problems.resize(most - 1);
    problems.push_back(fmt::format("… {} more lines of problems", hidden));
  }
  auto runs = all_of(view);
  std::ranges::stable_sort(runs, [](const WatchedRun* a, const WatchedRun* b) {
    const auto rank = [](const WatchedRun* run) { return std::ranges::find(kRanks, run->state); };
    return rank(a) < rank(b);
  });
  constexpr std::size_t kOtherLines = 5;  // summary, bar, heading, what is hidden, footer
  const auto taken = kOtherLines + problems.size();
  const auto room = height > taken ? height - taken : 1;
  const auto shown = runs.begin() + static_cast<std::ptrdiff_t>(std::min(room, runs.size()));
  const std::vector<const WatchedRun*> hidden(shown, runs.end());
  runs.erase(shown, runs.end());
  const Layout layout(view, runs, size.width);
  lines = {counts_line(view, title), bar_of(view, size.width), layout.heading(view)};
  for (const auto* run : runs) lines.push_back(layout.line(*run));
  if (!hidden.empty()) {
    lines.push_back(fmt::format("… and {} more: {}", hidden.size(), counts_of(hidden)));
  }
  append(lines, problems);
  lines.push_back(footer);
  return lines;
}

void WatchLog::show(const WatchView& view, const std::string& title, double now) {
  bool said = false;
  const auto say = [&](const std::string& line) {
    out_ << line << '\n';
    said = true;
  };
  const bool first = states_.empty();
  if (first) {
    for (const auto& line : watch_lines(view, title, /*width=*/120)) say(line);
  }
  for (const auto& run : view.runs) {
    // Runs may join later, and have begun by then.
    const auto known = first ? run.state : RunState::kNew;
    auto& state = states_.try_emplace(run.label, known).first->second;
    if (state == run.state) continue;
    state = run.state;
    say(fmt::format("[{}/{}] {}: {}", view.complete(), view.runs.size(), printable(run.label),
                    state_of(run)));
    if (!run.problem.empty()) {
      say(fmt::format("    {}", printable(run.problem.substr(0, run.problem.find('\n')))));
    }
  }
  if (!said && now >= next_sign_) {
    const auto pace = pace_of(view);
    say(counts_line(view, title) + (pace.empty() ? "" : " · ") + pace);
  }
  if (said) next_sign_ = now + kSecondsBetweenSigns;
  out_ << std::flush;
}

}  // namespace difflab::sweep
