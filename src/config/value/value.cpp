#include "config/value/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include "util/text.h"

namespace difflab::config {
namespace {

// The next part of a path such as a.b[0].c, cut off its front; brackets count as a part.
std::string_view next_part(std::string_view& path) {
  if (path.starts_with('[')) {
    const auto end = std::min(path.find(']'), path.size());
    const auto part = path.substr(1, end - 1);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (path.starts_with('.')) path.remove_prefix(1);
    return part;
  }
  const auto end = std::min(path.find_first_of(".["), path.size());
  const auto part = path.substr(0, end);
  path.remove_prefix(end < path.size() && path[end] == '.' ? end + 1 : end);
  return part;
}

std::string_view first_of(std::string_view path) { return next_part(path); }

std::optional<std::size_t> index_of(std::string_view text, std::size_t size) {
  const auto index = parse_whole<std::size_t>(text);
  return index && *index < size ? index : std::nullopt;
}

[[noreturn]] void wrong_type(const char* expected) {
  throw std::logic_error(concat("a configuration value is no ", expected));
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::string Source::text() const { return line > 0 ? concat(file, ":", line, ":", column) : file; }

Source Source::of_override(std::string_view text) {
  constexpr std::size_t kLongest = 500;
  auto end = std::min(text.size(), kLongest);
  while (end < text.size() && !starts_character(text[end])) --end;
  return {concat("override ", text.substr(0, end), end < text.size() ? "…" : "")};
}

Value Value::list() { return list({}); }

Value Value::list(List items) {
  Value value;
  value.data_ = std::move(items);
  return value;
}

Value Value::map(Source source) {
  Value value;
  value.data_ = Map{};
  value.source = std::move(source);
  return value;
}

bool Value::is_missing() const {
  const auto* text = std::get_if<std::string>(&data_);
  return text && *text == "???";
}

bool Value::as_bool() const {
  const auto* value = std::get_if<bool>(&data_);
  return value ? *value : (wrong_type("bool"), false);
}

std::int64_t Value::as_int() const {
  const auto* value = std::get_if<std::int64_t>(&data_);
  return value ? *value : (wrong_type("whole number"), 0);
}

double Value::as_double() const {
  if (is_int()) return static_cast<double>(as_int());
  const auto* value = std::get_if<double>(&data_);
  return value ? *value : (wrong_type("number"), 0);
}

std::string Value::as_string() const {
  if (const auto* text = std::get_if<std::string>(&data_)) return *text;
  if (is_null()) return "null";
  if (is_bool()) return as_bool() ? "true" : "false";
  if (is_int()) return std::to_string(as_int());
  if (is_double()) return number_text(as_double());
  wrong_type("scalar");
}

const Value::List& Value::items() const {
  static const List kNone;
  const auto* items = std::get_if<List>(&data_);
  return items ? *items : kNone;
}

const Value::Map& Value::entries() const {
  static const Map kNone;
  const auto* entries = std::get_if<Map>(&data_);
  return entries ? *entries : kNone;
}

Value::List& Value::mutable_items() {
  if (auto* items = std::get_if<List>(&data_)) return *items;
  wrong_type("list");
}

Value::Map& Value::mutable_entries() {
  if (auto* entries = std::get_if<Map>(&data_)) return *entries;
  wrong_type("map");
}

const Value::Entry* Value::find_entry(std::string_view key) const {
  const Map& map = entries();
  const auto entry = std::ranges::find_if(map, [&](auto& e) { return e.key == key; });
  return entry == map.end() ? nullptr : &*entry;
}

const Value* Value::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry ? &entry->value : nullptr;
}

const Value* Value::child(std::string_view name) const {
  if (!is_list()) return find(name);
  const auto index = index_of(name, items().size());
  return index ? &items()[*index] : nullptr;
}

const Value* Value::find_path(std::string_view path) const {
  const Value* value = this;
  while (value && !path.empty()) {
    value = value->child(next_part(path));
  }
  return value;
}

std::vector<std::string> Value::keys() const {
  std::vector<std::string> keys;
  for (const Entry& entry : entries()) keys.push_back(entry.key);
  return keys;
}

bool Value::empty() const {
  return is_null() || (is_list() && items().empty()) || (is_map() && entries().empty());
}

Value& Value::set(std::string_view key, Value value) {
  Source where = value.source;
  return set(key, std::move(value), std::move(where));
}

Value& Value::set(std::string_view key, Value value, Source key_source) {
  if (is_null()) data_ = Map{};
  auto* entry = const_cast<Entry*>(find_entry(key));
  if (entry == nullptr) entry = &mutable_entries().emplace_back(Entry{std::string(key), {}, {}});
  entry->value = std::move(value);
  entry->source = std::move(key_source);
  return entry->value;
}

Value& Value::set_path(std::string_view path, Value value) {
  if (Value* item = is_list() ? find_path(first_of(path)) : nullptr) {
    next_part(path);
    return path.empty() ? *item = std::move(value) : item->set_path(path, std::move(value));
  }
  const std::string_view part = next_part(path);
  if (path.empty()) return set(part, std::move(value));
  Value* child = find(part);
  const bool has_item = child && child->is_list() && child->find_path(first_of(path));
  if (!child || !(child->is_map() || has_item)) {
    child = &set(part, Value::map(value.source));
  }
  return child->set_path(path, std::move(value));
}

bool Value::erase(std::string_view key) {
  return is_map() && std::erase_if(mutable_entries(), [&](auto& e) { return e.key == key; }) > 0;
}

void Value::push_back(Value value) {
  if (is_null()) data_ = List{};
  mutable_items().push_back(std::move(value));
}

bool Value::operator==(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  if (is_double()) return same_number(as_double(), other.as_double());
  return data_ == other.data_;
}

std::vector<std::string> key_parts(std::string_view path) {
  std::vector<std::string> names;
  do names.emplace_back(next_part(path));
  while (!path.empty());
  return names;
}

void merge(Value& base, const Value& over) {
  if (!base.is_map() || !over.is_map()) {
    base = over;
    return;
  }
  for (const Value::Entry& entry : over.entries()) {
    Value* old = base.find(entry.key);
    if (old && entry.value.is_missing()) continue;
    if (old && old->is_map() && entry.value.is_map()) {
      merge(*old, entry.value);
    } else {
      base.set(entry.key, entry.value, entry.source);
    }
  }
}

void set_source(Value& tree, const Source& source) {
  tree.source = source;
  if (tree.is_list()) {
    for (Value& item : tree.mutable_items()) set_source(item, source);
  } else if (tree.is_map()) {
    for (Value::Entry& entry : tree.mutable_entries()) {
      entry.source = source;
      set_source(entry.value, source);
    }
  }
}

std::string describe(const Value& value) {
  if (value.is_list()) return "a list";
  if (value.is_map()) return "a map";
  return value.is_string() ? concat("'", value.as_string(), "'") : value.as_string();
}

Json to_json(const Value& value) {
  if (value.is_null()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_double() && std::isfinite(value.as_double())) return value.as_double();
  if (value.is_list()) {
    Json items = Json::array();
    for (const Value& item : value.items()) items.push_back(to_json(item));
    return items;
  }
  if (!value.is_map()) return value.as_string();
  Json object = Json::object();
  for (const Value::Entry& entry : value.entries()) object[entry.key] = to_json(entry.value);
  return object;
}

Value from_json(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(json.get<std::string>());
  Value value;
  if (json.is_array()) {
    value = Value::list();
    for (const Json& item : json) value.push_back(from_json(item));
  } else if (json.is_object()) {
    value = Value::map();
    for (const auto& [key, item] : json.items()) value.set(key, from_json(item));
  }
  return value;
}

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  // The form that Python's repr prints: digits in full for 1e-4 <= |number| < 1e16.
  const double size = std::abs(number);
  const bool full = size == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[64];
  const auto format = full ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), number, format).ptr;
  std::string text(buffer, end);
  if (full && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string canonical_json(const Value& value) {
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  const double number = value.is_double() ? value.as_double() : 0;
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (value.is_string()) return quoted(value.as_string());
  if (value.is_scalar()) return value.as_string();
  std::vector<std::string> parts;
  for (const Value& item : value.items()) parts.push_back(canonical_json(item));
  if (value.is_list()) return concat("[", join(parts, ","), "]");
  std::map<std::string_view, std::string> sorted;
  for (const Value::Entry& entry : value.entries()) {
    sorted.emplace(entry.key, concat(quoted(entry.key), ":", canonical_json(entry.value)));
  }
  for (auto& entry : sorted) parts.push_back(std::move(entry.second));
  return concat("{", join(parts, ","), "}");
}

std::string first_difference(const Value& one, const Value& other, const std::string& path) {
  if (!one.is_map() || !other.is_map()) return path;
  for (const auto& key : one.keys()) {
    const Value& here = *one.find(key);
    const Value* there = other.find(key);
    if (there == nullptr) return concat(path, ".", key);
    if (canonical_json(here) != canonical_json(*there)) {
      return first_difference(here, *there, concat(path, ".", key));
    }
  }
  return path;
}

}  // namespace difflab::config
