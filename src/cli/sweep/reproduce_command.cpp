// reproduce: makes runs of committed references again, and compares them number by number.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/runs/named_references.h"
#include "cli/sweep/run_study.h"
#include "config/schema/reader.h"
#include "record/provenance.h"
#include "report/archive/rebuild.h"
#include "report/archive/reproduction.h"
#include "run/run_config.h"
#include "study/study.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/scratch_folder.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct ReproduceOptions {
  std::vector<std::string> words;
  std::size_t runs = 3;
  std::string draw;
  bool record = false;
};

// The finished runs of a reference, as runs.json has them.
std::vector<Json> committed_runs(const fs::path& folder) {
  std::vector<Json> finished;
  const Json record = report::read_object(folder / "runs.json");
  for (const Json& run : record.at("runs")) {
    if (run.value("status", "") == "finished" && run.contains("metrics")) finished.push_back(run);
  }
  if (finished.empty()) throw UserError(concat(folder.string(), " has no finished run"));
  return finished;
}

// A study of the drawn runs alone, with its results in `scratch`.
Study study_of_drawn(const report::Study& kept, const std::vector<std::string>& ids,
                     const fs::path& scratch) {
  auto study = load_study("", {concat("results=", scratch.string())});
  study.points.clear();
  study.configs.clear();
  study.name = kept.name;
  study.preset = kept.preset;
  study.config.title = kept.title;
  study.config.question = "";
  study.output.clear();
  for (const auto& run : kept.runs) {
    if (std::find(ids.begin(), ids.end(), run.id) == ids.end()) continue;
    const auto config = config::read<RunConfig>(config::from_json(run.config), run.id);
    study.add(config, run.axes);
    if (study.points.back().id == run.id) continue;
    throw UserError(concat("run ", run.id, " of ", kept.name, " is called ", study.points.back().id,
                           " by this difflab: its configuration means something else today"));
  }
  return study;
}

const Json& committed_run(const std::vector<Json>& runs, const std::string& id) {
  return *std::find_if(runs.begin(), runs.end(), [&](const Json& run) { return run["id"] == id; });
}

// What the numbers of another machine say of the committed ones.
std::string among_seeds(const report::Elsewhere& found) {
  if (found.judged == 0) return "There are too few seeds to judge these by";
  if (found.outside.empty())
    return concat("What it is reported for lies among other seeds (", found.judged,
                  found.judged == 1 ? " number)" : " numbers)");
  return concat("Outside of what other seeds say: ", join(found.outside, "; "));
}

void print_comparison(const sweep::Run& run, const report::Reproduction& found,
                      const std::string& others) {
  std::string said = concat(found.numbers, " numbers, all the same");
  if (!found.differences.empty()) {
    said = concat(found.differences.size(), " of ", found.numbers,
                  " numbers differ: ", join(found.differences));
    if (found.elsewhere)
      said +=
          concat(". Made under other conditions: ", others, ". ", among_seeds(*found.elsewhere));
  }
  std::cout << fmt::format("  {}  {}\n    {}\n", run.id, run.label(), said);
}

// Whether every number of the reference's drawn runs is the same, or as far as that can be
// expected.
int reproduce(const std::string& name, const fs::path& folder, const ReproduceOptions& options) {
  const auto finished = committed_runs(folder);
  std::vector<std::string> ids;
  for (const auto& run : finished) ids.push_back(run.at("id").get<std::string>());
  const auto archive = report::read_archive(folder, folder);
  const auto draw =
      options.draw.empty() ? source_state().value("commit", Json()).dump() : options.draw;
  const ScratchFolder scratch("reproduce");
  const auto study =
      study_of_drawn(archive.study, report::drawn(ids, draw, options.runs), scratch.path());
  if (const int code = run_study(study, [] { return std::nullopt; }); code != 0) return code;

  std::cout << fmt::format("\n{}: {} of {} runs made again\n", name, study.points.size(),
                           ids.size());
  std::vector<report::Reproduction> all;
  bool is_sound = true;
  Json provenance;
  for (const auto& run : study.points) {
    const auto& committed = committed_run(finished, run.id);
    provenance = read_provenance(run.directory).value_or(Json::object());
    const auto result = read_result(run.directory).value_or(Json::object());
    auto found = report::compare_run(committed, result);
    const auto others = report::other_conditions(committed.at("provenance"), provenance);
    if (!found.differences.empty() && !others.empty()) {
      found.elsewhere = report::judge_elsewhere(archive.study, archive.frame, run.id, result);
    }
    print_comparison(run, found, others);
    is_sound = is_sound && found.confirms();
    all.push_back(std::move(found));
  }
  if (options.record) {
    const auto record = report::reproduction_record(all, provenance);
    write_file_atomically(folder / "reproduced.json", record.dump(1) + "\n");
  }
  return is_sound ? 0 : kFailed;
}

}  // namespace

void add_reproduce_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "Make runs of committed references again, and compare every number");
  command->add_option("experiments", options->words,
                      "names below results/ that have a reference; none: all; results=DIR says "
                      "where");
  command->add_option("--runs", options->runs, "how many of each")->check(CLI::PositiveNumber);
  command->add_option("--draw", options->draw,
                      "which ones: another text draws others; the commit if it is not given");
  command->add_flag("--record", options->record,
                    "write reproduced.json beside each reference, for the referee");
  command->callback([options, &exit_code] {
    const auto asked = named_references(options->words);
    for (const auto& name : asked.names) {
      try {
        const int code = reproduce(name, asked.folder(name), *options);
        if (code == kInterrupted) {
          exit_code = code;
          return;
        }
        if (code != 0) exit_code = code;
      } catch (const UserError& error) {
        std::cerr << fmt::format("error: {} cannot be reproduced: {}\n", name, error.what());
        exit_code = kUserError;
      }
    }
  });
}

}  // namespace difflab::cli
