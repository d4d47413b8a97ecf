#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "config/grid/axes.h"
#include "config/value/yaml.h"
#include "study/project.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct DiffOptions {
  std::string first, second, results;
  bool json = false;
};

using Entries = std::vector<std::pair<std::string, config::Value>>;

// Every value with its dotted key; lists of scalars are values, lists of maps are walked into.
void flatten(const config::Value& value, const std::string& path, Entries& entries) {
  const auto& items = value.items();
  const bool maps =
      std::any_of(items.begin(), items.end(), [](const auto& item) { return !item.is_scalar(); });
  if (maps) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      flatten(items[i], concat(path, "[", i, "]"), entries);
    }
  } else if (value.is_map() && !value.empty()) {
    for (const auto& entry : value.entries()) {
      flatten(entry.value, path.empty() ? entry.key : concat(path, ".", entry.key), entries);
    }
  } else {
    entries.emplace_back(path, value);
  }
}

const config::Value* find(const Entries& entries, const std::string& key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == entries.end() ? nullptr : &found->second;
}

struct Difference {
  std::string key;
  const config::Value* first;  // null: the run has no such key
  const config::Value* second;
};

std::vector<Difference> differences(const Entries& first, const Entries& second) {
  std::vector<Difference> found;
  for (const auto& [key, value] : first) {
    const auto* other = find(second, key);
    if (other == nullptr || !(*other == value)) found.push_back({key, &value, other});
  }
  for (const auto& [key, value] : second) {
    if (find(first, key) == nullptr) found.push_back({key, nullptr, &value});
  }
  return found;
}

Entries read_entries(const std::string& run, const fs::path& results) {
  Entries entries;
  flatten(config::load_yaml(find_run(run, results).config()), "", entries);
  return entries;
}

void print_differences(const DiffOptions& options) {
  const auto place =
      options.results.empty() ? find_project() / "results" : fs::absolute(options.results);
  const auto first = read_entries(options.first, place),
             second = read_entries(options.second, place);
  const auto found = differences(first, second);
  if (options.json) {
    Json list = Json::array();
    const auto json = [](const auto* value) { return value ? config::to_json(*value) : Json(); };
    for (const auto& [key, a, b] : found) {
      list.push_back({{"key", key}, {"first", json(a)}, {"second", json(b)}});
      list.back()["only_in"] = a == nullptr ? Json(2) : b == nullptr ? Json(1) : Json();
    }
    std::cout << list.dump(1) << '\n';
    return;
  }
  if (found.empty()) std::cout << "the configurations are the same\n";
  const auto text = [](const auto* value) { return value ? config::label_of(*value) : "(no key)"; };
  for (const auto& [key, a, b] : found) {
    std::cout << key << ": " << text(a) << " -> " << text(b) << '\n';
  }
}

}  // namespace

void add_diff_command(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* command =
      app.add_subcommand("diff", "Show what differs between two runs' configurations");
  const char* about = "id of a run, its beginning, or the run's folder";
  command->add_option("first", options->first, about)->required();
  command->add_option("second", options->second, about)->required();
  command->add_option("--results", options->results, "results folder that holds the runs");
  command->add_flag("--json", options->json, "as a list of {key, first, second, only_in}");
  command->callback([options] { print_differences(*options); });
}

}  // namespace difflab::cli
