#include "config/interpolate/facts.h"

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxTime = 1000;
constexpr std::string_view kChoices = "runtime.choices";

/// Beginnings of keys that Hydra has and difflab has otherwise, with what to use here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kInstead{{
    {"run.", "runs are written below the folder that the key results names"},
    {"sweep.", "runs are written below the folder that the key results names"},
    {"runtime.output_dir", "runs are written below the folder that the key results names"},
    {"job.override_dirname", "tables and reports label runs by what is swept over"},
    {"job.id", "runs have an id that is made of their configuration"},
    {"launcher", "it is the key launcher here"},
}};

template <class T>
const T& existing(const std::optional<T>& fact, std::string_view key, std::string_view what) {
  if (!fact) throw UserError(concat("${hydra:", key, "} is ", what, ", and there is none here"));
  return *fact;
}

Value chosen_option(const Facts& facts, const std::string& group) {
  const auto found = facts.choices.find(group);
  if (found != facts.choices.end()) return Value(found->second);
  std::vector<std::string> groups;
  for (const auto& entry : facts.choices) groups.push_back(entry.first);
  throw UserError(concat("${hydra:", kChoices, ".", group, "}: no option of ", group, " is chosen",
                         groups.empty() ? "" : suggestion(group, groups)));
}

Value all_choices(const Facts& facts) {
  Value map = Value::map();
  for (const auto& [group, option] : facts.choices) map.set(group, Value(option));
  return map;
}

[[noreturn]] void refuse(const std::string& key) {
  for (const auto& [beginning, instead] : kInstead) {
    if (!key.starts_with(beginning)) continue;
    throw UserError(concat("${hydra:", key, "} does not exist in difflab: ", instead));
  }
  throw UserError(
      concat("${hydra:", key,
             "} does not exist in difflab; there are job.name, job.num, runtime.cwd and "
             "runtime.choices"));
}

}  // namespace

Value now(const Facts& facts, const std::string& pattern) {
  if (!facts.start) throw UserError("${now:…} has no value here");
  std::tm local{};
  localtime_r(&*facts.start, &local);
  // One more character tells an empty result from one that does not fit.
  std::string text(kMaxTime, '\0');
  const std::size_t length =
      std::strftime(text.data(), text.size(), (pattern + ".").c_str(), &local);
  if (length == 0) throw UserError("${now:…} gives too long a text");
  text.resize(length - 1);
  return Value(std::move(text));
}

Value hydra_value(const Facts& facts, const std::string& key) {
  if (key == "job.name") return Value(existing(facts.job_name, key, "the name of an experiment"));
  if (key == "job.num") return Value(existing(facts.job_num, key, "the number of a run"));
  if (key == "runtime.cwd") return Value(std::filesystem::current_path().string());
  if (key == kChoices) return all_choices(facts);
  if (key.starts_with(concat(kChoices, "."))) {
    return chosen_option(facts, key.substr(kChoices.size() + 1));
  }
  refuse(key);
}

bool is_fleeting(const std::string& hydra_key) {
  return hydra_key == "job.num" || hydra_key == "runtime.cwd";
}

}  // namespace difflab::config
