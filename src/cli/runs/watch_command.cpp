#include <unistd.h>

#include <chrono>
#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/runs/pause.h"
#include "study/targets.h"
#include "sweep/watch_text.h"
#include "util/process.h"
#include "util/terminal/terminal.h"

namespace difflab::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct WatchOptions {
  std::vector<std::string> words;
  std::string metric = "valid_loss";
  double seconds = 1;
  bool once = false;
};

class Viewer {
 public:
  explicit Viewer(const WatchOptions& options)
      : options_(options), targets_(find_targets(options.words)), watch_(options.metric) {}

  int run() {
    if (auto first = look(); first.runs.empty()) {
      std::cout << "every run in " << title() << " is finished\n";
      return 0;
    } else if (options_.once) {
      print(first);
      return 0;
    }
    const StopSignals signals;
    const bool live = is_terminal(STDOUT_FILENO);
    std::optional<sweep::WatchView> last;
    {
      std::optional<Screen> screen;
      if (live) screen.emplace(std::cout);
      int looks = 0;
      while (StopSignals::count() == 0 && looks < kLooksAtNobody) {
        last = look();
        // Complete runs stay so, but others may be needed then; failed ones may just be taken up
        // again.
        const bool complete = last->complete() == static_cast<int>(last->runs.size());
        const bool more = complete && more_are_needed();
        looks = more ? 0 : complete ? kLooksAtNobody : last->ended() ? looks + 1 : 0;
        if (screen) {
          show_until_next_look(*screen, *last, looks < kLooksAtNobody);
        } else {
          log_.show(*last, title(), seconds());
          if (looks < kLooksAtNobody) pause(options_.seconds);
        }
      }
    }
    if (live && last) print(*last);  // stays on the first page, where the shell is
    if (StopSignals::count() > 0) return kInterrupted;
    return last->complete() == static_cast<int>(last->runs.size()) ? 0 : kFailed;
  }

 private:
  std::string title() const { return title_of(targets_); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  sweep::WatchView look() {
    std::vector<std::filesystem::path> folders;
    for (auto& target : targets_) {
      folders.push_back(target.folder);
      if (target.is_results) list_again(target);
    }
    return watch_.look(runs_of(targets_), folders, seconds());
  }

  // Finished runs may decide that others are needed: those that a tuning has found the value for,
  // or more seeds.
  bool more_are_needed() {
    std::vector<Target> now;
    try {
      now = find_targets(options_.words);
    } catch (const UserError&) {  // the experiment's file was changed meanwhile
      return false;
    }
    for (auto& target : now) {
      if (target.is_results) keep_unfinished(target);
    }
    const auto runs = runs_of(now);
    const bool more = std::any_of(runs.begin(), runs.end(), [](const sweep::Run& run) {
      return !std::filesystem::exists(run.directory.result());
    });
    if (more) targets_ = std::move(now);
    return more;
  }

  // A whole results folder shows only current runs: those without a result, and those that had none
  // when this view first saw them. New ones appear in it.
  void list_again(Target& target) {
    double& next = next_listing_[target.folder.string()];
    if (seconds() < next) return;
    next = seconds() + 10 * options_.seconds;
    target.runs = runs_in(target.folder);
    keep_unfinished(target);
  }

  void keep_unfinished(Target& target) {
    std::erase_if(target.runs, [this](const sweep::Run& run) {
      const auto folder = run.directory.path.string();
      if (shown_.count(folder) > 0) return false;
      if (std::error_code none; std::filesystem::exists(run.directory.result(), none)) return true;
      shown_.insert(folder);
      return false;
    });
  }

  void show_until_next_look(Screen& screen, const sweep::WatchView& view, bool more) {
    std::optional<ScreenSize> drawn;
    const auto draw_if_resized = [&] {
      const auto size = screen_size(STDOUT_FILENO);
      if (drawn != size) screen.draw(sweep::watch_frame(view, title(), size), size);
      drawn = size;
    };
    draw_if_resized();
    if (more) pause(options_.seconds, draw_if_resized);
  }

  void print(const sweep::WatchView& view) const {
    const bool terminal = is_terminal(STDOUT_FILENO);
    const int width = terminal ? screen_size(STDOUT_FILENO).width : kPlainWidth;
    for (const auto& line : sweep::watch_lines(view, title(), width)) std::cout << line << '\n';
    std::cout << std::flush;
  }

  static constexpr int kPlainWidth = 120;

  const WatchOptions& options_;
  std::vector<Target> targets_;
  sweep::Watch watch_;
  sweep::WatchLog log_{std::cout};
  std::set<std::string> shown_;
  std::map<std::string, double> next_listing_;  ///< by folder, in seconds
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

void add_watch_command(CLI::App& app) {
  const auto options = std::make_shared<WatchOptions>();
  CLI::App* command =
      app.add_subcommand("watch", "Watch a sweep that another terminal or machine executes");
  command->add_option("what", options->words,
                      "outputs of frozen sweeps, experiments (KEY=VALUE as for sweep), runs, or a "
                      "results folder; nothing: the unfinished runs of the project");
  command->add_option("--metric", options->metric, "metric of metrics.jsonl to draw")
      ->capture_default_str();
  command->add_option("--every", options->seconds, "seconds between checks")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  command->add_flag("--once", options->once, "print once, as plain text");
  command->callback([options] { exit_with(Viewer(*options).run()); });
}

}  // namespace difflab::cli
