// logs: what runs have printed, or what has happened to them.

#include <fstream>
#include <iterator>

#include "cli/commands.h"
#include "cli/runs/pause.h"
#include "record/log/event_log.h"
#include "study/targets.h"

namespace difflab::cli {
namespace {

using NewLines = std::vector<std::string>;

struct LogsOptions {
  std::string what;
  std::string run;
  bool follow = false;
  bool events = false;
};

// The lines that the run has printed behind the first `shown` bytes, which are moved on.
NewLines new_lines(const RunDirectory& run, std::size_t& shown) {
  std::ifstream file(run.log(), std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(shown))) return {};
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto end = text.rfind('\n');
  if (end == text.npos) return {};
  shown += end + 1;
  return split(std::string_view(text).substr(0, end), '\n');
}

std::string event_text(const Json& event) {
  const auto word = [&](const char* key) {
    const auto found = event.find(key);
    if (found == event.end()) return std::string("?");
    return found->is_string() ? found->get<std::string>() : found->dump();
  };
  std::string text =
      concat(word("time"), "  ", word("host"), "/", word("process"), "  ", word("event"));
  for (const auto& [key, value] : event.items()) {
    if (key == "time" || key == "host" || key == "process" || key == "event") continue;
    text += concat(" ", key, "=", value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

// The events behind the first `shown`, and where something between them cannot be read.
NewLines new_events(const RunDirectory& run, std::size_t& shown) {
  const auto events = read_events(run);
  NewLines lines;
  if (shown == 0) {
    for (const auto& gap : events.gaps) {
      lines.push_back(concat("(", gap.bytes, " bytes at ", gap.offset, " of ",
                             run.events().string(), " are damaged; what they said is lost)"));
    }
  }
  for (std::size_t i = shown; i < events.records.size(); ++i) {
    lines.push_back(event_text(events.records[i]));
  }
  shown = events.records.size();
  return lines;
}

// Each line behind its run's label if there are several.
class Logs {
 public:
  Logs(std::vector<sweep::Run> runs, bool events)
      : runs_(std::move(runs)), events_(events), shown_(runs_.size(), 0) {}

  void show_new() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto& directory = runs_[i].directory;
      for (const auto& line :
           events_ ? new_events(directory, shown_[i]) : new_lines(directory, shown_[i])) {
        if (runs_.size() > 1) std::cout << runs_[i].label() << " | ";
        std::cout << line << '\n';
      }
    }
    std::cout << std::flush;
  }
  bool all_ended() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const sweep::Run& run) {
      const auto state = standing_of(run.directory).state;
      return is_complete(state) || state == RunState::kFailed;
    });
  }

 private:
  std::vector<sweep::Run> runs_;
  bool events_;
  std::vector<std::size_t> shown_;  // bytes, or events
};

int logs(const LogsOptions& options) {
  auto runs = runs_of(find_targets({options.what}));
  std::erase_if(runs, [&](const sweep::Run& run) {
    return !run.id.starts_with(options.run) && run.label().find(options.run) == std::string::npos;
  });
  if (runs.empty()) {
    throw UserError(concat("no run of ", options.what, " has an id that begins with '", options.run,
                           "' or a label that contains it"));
  }
  const StopSignals signals;
  Logs shown(std::move(runs), options.events);
  bool ended = !options.follow;
  while (!ended) {
    ended = shown.all_ended();  // before the last look, not after it
    shown.show_new();
    if (!ended && !pause(0.5)) return kInterrupted;
  }
  shown.show_new();
  return 0;
}

}  // namespace

void add_logs_command(CLI::App& app) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "What runs print, or what has happened to them");
  command
      ->add_option("what", options->what,
                   "the output of a frozen sweep, an experiment, a results folder or a run")
      ->required();
  command->add_option("run", options->run, "the beginning of an id, or a part of a label");
  command->add_flag("-f,--follow", options->follow,
                    "go on until the runs are finished or have failed");
  command->add_flag("--events", options->events,
                    "their events.log: starts, checkpoints, signals, retries, failures, ends");
  command->callback([options] { exit_with(logs(*options)); });
}

}  // namespace difflab::cli
