#include "study/asked/asked_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/override/override.h"
#include "config/value/yaml.h"
#include "record/answers.h"
#include "record/safetensors.h"
#include "run/identity.h"
#include "run/trained_runs.h"
#include "study/asked/asked_evaluations.h"
#include "study/load/load.h"
#include "study/project.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

/// Weights with the configuration of their model.
struct Weights {
  std::filesystem::path file;  ///< absolute, safetensors
  config::Value config;        ///< of a run: at least model and task
};

constexpr std::string_view kExtension = ".safetensors";

std::vector<fs::path> weights_in(const fs::path& folder) {
  auto files = paths_in(folder);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != kExtension; });
  return files;
}

// True if this names weights: a .safetensors file, or a folder with one that is no run.
bool is_weights(const fs::path& name) {
  std::error_code none;
  if (name.extension() == kExtension) return fs::is_regular_file(name, none);
  const RunDirectory run{name};
  return fs::is_directory(name, none) && !fs::exists(run.checkpoint(), none) &&
         !weights_in(name).empty();
}

// The configuration is that in the file's metadata (difflab export), else config.yaml beside it.
// @throws UserError if there is none, or if a folder holds more than one file of weights.
Weights read_weights(const fs::path& name) {
  auto file = name;
  if (fs::is_directory(name)) {
    const auto files = weights_in(name);
    if (files.size() > 1) {
      throw UserError(
          concat(name.string(), ": holds ", files.size(), " files of weights; name one of them"));
    }
    file = files.front();
  }
  file = fs::absolute(file).lexically_normal();
  const auto beside = file.parent_path() / "config.yaml";
  if (fs::exists(beside)) return {file, config::load_yaml(beside)};
  const auto json = Json::parse(Safetensors::read(file).metadata_at("config"), nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw UserError(concat(file.string(),
                           ": has no configuration in it; expected one from difflab export, or a "
                           "config.yaml beside it that says at least model and task"));
  }
  return {file, config::from_json(json)};
}

// A run that was restored has a result and no model.
bool is_trained(const std::string& id, const std::string& training, const fs::path& results) {
  const RunDirectory run{results / "runs" / id};
  const auto state = state_of(run);
  return ((state == RunState::kDiverged || state == RunState::kFinished) && !is_restored(run)) ||
         !runs_with_training(results, training, id).empty();
}

// Value of this key in all runs of a study. @throws UserError if they differ.
config::Value common_value(const std::string& name, const std::vector<std::string>& overrides,
                           const char* key) {
  const auto values = composed_values(name, overrides, key);
  const bool differs =
      std::ranges::any_of(values, [&](const auto& value) { return !(value == values.front()); });
  if (differs) {
    throw UserError(concat(key, " is not the same in all runs of ", name,
                           "; expected one value, or ./difflab evaluate RUN"));
  }
  return values.front();
}

std::vector<std::string> with(std::vector<std::string> overrides,
                              const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

// The same evaluations with absolute paths: relative ones of an override start at the working
// directory, those of files at the project.
config::Value with_whole_paths(config::Value evaluations, const fs::path& root) {
  if (!evaluations.is_list()) return evaluations;  // refused later
  for (auto& evaluation : evaluations.mutable_items()) {
    for (const char* key : {"file.path", "task.file.path"}) {
      const auto* path = evaluation.is_map() ? evaluation.find_path(key) : nullptr;
      if (path == nullptr || !path->is_string() || path->as_string().empty()) continue;
      const auto whole = place_of(evaluation, key, root) / path->as_string();
      evaluation.set_path(key, config::Value(whole.lexically_normal().string()));
    }
  }
  return evaluations;
}

// The experiment with what is asked now beside what it asks anyway, without the runs that nobody
// has trained.
Asked study_of_experiment(const std::string& name, const Question& question) {
  Asked found{.of_experiment = true};
  auto others = question.others;
  if (!question.is_empty()) {
    const auto before = common_value(name, question.others, "evaluate");
    const auto asked = common_value(name, with(question.others, question.evaluate), "evaluate");
    const auto task = question.task.empty()
                          ? config::Value()
                          : common_value(name, with(question.others, question.task), "task");
    const auto all = with_whole_paths(evaluations_of(question, before, asked, task, found.names),
                                      find_project());
    others.push_back(concat("evaluate=", override_text(config::to_json(all))));
  }
  auto study = load_study(name, others);
  note_older_trainings(study.results);
  const auto planned = study.points.size();
  std::erase_if(study.points, [&](const sweep::Run& run) {
    return !is_trained(run.id, run.training, study.results);
  });
  const bool asks_of_task = std::ranges::any_of(
      question.others, [](const std::string& word) { return word.starts_with("task"); });
  if (study.points.empty()) {
    throw UserError(concat("none of the ", planned, " runs of ", name, " is trained in ",
                           config::shown_path(study.results), "; ./difflab sweep ", name,
                           " trains them; delete the folders of restored ones first",
                           asks_of_task ? "; to evaluate on another task: --on task…" : ""));
  }
  if (study.points.size() < planned) {
    found.note =
        fmt::format("{} of {} runs are not trained and not asked; difflab sweep {} trains them\n",
                    planned - study.points.size(), planned, name);
  }
  found.study = std::move(study);
  return found;
}

/// Runs and weights that are asked something.
class NamedModels {
 public:
  /// @param results of runs that are no folders, and of weights
  NamedModels(const Question& question, const fs::path& results)
      : question_(question),
        results_(results),
        asked_(question.evaluate.empty()
                   ? config::Value::list()
                   : composed_values("", question.evaluate, "evaluate").front()) {
    found_.study.root = find_project();
  }

  void add(const std::string& name) {
    const auto run = is_weights(name) ? asked_weights(name) : asked_run(find_run(name, results_));
    auto& study = found_.study;
    if (!study.results.empty() && run.results != study.results) {
      throw UserError(concat(name, ": is not in the results folder of ",
                             study.points.front().label(), "; ask them separately"));
    }
    study.results = run.results;
    study.add(run.config, {{"run", run.label}});
  }

  Asked found() { return std::move(found_); }

 private:
  struct AskedRun {
    RunConfig config;
    std::string label;
    fs::path results;
  };

  // The configuration with what is asked now beside what was asked before.
  RunConfig with_question(config::Value tree) {
    const auto* before = tree.find("evaluate");
    const auto* trained = tree.find("task");
    const auto task =
        question_.task.empty()
            ? config::Value()
            : composed_task(question_, trained != nullptr ? *trained : config::Value::map());
    tree.set("evaluate",
             evaluations_of(question_, before != nullptr ? *before : config::Value::list(), asked_,
                            task, found_.names));
    config::Problems problems;
    auto config = checked_run(tree, found_.study.root, problems);
    problems.throw_if_any();
    return config;
  }

  // A run that asks what another one is asked now, instead of what that was asked in its sweep.
  AskedRun asked_run(const RunDirectory& trained) {
    const auto state = state_of(trained);
    if (state == RunState::kDiverged) {
      throw UserError(concat(trained.path.string(), ": diverged, so there is no trained model"));
    }
    const auto results = results_of(trained);
    if (results.empty()) {
      throw UserError(concat(trained.path.string(), ": does not lie in a folder runs/"));
    }
    AskedRun run{with_question(config::load_yaml(trained.config())),
                 trained.path.filename().string(), results};
    if (run.label.size() == 16 && parse_whole<std::uint64_t>(run.label, 16)) {  // an id
      run.label = concat(run.config.model.name, " ", run.label.substr(0, 8));
    }
    const bool has_model = state == RunState::kFinished && !is_restored(trained) &&
                           std::filesystem::exists(trained.checkpoint());
    if (!has_model && !is_trained(run_id(run.config), training_id(run.config), results)) {
      throw UserError(concat(trained.path.string(),
                             is_complete(state)
                                 ? ": has no model, because it was restored without one or its "
                                   "checkpoint was deleted; delete the folder, and the sweep that "
                                   "it belongs to trains it"
                                 : ": is not trained to its end; the sweep that it belongs to "
                                   "continues it"));
    }
    return run;
  }

  // Weights that were trained elsewhere, as a run that starts from them and trains no step.
  AskedRun asked_weights(const fs::path& name) {
    const auto weights = read_weights(name);
    auto tree = weights.config;
    for (const char* key : {"evaluate", "stages", "init_from", "train"}) tree.erase(key);
    tree.set_path("train.steps", config::Value(0));
    tree.set_path("init_from.path", config::Value(weights.file.string()));
    return {with_question(std::move(tree)), weights.file.filename().string(), results_};
  }

  const Question& question_;
  fs::path results_;
  config::Value asked_;
  Asked found_;
};

// As many whole characters as fit into so many bytes.
std::string_view beginning(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto length = std::max<std::size_t>(1, utf8_length(text.substr(end)));
    if (end + length > most) break;
    end += length;
  }
  return text.substr(0, end);
}

// A name for a folder of what was asked of these runs and files: not a path, and not too long.
std::string folder_name(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 100;
  std::vector<std::string> last;
  bool has_path = false;
  for (const auto& name : names) {
    const auto path = fs::absolute(name).lexically_normal();
    last.push_back((path.has_filename() ? path : path.parent_path()).filename().string());
    has_path = has_path || last.back() != name;
  }
  const auto all = join(last, ",");
  if (!has_path && all.size() <= kLongest) return all;
  const auto mark = sha256_hex(join(names, ",")).substr(0, 6);
  return concat(all.size() <= kLongest
                    ? all
                    : concat(beginning(last.front(), kLongest), ",and-", last.size() - 1, "-more"),
                "-", mark);
}

Asked study_of_models(const std::vector<std::string>& names, const Question& question,
                      const fs::path& results) {
  if (!question.others.empty()) {
    throw UserError(concat(question.others.front(),
                           ": a run has its configuration; expected evaluate=…, an experiment "
                           "before it, or --on task=… to ask the run on another task"));
  }
  NamedModels models(question, results);
  for (const auto& name : names) models.add(name);
  auto found = models.found();
  found.study.name = folder_name(names);
  return found;
}

}  // namespace

// The grammar wants keys without quotes.
std::string override_text(const Json& value) {
  std::vector<std::string> parts;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      parts.push_back(concat(key, ": ", override_text(item)));
    }
    return concat("{", join(parts), "}");
  }
  if (value.is_array()) {
    for (const auto& item : value) parts.push_back(override_text(item));
    return concat("[", join(parts), "]");
  }
  if (!value.is_string()) return value.dump();
  return config::in_quotes(value.get<std::string>(), '\'');
}

int unanswered(const Study& study, const sweep::Run& run) {
  if (is_complete(state_of(run.directory))) return 0;
  const auto& config = study.config_of(run);
  auto holders = runs_with_training(study.results, run.training);
  holders.push_back(run.directory);
  int missing = 0;
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto id = answer_id(config, i);
    missing += std::ranges::none_of(
        holders, [&](const RunDirectory& holder) { return read_answer(holder, id).has_value(); });
  }
  return missing;
}

Asked find_asked(const std::vector<std::string>& words, const std::string& results,
                 const std::vector<std::string>& on, const std::vector<std::int64_t>& at) {
  std::vector<std::string> names, overrides;
  for (const auto& word : words) {
    (is_override(word) ? overrides : names).push_back(word);
  }
  if (names.empty()) {
    throw UserError(concat("'", overrides.front(),
                           "' is an override; expected an experiment or runs before it"));
  }
  const auto experiments = all_experiments();
  const bool of_experiment = is_among(names.front(), experiments);
  if (of_experiment && names.size() > 1) {
    throw UserError(concat(names.front(), " is an experiment; expected it alone, or runs alone"));
  }
  if (!of_experiment && std::ranges::none_of(names, [&](const auto& name) {
        return fs::exists(RunDirectory{name}.config()) || is_weights(name) ||
               name.find_first_not_of("0123456789abcdef") == name.npos;
      })) {
    throw UserError(concat("'", names.front(), "' is not a run, an experiment or a file of weights",
                           suggestion(names.front(), experiments)));
  }
  // --results DIR and results=DIR are the same, for experiments and for runs.
  constexpr std::string_view kResults = "results=";
  if (!results.empty()) {
    overrides.push_back(
        concat(kResults, of_experiment ? config::in_quotes(results, '\'') : results));
  }
  if (of_experiment) return study_of_experiment(names.front(), Question::of(overrides, on, at));
  auto place = find_project() / "results";
  std::erase_if(overrides, [&](const std::string& word) {
    if (!word.starts_with(kResults)) return false;
    place = fs::absolute(word.substr(kResults.size())).lexically_normal();
    return true;
  });
  return study_of_models(names, Question::of(overrides, on, at), place);
}

}  // namespace difflab::study
