#include "config/grid/preset.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/grid/file_words.h"
#include "util/text.h"

namespace difflab::config {
namespace {

// The folder of its results gets this name, perhaps with seven more characters.
bool is_folder_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), [](unsigned char character) {
           return character < ' ' || character == 0x7f || character == '/';
         });
}

bool has_default(const Document& experiment) {
  const Value* presets = experiment.root.find("presets");
  return presets && presets->find(kDefaultPreset);
}

// Whether all that it sets was written in suites, none of it in an experiment that this one builds
// on, or on the command line.
bool is_of_suites(const Value& preset) {
  if (preset.entries().empty()) {
    const std::filesystem::path file = preset.source.file;
    return file.parent_path().filename() == "suite";
  }
  return std::all_of(preset.entries().begin(), preset.entries().end(),
                     [](const Value::Entry& entry) { return is_of_suites(entry.value); });
}

// The key of the sweep that this file sets, and a preset of a file that it builds on would set,
// too: what the file is about would not be run. Fewer seeds are meant.
std::optional<std::pair<std::string, const Value*>> replaced_axis(const Value& preset,
                                                                  const Document& experiment) {
  for (const auto& [own, mine] : sweep_entries(experiment.root)) {
    if (own == "seed" || own == "repeat") continue;
    for (const auto& [key, theirs] : sweep_entries(preset)) {
      const auto& file = theirs->source.file;
      const bool is_other = file != mine->source.file && !file.starts_with("override ");
      if (key == own && is_other && !is_of_suites(*theirs)) return std::pair(key, theirs);
    }
  }
  return std::nullopt;
}

}  // namespace

Preset choose_preset(const Value& tree, const std::optional<Override>& asked,
                     const Document* experiment, Problems& problems) {
  const Value* presets = tree.find("presets");
  const Value* named = tree.find("preset");
  const bool is_name =
      !asked || (asked->type == Override::Type::kChange && asked->value && !asked->holds_sweep());
  constexpr const char* kExpected = ": expected the name of one preset, e.g. preset=smoke";
  if (!is_name) problems.add(asked->source, "preset", asked->text + kExpected);
  const Value choice = asked && is_name ? asked->to_value()
                       : named          ? *named
                                        : Value(kDefaultPreset);
  Preset chosen{choice.is_scalar() ? choice.as_string() : "", std::nullopt};
  const Value* preset = presets ? presets->find(chosen.name) : nullptr;
  if (preset && chosen.name == kDefaultPreset && experiment != nullptr &&
      !has_default(*experiment) && is_of_suites(*preset)) {
    return chosen;
  }
  const auto replaced = preset && preset->is_map() && experiment && chosen.name != kDefaultPreset
                            ? replaced_axis(*preset, *experiment)
                            : std::nullopt;
  if (replaced) {
    const auto& [key, theirs] = *replaced;
    problems.add(
        theirs->source, "preset",
        concat("preset ", chosen.name,
               " is of a file that this experiment builds on, and would replace its sweep.", key,
               "; expected another preset, or presets.", chosen.name, ".sweep.", key, " in ",
               experiment->root.source.file));
    return chosen;
  }
  if (preset && !is_folder_name(chosen.name)) {
    problems.add(preset->source, "presets",
                 concat("presets.", chosen.name,
                        " is no name for a folder of results; expected up to 200 bytes without "
                        "slash and control characters"));
  } else if (preset && preset->is_map()) {
    chosen.keys = *preset;
  } else if (preset && !preset->is_null()) {
    problems.add(
        preset->source, "presets",
        concat("presets.", chosen.name, " is ", describe(*preset), "; expected a map of keys"));
  } else if (!choice.is_scalar()) {
    problems.add(asked ? asked->source : choice.source, "preset",
                 concat("preset is ", describe(choice), kExpected));
  } else if (!preset && chosen.name != kDefaultPreset) {
    const auto names = presets ? presets->keys() : std::vector<std::string>();
    problems.add(
        asked ? asked->source : choice.source, "preset",
        concat("there is no preset ", chosen.name,
               names.empty() ? "; this experiment has none" : suggestion(chosen.name, names)));
  }
  return chosen;
}

}  // namespace difflab::config
