#include "cli/inspect/config_view.h"

#include <algorithm>
#include <ctime>

#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "config/override/override.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

const config::Value& part_of(const config::Value& tree, const std::string& key) {
  if (const auto* part = tree.find_path(key)) return *part;
  std::string missing = key;  // up to its first part that does not exist
  while (!tree.find_path(around(missing))) missing = around(missing);
  const auto name = missing.substr(std::min(missing.find_last_of(".[") + 1, missing.size()));
  const auto& parent = *tree.find_path(around(missing));
  throw UserError(concat("there is no key ", missing,
                         parent.entries().empty() ? "" : suggestion(name, parent.keys())));
}

Json why(const ConfigView& view, const std::string& key) {
  Json answers = Json::array();
  for (const auto& choice : view.trace.defaults()) {
    if (choice.group != key) continue;
    Json answer{{"key", key}, {"value", choice.option}};
    answer["from"] = choice.source.text();
    answer["over"] = Json::array();
    if (choice.replaced) {
      answer["over"].push_back({{"value", choice.replaced->first},
                                {"from", choice.replaced->second.text()},
                                {"removed", false}});
    }
    answers.push_back(std::move(answer));
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

}  // namespace difflab::cli
