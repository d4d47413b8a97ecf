#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "util/json.h"

namespace difflab::config {

/// How many lists and maps may lie inside each other in a file, and how many names a key may have.
/// Far above any real configuration, low enough that nothing recursive gets slow or deep.
constexpr std::size_t kMaxLevels = 100;

/// Where a value was written.
struct Source {
  std::string file;  ///< relative to the working directory, or "override train.steps=x"
  int line = 0;      ///< from 1; 0 where there are no lines, as on a command line
  int column = 0;    ///< from 1, in characters

  /// A very long text is cut.
  static Source of_override(std::string_view text);

  /// "experiments/x.yaml:7:3", "override train.steps=x", or "" for a value nobody wrote.
  std::string text() const;
  bool operator==(const Source&) const = default;
};

/// One node of a configuration: null, bool, whole number, number, text, list or map. Maps keep the
/// order in which their keys were written. Every node knows its source. Two values are equal if
/// their contents are, whatever their sources; 1 and 1.0 differ, two NaN are equal.
class Value {
 public:
  struct Entry;
  using List = std::vector<Value>;
  using Map = std::vector<Entry>;

  Value() = default;  // null
  // Defined below, where Entry is complete; clang wants that.
  explicit Value(bool value);
  template <std::integral T>
  explicit Value(T value);
  explicit Value(double value);
  explicit Value(std::string value);
  explicit Value(std::string_view value);
  explicit Value(const char* value);
  static Value list();
  static Value list(List items);
  static Value map(Source source = {});

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_double() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_map() const { return std::holds_alternative<Map>(data_); }
  bool is_scalar() const { return !is_list() && !is_map(); }
  /// The text "???", which stands for a value that must be given elsewhere.
  bool is_missing() const;

  /// @throws std::logic_error if the value is of another type (ask is_… first).
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  ///< a whole number too
  /// The text of a string; of any other scalar its canonical text: "null", "true", "20", "0.003".
  std::string as_string() const;

  /// The items of a list; none if it is not one.
  const List& items() const;
  /// The entries of a map in order; none if it is not one.
  const Map& entries() const;
  List& mutable_items();   ///< @throws std::logic_error if it is no list
  Map& mutable_entries();  ///< @throws std::logic_error if it is no map

  /// The value of a key, or null if this is no map or has no such key.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Entry* find_entry(std::string_view key) const;
  /// The value of a map's key, or the item of a list that a number names; null if there is none.
  const Value* child(std::string_view name) const;
  Value* child(std::string_view name) {
    return const_cast<Value*>(std::as_const(*this).child(name));
  }
  /// The value at a path such as "train.lr", "tables[0].rows" or "tags.0"; "" is the value itself.
  const Value* find_path(std::string_view path) const;
  Value* find_path(std::string_view path) {
    return const_cast<Value*>(std::as_const(*this).find_path(path));
  }
  std::vector<std::string> keys() const;
  bool empty() const;  ///< null, or a list or map with nothing in it

  /// Sets a key of a map, at its old place or at the end. Null becomes a map first.
  Value& set(std::string_view key, Value value);
  Value& set(std::string_view key, Value value, Source key_source);
  /// Sets the value at a path "a.b.c", making the maps on the way.
  Value& set_path(std::string_view path, Value value);
  /// Removes a key of a map. False if there was none.
  bool erase(std::string_view key);
  /// Appends to a list. Null becomes a list first.
  void push_back(Value value);

  Source source;

  bool operator==(const Value& other) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
};

struct Value::Entry {
  std::string key;
  Value value;
  Source source;  ///< of the key

  bool operator==(const Entry& other) const { return key == other.key && value == other.value; }
};

inline Value::Value(bool value) : data_(value) {}
template <std::integral T>
Value::Value(T value) : data_(static_cast<std::int64_t>(value)) {}
inline Value::Value(double value) : data_(value) {}
inline Value::Value(std::string value) : data_(std::move(value)) {}
inline Value::Value(std::string_view value) : data_(std::string(value)) {}
inline Value::Value(const char* value) : data_(std::string(value)) {}

/// The names of a path: "a", "0" and "b.c" of "a[0][b.c]" and of "a.0[b.c]".
std::vector<std::string> key_parts(std::string_view path);

/// Lays `over` on top of `base`: maps merge key by key, anything else replaces what was there, but
/// ??? replaces nothing.
void merge(Value& base, const Value& over);

/// Gives every node of the tree this source.
void set_source(Value& tree, const Source& source);

/// "a list", "a map", "null" or the quoted scalar, as it reads in a message after "is".
std::string describe(const Value& value);

/// The tree as JSON, keys in order. Infinite and NaN numbers become the texts inf, -inf, nan.
Json to_json(const Value& value);
Value from_json(const Json& json);

/// The shortest text that reads back as the same number and is not a whole one: "0.003", "1.0",
/// "1e-09", "inf", "nan".
std::string number_text(double number);

/// The one text of a tree, the same on every machine: JSON without blanks, keys sorted by their
/// bytes, numbers in their shortest form that reads back exactly, 1.0 distinct from 1, and the bare
/// words Infinity, -Infinity and NaN. Different trees have different texts.
std::string canonical_json(const Value& value);

/// The first key, at or below `path`, at which two trees with this path differ.
std::string first_difference(const Value& one, const Value& other, const std::string& path);

}  // namespace difflab::config
