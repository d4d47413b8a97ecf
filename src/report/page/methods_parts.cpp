#include "report/page/methods_parts.h"

#include <algorithm>
#include <set>

#include "report/data/format.h"
#include "report/data/frame.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Neither in brackets, as in N(0, 1/D), nor in a number, as in 4,000.
bool has_own_comma(const std::string& item) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < item.size(); ++i) {
    if (item[i] == '(') ++depth;
    if (item[i] == ')') --depth;
    if (item[i] == ',' && item[i + 1] == ' ' && depth == 0) return true;
  }
  return false;
}

std::vector<const FrameRun*> with_result(const Frame& frame) {
  std::vector<const FrameRun*> runs;
  for (const FrameRun& run : frame.runs()) {
    if (run.has_result()) runs.push_back(&run);
  }
  return runs;
}

std::vector<const Json*> configs_of(const std::vector<const FrameRun*>& runs) {
  std::vector<const Json*> configs;
  for (const FrameRun* run : runs) configs.push_back(&run->plan.config);
  return configs;
}

}  // namespace

const Json* SharedSettings::get(const std::string& path) {
  const Json* first = nullptr;
  for (const Json* config : configs_) {
    const Json* one = at_path(*config, path);
    if (config == configs_.front()) first = one;
    const bool is_same = first != nullptr && one != nullptr ? *first == *one : first == one;
    if (!is_same) return differs(path);
  }
  return first;
}

const Json* SharedSettings::differs(const std::string& path) {
  if (std::find(differing_.begin(), differing_.end(), path) == differing_.end()) {
    differing_.push_back(path);
  }
  return nullptr;
}

std::optional<double> SharedSettings::number(const std::string& path) {
  const Json* value = get(path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::string SharedSettings::text(const std::string& path) {
  const Json* value = get(path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

Described::Described(const Frame& frame) : runs(with_result(frame)), settings(configs_of(runs)) {}

std::vector<std::string> Described::values(const Frame& frame, const std::string& axis) const {
  std::set<std::string> here;
  for (const FrameRun* run : runs) here.insert(run->axis(axis));
  std::vector<std::string> all = frame.values(axis);
  std::erase_if(all, [&](const std::string& value) { return here.count(value) == 0; });
  return all;
}

std::string counted(double number, const std::string& one, const std::string& many) {
  return concat(format_number(number, 0), " ", number == 1 ? one : many);
}

std::string enumerated(const std::vector<std::string>& items) {
  const bool has_commas = std::any_of(items.begin(), items.end(), has_own_comma);
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_last = i + 1 == items.size();
    out += concat(i == 0 ? "" : has_commas ? "; " : is_last ? " and " : ", ", items[i]);
  }
  return out;
}

std::string sentence(const std::string& text) {
  if (text.empty()) return "";
  return concat(" ", text, text.ends_with('.') ? "" : ".");
}

std::string sequence_lengths(SharedSettings& settings) {
  for (const char* task : {"task", "task.needle"}) {
    const auto length = settings.number(concat(task, ".length"));
    if (!length) continue;
    std::set<double> all{*length};
    if (const Json* more = settings.get(concat(task, ".lengths")); more != nullptr) {
      for (const Json& one : *more) all.insert(one.get<double>());
    }
    std::vector<std::string> texts;
    for (const double one : all) texts.push_back(format_number(one, 0));
    return enumerated(texts);
  }
  return "";
}

}  // namespace difflab::report
