// reproduce: makes runs of committed references, or single ones, again, and compares them number by
// number.

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "cli/commands.h"
#include "cli/runs/named_references.h"
#include "cli/sweep/run_study.h"
#include "config/value/yaml.h"
#include "record/provenance.h"
#include "record/status.h"
#include "referee/referee.h"
#include "report/archive/rebuild.h"
#include "report/archive/reproduction.h"
#include "report/data/frame.h"
#include "run/run_config.h"
#include "util/files.h"

namespace difflab::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> words;
  std::size_t runs = 8;
  double share = 0;  ///< percent of the runs, in place of `runs`; 0: not given
  std::string draw;
  bool record = false;
};

// The finished runs of a reference, as runs.json has them.
std::vector<Json> committed_runs(const fs::path& folder) {
  std::vector<Json> finished;
  const Json record = report::read_object(folder / "runs.json");
  try {
    for (const Json& run : record.at("runs")) {
      if (run.value("status", "") == "finished" && run.contains("metrics")) finished.push_back(run);
    }
  } catch (const Json::exception& error) {
    throw UserError(concat((folder / "runs.json").string(), " is damaged: ", error.what()));
  }
  if (finished.empty()) throw UserError(concat(folder.string(), " has no finished run"));
  return finished;
}

// A study of the drawn runs alone.
Study study_of_drawn(const report::Study& kept, const std::vector<std::string>& ids,
                     const fs::path& scratch) {
  auto study = study_without_runs(scratch, kept.name, kept.title);
  study.preset = kept.preset;
  for (const auto& run : kept.runs) {
    if (!is_among(run.id, ids)) continue;
    add_known_run(study, run);
  }
  study.points = sweep::distinct(study.points);  // variants may share one
  return study;
}

const Json& committed_run(const std::vector<Json>& runs, const std::string& id) {
  return *std::find_if(runs.begin(), runs.end(), [&](const Json& run) { return run["id"] == id; });
}

void print_comparison(const sweep::Run& run, const report::Reproduction& found,
                      const std::string& begun) {
  std::string said =
      found.numbers == 0 ? "no number to compare" : concat(found.numbers, " numbers, all the same");
  if (!found.differences.empty()) {
    said = concat(found.differences.size(), " of ", found.numbers,
                  " numbers differ: ", join(found.differences));
    if (!begun.empty()) said += concat(". Begun with ", begun);
    if (!found.others.empty()) said += concat(". Made under other conditions: ", found.others);
  }
  std::cout << fmt::format("  {}  {}\n    {}\n", run.id, run.label(), said);
}

// The judgement of the runs that another machine made.
void print_elsewhere(const report::Reproduced& found) {
  if (!found.elsewhere) return;
  const auto runs = std::count_if(found.runs.begin(), found.runs.end(),
                                  [](const auto& run) { return run.is_elsewhere(); });
  const auto& [judged, outside] = *found.elsewhere;
  const auto said = judged == 0 ? "there are too few seeds to judge these by"
                    : outside.empty()
                        ? concat("what they are reported for lies among other seeds, in ", judged,
                                 judged == 1 ? " metric" : " metrics")
                        : concat("outside the other seeds' range: ", join(outside, "; "));
  std::cout << fmt::format("  {} made under other conditions: {}\n",
                           runs == 1 ? "1 run was" : concat(runs, " runs were"), said);
}

std::vector<std::string> ids_of(const std::vector<Json>& runs) {
  std::vector<std::string> ids;
  for (const auto& run : runs) report::add_new(ids, run.at("id").get<std::string>());
  return ids;
}

std::vector<std::string> drawn_from(const std::vector<Json>& runs,
                                    const ReproduceOptions& options) {
  const auto draw =
      options.draw.empty() ? source_state().value("commit", Json()).dump() : options.draw;
  const auto ids = ids_of(runs);
  const auto share = std::ceil(static_cast<double>(ids.size()) * options.share / 100);
  return report::drawn(ids, draw,
                       options.share > 0 ? static_cast<std::size_t>(share) : options.runs);
}

// "10%".
double percent_of(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && std::string(end) == "%" && percent > 0 && percent <= 100)
    return percent;
  throw UserError(concat("--share is ", text, "; expected up to 100%, e.g. 10%"));
}

// Runs that are compared once and then thrown away, also those of a call that was interrupted.
int make_again(const Study& study) {
  const int code = run_study(study, [] { return std::nullopt; });
  if (code != 0) {
    std::cerr << "nothing was compared and no new run is kept: the same command starts over\n";
  }
  return code;
}

// Makes these runs of the reference again and compares every number. Returns 0 if all agree as far
// as can be expected.
int reproduce(const std::string& name, const fs::path& folder, const std::vector<std::string>& ids,
              bool record) {
  const auto finished = committed_runs(folder);
  const auto archive = report::read_archive(folder, folder);
  const ScratchFolder scratch("reproduce");
  const auto study = study_of_drawn(archive.study, ids, scratch.path());
  if (const int code = make_again(study); code != 0) return code;

  std::cout << fmt::format("\n{}: {} of {} runs made again\n", name, study.points.size(),
                           finished.size());
  std::vector<report::MadeAgain> all;
  std::vector<Json> provenances;
  for (const auto& run : study.points) {
    all.push_back({run.id, read_result(run.directory).value_or(Json::object())});
    provenances.push_back(read_provenance(run.directory).value_or(Json::object()));
  }
  const auto& provenance = provenances.back();
  const auto found = report::compare_with(archive, finished, all, provenance);
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto& run = study.points[i];
    const auto& then = committed_run(finished, run.id).at("provenance");
    print_comparison(run, found.runs[i], report::how_begun(then, provenances[i]));
  }
  print_elsewhere(found);
  if (record) {
    const auto file = folder / "reproduced.json";
    const Json before = fs::exists(file) ? report::read_object(file) : Json();
    const auto session = report::session_of(all, provenance, archive);
    write_file_atomically(file, report::with_session(before, session, finished).dump(1) + "\n");
  }
  return found.confirms() ? 0 : kFailed;
}

// Trains a user's own run again, from its configuration alone, and compares every number. Returns 0
// if all agree as far as can be expected.
int reproduce_run(const RunDirectory& run) {
  const auto id = run.path.filename().string();
  const auto result = read_result(run);
  if (!result || result->value("status", "") != "finished") {
    throw UserError(concat("run ", id, " is not finished"));
  }
  const ScratchFolder scratch("reproduce");
  auto study = study_without_runs(scratch.path(), "run " + id, "run " + id + ", made again");
  const auto config = read_run_config(config::load_yaml(run.config()), run.config().string());
  add_known_run(study, config, id, {{"run", id}});
  if (const int code = make_again(study); code != 0) return code;
  const auto again = study.points.front().directory;
  auto found = report::compare_run({{"id", id}, {"metrics", result->at("metrics")}},
                                   read_result(again).value_or(Json::object()), {});
  const auto then = read_provenance(run).value_or(Json::object());
  const auto now = read_provenance(again).value_or(Json::object());
  found.others = report::other_conditions(then, now);
  std::cout << '\n';
  print_comparison(study.points.front(), found, report::how_begun(then, now));
  return found.confirms() ? 0 : kFailed;
}

struct KeptRun {
  std::string reference, id;
};

// The run of a reference whose id begins so; of those that hold it, the first.
std::optional<KeptRun> kept_run(const std::string& beginning, const fs::path& results) {
  std::optional<KeptRun> found;
  for (const auto& name : referee::reference_names(results)) {
    std::vector<std::string> ids;
    try {
      ids = ids_of(committed_runs(results / name / "reference"));
    } catch (const UserError&) {  // is said when that reference is named
    }
    for (const auto& id : ids) {
      if (!id.starts_with(beginning)) continue;
      if (found && found->id != id) {
        throw UserError(concat(beginning, " begins the ids of several runs of references, ",
                               found->id, " and ", id, "; expected more of it"));
      }
      if (!found) found = {name, id};
    }
  }
  return found;
}

// The finished run of one's own whose id begins so, if there is one alone.
std::optional<RunDirectory> own_run(const std::string& word, const fs::path& results) {
  try {
    const auto run = find_run(word, results);
    if (state_of(run) == RunState::kFinished && !is_restored(run)) return run;
  } catch (const UserError&) {  // a reference may hold it
  }
  return std::nullopt;
}

int reproduce_named(const std::string& word, const fs::path& results) {
  if (const auto own = own_run(word, results)) return reproduce_run(*own);
  const auto kept = word.find('/') == word.npos ? kept_run(word, results) : std::nullopt;
  if (!kept) return reproduce_run(find_run(word, results));
  return reproduce(kept->reference, results / kept->reference / "reference", {kept->id},
                   /*record=*/false);
}

// The words that name runs, taken out of `words`: paths, and ids or beginnings of ids.
std::vector<std::string> take_runs(std::vector<std::string>& words, const fs::path& results) {
  const auto is_run = [&](const std::string& word) {
    const bool is_id = word.size() >= 4 && word.find_first_not_of("0123456789abcdef") == word.npos;
    const bool is_word = word.find('=') == word.npos && (is_id || word.find('/') != word.npos);
    return is_word && !fs::exists(results / word / "reference");
  };
  std::vector<std::string> runs;
  std::copy_if(words.begin(), words.end(), std::back_inserter(runs), is_run);
  std::erase_if(words, is_run);
  return runs;
}

// Calls `make`; what cannot be made again is said, and the rest goes on.
template <class Make>
int attempt(const std::string& name, Make make) {
  try {
    return make();
  } catch (const UserError& error) {
    std::cerr << fmt::format("error: {} cannot be reproduced: {}\n", name, error.what());
    return kUserError;
  }
}

int reproduce_all(const ReproduceOptions& options) {
  auto words = options.words;
  const auto results = named_results(words);
  const auto runs = take_runs(words, results);
  const bool has_names = std::any_of(words.begin(), words.end(),
                                     [](const auto& word) { return word.find('=') == word.npos; });
  if (!runs.empty() && options.record)
    throw UserError("--record is for references; a run has none");
  int exit_code = 0;
  const auto note = [&](int code) {
    if (code != 0) exit_code = code;
    return code != kInterrupted;
  };
  for (const auto& run : runs) {
    const auto make = [&] { return reproduce_named(run, results); };
    if (!note(attempt(run, make))) return exit_code;
  }
  if (!runs.empty() && !has_names) return exit_code;
  const auto asked = named_references(words);
  for (const auto& name : asked.names) {
    for (const auto* inner : {"", "tuning"}) {
      const auto folder = asked.folder(name) / inner;
      const bool is_tuning = *inner != '\0';
      if (is_tuning && !fs::exists(folder / "runs.json")) continue;
      const auto label = is_tuning ? concat(name, ", its tuning") : name;
      const auto make = [&] {
        const auto ids = drawn_from(committed_runs(folder), options);
        return reproduce(label, folder, ids, options.record && !is_tuning);
      };
      if (!note(attempt(label, make))) return exit_code;
    }
  }
  return exit_code;
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reproduce",
      "Make runs of committed references, or single ones, again; compare every number");
  command->add_option("what", options->words,
                      "names below results/ that have a reference, or runs (folder or id); none: "
                      "all references; results=DIR says where");
  auto* runs =
      command->add_option("--runs", options->runs, "how many of each, and as many of its tuning");
  runs->check(CLI::PositiveNumber);
  command
      ->add_option_function<std::string>(
          "--share", [options](const std::string& text) { options->share = percent_of(text); },
          "what share of each and of its tuning, e.g. 10%")
      ->excludes(runs);
  command->add_option("--draw", options->draw,
                      "which ones: another text draws others; the commit if it is not given");
  command->add_flag("--record", options->record,
                    "write reproduced.json beside each reference, for the referee");
  command->callback([options] { exit_with(reproduce_all(*options)); });
}

}  // namespace difflab::cli
