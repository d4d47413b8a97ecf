#include <ctime>

#include "cli/commands.h"
#include "config/compose/trace.h"
#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "config/override/override.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "study/study.h"

namespace difflab::cli {
namespace {

struct ParseOptions {
  std::vector<std::string> overrides;
  bool json = false, lines = false;
};

Json parsed(const std::string& text) {
  Json answer{{"input", text}, {"ok", true}};
  try {
    answer.update(config::to_json(config::parse_override(text)));
  } catch (const UserError& error) {
    answer["ok"] = false;
    answer["error"] = error.what();
  }
  return answer;
}

void print_text(const Json& answer) {
  std::cout << answer["input"].get<std::string>() << '\n';
  for (const auto& [key, value] : answer.items()) {
    if (key == "input" || key == "ok" || value.is_null()) continue;
    std::cout << "  " << key << ": "
              << (value.is_string() ? value.get<std::string>() : dump_readable(value, -1)) << '\n';
  }
}

void print_all(const ParseOptions& options) {
  Json answers = Json::array();
  std::string problems;
  for (const auto& text : options.overrides) {
    answers.push_back(parsed(text));
    if (answers.back()["ok"].get<bool>()) continue;
    problems += concat(problems.empty() ? "" : "\n", answers.back()["error"].get<std::string>());
  }
  if (options.json) {
    std::cout << dump_readable(answers, 1) << '\n';
    return;
  }
  if (!problems.empty()) throw UserError(problems);
  for (const Json& answer : answers) print_text(answer);
}

/// Each answer is written at once, so that a program may ask one question after another.
void answer_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << dump_readable(parsed(line), -1) << std::endl;
  }
}

// `difflab config parse`, a command of `difflab config`.
void add_config_parse_command(CLI::App& config_command) {
  const auto options = std::make_shared<ParseOptions>();
  CLI::App* command =
      config_command.add_subcommand("parse", "Show how overrides are understood, one by one");
  auto* overrides = command->add_option("override", options->overrides, "e.g. seed=range(3)");
  command->add_flag("--json", options->json,
                    "as JSON; what cannot be parsed is an entry with ok: false");
  auto* lines = command->add_flag("--lines", options->lines,
                                  "read overrides from standard input, one per line, and answer "
                                  "each with one line of JSON");
  lines->excludes(overrides);
  command->callback([options] {
    if (options->lines) return answer_lines();
    if (options->overrides.empty()) throw UserError("expected overrides, e.g. seed=range(3)");
    print_all(*options);
  });
}

/// A composed configuration with the way it came about, to be looked at.
struct ConfigView {
  config::Value values = {};  ///< every key with the value that counts
  config::Value sources =
      {};  ///< the composed tree, resolved as far as it can be; knows its sources
  config::Trace trace;
  std::string tuned_key = {};  ///< whose value a tuning has found; empty: none
  std::string tuned_in = {};   ///< says so, and where
};

bool is_hydras(const std::string& override_text) {
  const auto begin = std::min(override_text.find_first_not_of("+~"), override_text.size());
  const auto key = std::string_view(override_text).substr(begin);
  return key.starts_with("hydra.") || key.starts_with("hydra/");
}

bool holds_interpolation(const config::Value& value) {
  return value.is_string() && config::has_interpolation(value.as_string());
}

std::string around(const std::string& path) {
  const auto end = path.find_last_of(".[");
  return end == path.npos ? "" : path.substr(0, end);
}

// A value may be written shorter than it is: `launcher: local` gives launcher.kind.
const std::vector<config::Step>& steps_of(const config::Trace& trace, std::string path) {
  while (trace.steps(path).empty() && !path.empty()) path = around(path);
  return trace.steps(path);
}

Json why_one(const ConfigView& view, const std::string& path) {
  const config::Value& value = *view.values.find_path(path);
  Json answer{{"key", path}, {"value", config::to_json(value)}};
  const auto& steps = steps_of(view.trace, path);
  const bool tuned = path == view.tuned_key;
  const bool written = !tuned && !steps.empty() && !steps.back().removed;
  answer["from"] = tuned     ? Json(view.tuned_in)
                   : written ? Json(steps.back().source.text())
                             : Json();
  if (written) {
    if (!(steps.back().value == value)) answer["written"] = config::to_json(steps.back().value);
    const auto* target = view.sources.find_path(path);
    if (target && target->source != steps.back().source && !target->source.text().empty() &&
        holds_interpolation(steps.back().value)) {
      answer["refers_to"] = target->source.text();
    }
    const auto chosen = steps.back().chosen.text();
    if (!chosen.empty()) answer["chosen_by"] = chosen;
  }
  answer["over"] = Json::array();
  for (auto step = steps.rbegin() + (written ? 1 : 0); step < steps.rend(); ++step) {
    answer["over"].push_back({{"value", step->removed ? Json() : config::to_json(step->value)},
                              {"from", step->source.text()},
                              {"removed", step->removed}});
  }
  return answer;
}

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Composes a tree written for Hydra, without our schema, as Hydra does: keys under `hydra` are
// Hydra's own and left out. @throws UserError with all problems
ConfigView compose_foreign(const std::vector<fs::path>& folders, const std::string& config,
                           std::vector<std::string> overrides, bool resolve,
                           const std::string& followed_key) {
  ConfigView view{.trace = config::Trace(followed_key)};
  for (const auto& folder : folders) {
    if (!fs::is_directory(folder)) throw UserError(concat("there is no folder ", folder.string()));
  }
  config::Library library({folders, {}});
  config::Problems problems;
  std::erase_if(overrides, is_hydras);
  auto composition =
      config::compose(library, config, config::parse_overrides(overrides, problems), problems,
                      {.observer = view.trace.observer(), .foreign = true});
  const config::Facts facts{.start = std::time(nullptr),
                            .choices = config::choices_of(composition.defaults)};
  view.values = std::move(composition.tree);
  view.values.erase("hydra");
  problems.throw_if_any();
  view.sources = view.values;
  config::Problems unresolved;
  config::interpolate(view.sources, unresolved, facts);
  if (!resolve) return view;
  unresolved.throw_if_any();
  view.values = view.sources;
  return view;
}

// The part of the tree at `key`, "" for all of it. @throws UserError with the nearest right name
const config::Value& part_of(const config::Value& tree, const std::string& key) {
  if (const auto* part = tree.find_path(key)) return *part;
  std::string missing = key;  // up to its first part that does not exist
  while (!tree.find_path(around(missing))) missing = around(missing);
  const auto name = missing.substr(std::min(missing.find_last_of(".[") + 1, missing.size()));
  const auto& parent = *tree.find_path(around(missing));
  throw UserError(concat("there is no key ", missing,
                         parent.entries().empty() ? "" : suggestion(name, parent.keys())));
}

// Where each value at or below `key` came from and what it overrode.
Json why(const ConfigView& view, const std::string& key) {
  Json answers = Json::array();
  for (const auto& choice : view.trace.defaults()) {
    if (choice.group != key) continue;
    answers.push_back({{"key", key},
                       {"value", choice.option},
                       {"from", choice.source.text()},
                       {"over", Json::array()}});
    if (!choice.replaced) continue;
    answers.back()["over"].push_back({{"value", choice.replaced->first},
                                      {"from", choice.replaced->second.text()},
                                      {"removed", false}});
  }
  for (const auto& path : config::leaves(part_of(view.values, key), key)) {
    answers.push_back(why_one(view, path));
  }
  return answers;
}

std::string why_text(const Json& answers) {
  std::string text;
  for (const Json& answer : answers) {
    text += concat(answer["key"].get<std::string>(), ": ", shown(answer["value"]), "\n");
    if (answer["from"].is_null()) {
      text += "  the program's default\n";
    } else {
      text += concat("  from ", answer["from"].get<std::string>());
      if (answer.contains("written")) text += concat(": ", shown(answer["written"]));
      if (answer.contains("refers_to"))
        text += concat(", which is at ", shown(answer["refers_to"]));
      if (answer.contains("chosen_by"))
        text += concat(" (chosen by ", shown(answer["chosen_by"]), ")");
      text += '\n';
    }
    for (const Json& old : answer["over"]) {
      const bool removed = old["removed"].get<bool>();
      text += concat("  over ", shown(old["from"]), ": ",
                     removed ? std::string("removed") : shown(old["value"]), "\n");
    }
  }
  return text;
}

struct ConfigOptions {
  std::vector<std::string> arguments;
  std::size_t run = 0;
  std::vector<std::string> folders;
  std::string config_name = "config";
  std::string package, why;
  bool resolve = false, unresolved = false, json = false;
  bool defaults_tree = false, search_path = false;
};

void print_json(const Json& json) { std::cout << json.dump(1) << '\n'; }

void print_tree(const config::Value& tree, bool json) {
  json ? print_json(config::to_json(tree)) : void(std::cout << config::to_yaml(tree));
}

/// Answers what can be answered about any composition. False if it was asked for nothing of that.
bool explain(const ConfigView& view, const ConfigOptions& options) {
  if (!options.why.empty()) {
    const Json answers = why(view, options.why);
    options.json ? print_json(answers) : void(std::cout << why_text(answers));
  } else if (options.defaults_tree) {
    const auto& defaults = view.trace.defaults();
    options.json ? print_json(config::to_json(defaults))
                 : void(std::cout << config::defaults_tree(defaults));
  } else if (!options.package.empty()) {
    print_tree(part_of(view.values, options.package), options.json);
  } else {
    return false;
  }
  return true;
}

// The folders in which configs are looked up, first place first.
void print_search_path(const config::SearchPath& path, bool json) {
  Json list = Json::array();
  std::string text;
  const auto add = [&](const Json& group, const std::string& folder, const std::string& remark) {
    list.push_back({{"group", group}, {"folder", folder}});
    text += concat(folder, remark, "\n");
  };
  for (const auto& [group, folder] : path.groups) {
    add(group, folder.string(), concat("  (group ", group, ")"));
  }
  for (const auto& folder : path.directories) add(nullptr, folder.string(), "");
  json ? print_json(list) : void(std::cout << text);
}

std::string first_part(const std::string& key) { return key.substr(0, key.find_first_of(".[")); }

void print_foreign(const ConfigOptions& options) {
  std::vector<std::filesystem::path> folders(options.folders.begin(), options.folders.end());
  if (options.search_path) return print_search_path({folders, {}}, options.json);
  std::string name = options.config_name;
  if (name.ends_with(".yaml")) name.resize(name.size() - 5);
  const auto view =
      compose_foreign(folders, name, options.arguments, options.resolve, first_part(options.why));
  if (!explain(view, options)) print_tree(view.values, options.json);
}

void print_study(const Study& study, const ConfigOptions& options) {
  const auto& run = study.points[options.run];
  if (options.json) {
    return print_json({{"experiment", study.name},
                       {"preset", study.preset},
                       {"settings", config::to_json(config::write(study.config))},
                       {"run",
                        {{"index", options.run},
                         {"of", study.points.size()},
                         {"id", run.id},
                         {"label", run.label()},
                         {"config", run.config}}}});
  }
  std::cout << fmt::format("# {} (preset {}): what the experiment reports\n",
                           study.name.empty() ? "the baseline" : study.name, study.preset)
            << config::to_yaml(config::write(study.config))
            << fmt::format("\n# run {} of {}, {}: {}\n", options.run, study.points.size(), run.id,
                           run.label())
            << run.config_text;
}

void print_own(const ConfigOptions& options) {
  if (options.search_path) return print_search_path(search_path(), options.json);
  const auto arguments = StudyArguments::of(options.arguments);
  ConfigView view{.trace = config::Trace(first_part(options.why))};
  const auto study =
      load_study(arguments.name, arguments.overrides, {options.run, view.trace.observer()});
  if (options.run >= study.points.size()) {
    throw UserError(
        fmt::format("--run is {}; expected 0 to {}", options.run, study.points.size() - 1));
  }
  view.sources = view.trace.tree();
  config::Problems none;  // the study was resolved before
  config::interpolate(view.sources, none);
  view.values = config::write(study.config);
  merge(view.values, config::from_json(study.points[options.run].config));
  if (options.unresolved) view.values = view.trace.tree();
  if (study.tuned && !options.unresolved) {
    view.tuned_key = study.tuned->key;
    view.tuned_in = concat("tune, whose runs are in ", config::shown_path(study.tuning->output));
  }
  if (explain(view, options)) return;
  options.unresolved ? print_tree(view.values, options.json) : print_study(study, options);
}

}  // namespace

StudyArguments StudyArguments::of(std::vector<std::string> words) {
  if (words.empty() || is_override(words.front())) return {"", std::move(words)};
  return {words.front(), {words.begin() + 1, words.end()}};
}

void add_config_command(CLI::App& app) {
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = app.add_subcommand(
      "config", "Print the composed configuration of an experiment, or where its values come from");
  command->add_option("experiment", options->arguments,
                      "a file in experiments/ (none: the baseline), then overrides");
  auto* run = command->add_option("--run", options->run, "which run of the sweep, from 0")
                  ->capture_default_str();
  auto* resolve = command->add_flag("--resolve", options->resolve,
                                    "with ${...} resolved: always so, except with --config-dir");
  command
      ->add_flag("--unresolved", options->unresolved, "as composed, with ${...} left as they are")
      ->excludes(resolve);
  command->add_flag("--json", options->json, "as JSON");
  auto* package = command->add_option("-p,--package", options->package, "only what is at this key");
  auto* why = command->add_option("--why", options->why,
                                  "where the values at this key come from, and what they overrode");
  auto* tree = command->add_flag("--defaults-tree", options->defaults_tree,
                                 "the files it is composed of, and who asked for each");
  auto* path =
      command->add_flag("--search-path", options->search_path, "where files are looked up");
  for (auto* a : {package, why, tree, path}) {
    for (auto* b : {package, why, tree, path}) {
      if (a != b) a->excludes(b);
    }
  }
  auto* folder = command
                     ->add_option("--config-dir", options->folders,
                                  "compose a Hydra tree from this folder, without our schema; "
                                  "all arguments are overrides")
                     ->allow_extra_args(false)
                     ->excludes(run);
  command->add_option("--config-name", options->config_name, "the file in it to begin with")
      ->capture_default_str()
      ->needs(folder);
  add_config_parse_command(*command);
  command->callback([options, command] {
    if (!command->get_subcommands().empty()) return;  // parse has answered
    options->folders.empty() ? print_own(*options) : print_foreign(*options);
  });
}

}  // namespace difflab::cli
