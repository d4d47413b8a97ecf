#include "cli/asked_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "cli/project.h"
#include "config/compose.h"
#include "config/library.h"
#include "config/reader.h"
#include "config/writer.h"
#include "config/yaml.h"
#include "experiment/identity.h"
#include "experiment/trained_runs.h"
#include "record/answers.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

bool is_evaluate_override(const std::string& word) {
  return word.starts_with("evaluate=") || word.starts_with("evaluate.") ||
         word.starts_with("evaluate[");
}

// What the result of an evaluation is kept under: its name, else its kind.
std::string name_in_result(const config::Value& evaluation) {
  if (evaluation.is_string()) return evaluation.as_string();
  for (const char* key : {"name", "kind"}) {
    const auto* found = evaluation.find(key);
    if (found != nullptr && found->is_string() && !found->as_string().empty()) {
      return found->as_string();
    }
  }
  return "";
}

// The first list with the second's items in place of those of the same name, the others behind.
config::Value joined(config::Value all, const config::Value& more) {
  for (const auto& item : more.items()) {
    auto& items = all.mutable_items();
    const auto same = std::find_if(items.begin(), items.end(), [&](const config::Value& old) {
      return name_in_result(old) == name_in_result(item);
    });
    if (same == items.end()) {
      all.push_back(item);
    } else {
      *same = item;
    }
  }
  return all;
}

bool is_trained(const sweep::Run& run, const fs::path& results) {
  return sweep::is_complete(sweep::state_of(run.directory)) ||
         !runs_with_training(results, run.training, run.id).empty();
}

// The experiment with what is asked now beside what it asks anyway, without the runs that nobody
// has trained.
Study study_of_experiment(const std::string& name, const std::vector<std::string>& overrides) {
  std::vector<std::string> others;
  std::remove_copy_if(overrides.begin(), overrides.end(), std::back_inserter(others),
                      is_evaluate_override);
  if (others.size() < overrides.size()) {
    const auto before = composed_evaluations(name, others);
    const auto now = composed_evaluations(name, overrides);
    const auto differs = [](const std::vector<config::Value>& lists) {
      return std::any_of(lists.begin(), lists.end(),
                         [&](const auto& list) { return !(list == lists.front()); });
    };
    if (differs(before) || differs(now)) {
      throw UserError(concat("evaluate is not the same in all runs of ", name,
                             "; expected one list, or: difflab sweep ", name));
    }
    others.push_back(
        concat("evaluate=", override_text(config::to_json(joined(before.front(), now.front())))));
  }
  auto study = load_study(name, others);
  note_older_trainings(study.results);
  const auto planned = study.points.size();
  std::erase_if(study.points,
                [&](const sweep::Run& run) { return !is_trained(run, study.results); });
  if (study.points.empty()) {
    throw UserError(concat("none of the ", planned, " runs of ", name, " is trained in ",
                           config::shown_path(study.results), "; difflab sweep ", name,
                           " trains them"));
  }
  if (study.points.size() < planned) {
    std::cerr << fmt::format(
        "{} of {} runs are not trained and not asked; difflab sweep {} trains them\n",
        planned - study.points.size(), planned, name);
  }
  return study;
}

// A run that asks what another one is asked now, instead of what that was asked in its sweep.
sweep::Run asked_run(const RunDirectory& trained, const config::Value& evaluations) {
  auto tree = config::load_yaml(trained.config());
  const auto state = sweep::state_of(trained);
  if (state == sweep::PlanState::kDiverged) {
    throw UserError(concat(trained.path.string(), ": diverged, so there is no trained model"));
  }
  const auto* before = tree.find("evaluate");
  tree.set("evaluate", joined(before != nullptr ? *before : config::Value::list(), evaluations));
  const auto config = config::read<RunConfig>(tree);
  const auto full = config::write(config);
  const auto results = results_of(trained);
  if (results.empty()) {
    throw UserError(concat(trained.path.string(), ": does not lie in a folder runs/"));
  }
  const auto id = run_id(config);
  sweep::Run run{.id = id,
                 .axes = {{"run", trained.path.filename().string()}},
                 .config = config::to_json(full),
                 .config_text = config::to_yaml(full),
                 .directory = {results / "runs" / id},
                 .work = config.train.steps,
                 .training = training_id(config)};
  if (!is_trained(run, results)) {
    throw UserError(concat(trained.path.string(),
                           ": is not trained to its end; the sweep that it "
                           "belongs to continues it"));
  }
  return run;
}

Study study_of_runs(const std::vector<std::string>& names,
                    const std::vector<std::string>& overrides, const fs::path& results) {
  std::vector<std::string> asked;
  for (const auto& text : overrides) {
    if (!is_evaluate_override(text)) {
      throw UserError(concat(text,
                             ": a run has its configuration; expected evaluate=…, or an "
                             "experiment before it"));
    }
    asked.push_back(text);
  }
  const auto evaluations =
      asked.empty() ? config::Value::list() : composed_evaluations("", asked).front();
  Study study;
  study.name = join(names, ",");
  study.root = find_project();
  for (const auto& name : names) {
    const auto trained = find_run(name, results);
    const auto place = results_of(trained);
    if (!study.results.empty() && place != study.results) {
      throw UserError(concat(trained.path.string(), ": lies in another results folder than ",
                             names.front(), "; ask them one after the other"));
    }
    study.results = place;
    if (!place.empty()) note_older_trainings(place);
    study.points.push_back(asked_run(trained, evaluations));
  }
  return study;
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
  std::string quoted = "'";
  for (const char byte : value.get<std::string>()) {
    if (byte == '\'') quoted += '\\';
    quoted += byte;
  }
  return quoted + "'";
}

RunConfig config_of(const sweep::Run& run) {
  return config::read<RunConfig>(config::from_json(run.config));
}

int unanswered(const sweep::Run& run, const fs::path& results) {
  if (sweep::is_complete(sweep::state_of(run.directory))) return 0;
  const auto config = config_of(run);
  auto holders = runs_with_training(results, run.training);
  holders.push_back(run.directory);
  int missing = 0;
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto id = answer_id(config, i);
    missing += std::none_of(holders.begin(), holders.end(), [&](const RunDirectory& holder) {
      return read_answer(holder, id).has_value();
    });
  }
  return missing;
}

Asked find_asked(const std::vector<std::string>& words, const std::string& results) {
  std::vector<std::string> names, overrides;
  for (const auto& word : words) {
    (word.find('=') == word.npos ? names : overrides).push_back(word);
  }
  if (names.empty()) {
    throw UserError(concat("'", overrides.front(),
                           "' is an override; expected an experiment or runs before it"));
  }
  const auto experiments =
      config::Library(config::SearchPath::of_project(find_project())).options("experiment");
  const bool of_experiment =
      std::find(experiments.begin(), experiments.end(), names.front()) != experiments.end();
  if (of_experiment && names.size() > 1) {
    throw UserError(concat(names.front(), " is an experiment; expected it alone, or runs alone"));
  }
  if (!of_experiment && std::none_of(names.begin(), names.end(), [&](const auto& name) {
        return fs::exists(RunDirectory{name}.config()) ||
               name.find_first_not_of("0123456789abcdef") == name.npos;
      })) {
    throw UserError(concat("'", names.front(), "' is no run and no experiment",
                           suggestion(names.front(), experiments)));
  }
  const auto place =
      results.empty() ? find_project() / "results" : fs::absolute(results).lexically_normal();
  return of_experiment ? Asked{study_of_experiment(names.front(), overrides), true}
                       : Asked{study_of_runs(names, overrides, place), false};
}

}  // namespace difflab::cli
