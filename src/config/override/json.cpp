#include <array>

#include "config/override/override.h"
#include "config/override/override_value.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

Json element_json(const Element& element);

struct ToJson {
  Json operator()(const Value& value) const {
    return value.is_double() ? Json{{"float", to_json(value)}} : to_json(value);
  }
  Json operator()(const Quoted& quoted) const {
    return {{"quoted", quoted.text}, {"quote", quoted.quote == '"' ? "double" : "single"}};
  }
  Json operator()(const std::vector<Element>& items) const {
    Json list = Json::array();
    for (const Element& item : items) list.push_back(element_json(item));
    return list;
  }
  Json operator()(const Dict& dict) const {
    Json entries = Json::array();
    for (const auto& [key, value] : dict.entries) {
      entries.push_back(Json::array({element_json(key), element_json(value)}));
    }
    return {{"dict", entries}};
  }
  Json operator()(const ChoiceSweep& sweep) const {
    return {{"choice", (*this)(sweep.choices)},
            {"simple", sweep.simple},
            {"shuffle", sweep.shuffle},
            {"tags", Json(sweep.tags)}};
  }
  Json operator()(const RangeSweep& sweep) const {
    return {
        {"range", Json::array({to_json(sweep.start), to_json(sweep.stop), to_json(sweep.step)})},
        {"shuffle", sweep.shuffle},
        {"tags", Json(sweep.tags)}};
  }
  Json operator()(const GlobSweep& glob) const {
    return {{"glob", {{"include", Json(glob.include)}, {"exclude", Json(glob.exclude)}}}};
  }
};

Json element_json(const Element& element) { return std::visit(ToJson{}, element.data); }

const char* type_name(Override::Type type) {
  static constexpr std::array<const char*, 4> kNames{"CHANGE", "ADD", "FORCE_ADD", "DEL"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* value_type_name(const Element& element) {
  if (const auto* choice = std::get_if<ChoiceSweep>(&element.data)) {
    return choice->simple ? "SIMPLE_CHOICE_SWEEP" : "CHOICE_SWEEP";
  }
  if (std::holds_alternative<RangeSweep>(element.data)) return "RANGE_SWEEP";
  if (std::holds_alternative<GlobSweep>(element.data)) return "GLOB_CHOICE_SWEEP";
  return "ELEMENT";
}

/// True if a sweep gives its values in a fixed order: a choice or range without shuffle.
bool has_fixed_values(const Element& element) {
  if (const auto* choice = std::get_if<ChoiceSweep>(&element.data)) return !choice->shuffle;
  const auto* range = std::get_if<RangeSweep>(&element.data);
  return range && !range->shuffle;
}

Json sweep_json(const Element& sweep) {
  try {
    Json list = Json::array();
    for (const Element& value : expand_sweep(sweep)) list.push_back(override_text(value));
    return list;
  } catch (const UserError&) {
    return nullptr;
  }
}

std::string with_backslashes(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\()[]{}:=, \t").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  std::size_t backslashes = 0;
  for (const char c : text) {
    if (c == quote) result.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    result += c;
  }
  return result.append(backslashes, '\\') + quote;
}

std::string override_text(const Element& element) {
  if (const auto* quoted = std::get_if<Quoted>(&element.data))
    return in_quotes(quoted->text, quoted->quote);
  if (const auto* items = std::get_if<std::vector<Element>>(&element.data)) {
    std::vector<std::string> texts;
    for (const Element& item : *items) texts.push_back(override_text(item));
    return "[" + join(texts, ",") + "]";
  }
  if (const auto* dict = std::get_if<Dict>(&element.data)) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : dict->entries) {
      texts.push_back(override_text(key) + ":" + override_text(value));
    }
    return "{" + join(texts, ",") + "}";
  }
  const auto* scalar = std::get_if<Value>(&element.data);
  if (!scalar) throw UserError("a sweep inside a sweep stands for no value");
  if (scalar->is_bool()) return scalar->as_bool() ? "True" : "False";
  return scalar->is_string() ? with_backslashes(scalar->as_string()) : scalar->as_string();
}

Json to_json(const Override& item) {
  Json json{{"type", type_name(item.type)}, {"key", item.key}};
  json["package"] = item.package ? Json(*item.package) : Json();
  json["value_type"] = item.value ? Json(value_type_name(*item.value)) : Json();
  json["value"] = item.value ? element_json(*item.value) : Json();
  if (item.extends) json["extends"] = true;
  if (item.value && has_fixed_values(*item.value)) json["sweep"] = sweep_json(*item.value);
  return json;
}

}  // namespace difflab::config
