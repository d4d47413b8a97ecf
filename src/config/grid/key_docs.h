#pragma once

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "config/grid/axes.h"
#include "config/schema/fields.h"
#include "config/schema/reader.h"
#include "config/schema/traits.h"
#include "config/schema/writer.h"

namespace difflab::config {

/// One key as a person reads about it.
struct KeyDoc {
  std::string path;      ///< "model.layers", "tables[].rows"
  std::string fallback;  ///< its default; "" for maps
  std::string values;    ///< what it may be: "a whole number of at least 1"
  std::string about;
  bool operator==(const KeyDoc&) const = default;
};

/// Keys that belong together: of a struct, or of one kind.
struct KeyTable {
  std::string heading;
  std::vector<KeyDoc> keys;
  std::string choice{};  ///< "evaluate[].kind" for a kind's keys, "" for a struct's
};

namespace detail {

/// Describes the values that a field of this type may have.
template <class T>
std::string values_text(Range range = {}) {
  if constexpr (std::is_same_v<T, Value>) {
    return "anything";
  } else if constexpr (IsOneOf<T>::value) {
    return "one of the kinds below";
  } else if constexpr (IsOptional<T>::value) {
    return concat(values_text<typename T::value_type>(range), ", or null");
  } else if constexpr (IsVector<T>::value) {
    return concat("a list: ", values_text<typename T::value_type>(range));
  } else if constexpr (std::is_enum_v<T>) {
    return join(std::vector<std::string>(kNames<T>.begin(), kNames<T>.end()), " | ");
  } else if constexpr (CustomScalar<T> || CustomTree<T>) {
    return T::expected();
  } else if constexpr (HasFields<T>) {
    return "a map";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return expected_number(std::is_integral_v<T> ? "a whole number" : "a number", range);
  } else {
    return range.low >= 1 ? "text, required" : "text";
  }
}

/// Visits the fields of a struct and describes them in table number `table`. Kinds get tables of
/// their own at the end, once, under the first key that may hold them.
class KeyVisitor {
 public:
  using Seen = std::set<std::type_index>;
  KeyVisitor(std::vector<KeyTable>& tables, Seen& seen, std::string prefix, std::size_t table)
      : tables_(tables), seen_(seen), table_(table), prefix_(std::move(prefix)) {}

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view about, Range range = {}) {
    const std::string path = concat(prefix_, key);
    tables_[table_].keys.push_back(
        {path, fallback(member), values_text<T>(range), std::string(about)});
    describe<T>(path, member);
  }

 private:
  template <class T>
  static std::string fallback(const T& member) {
    if constexpr (HasFields<T> && !CustomScalar<T>) {
      return "";
    } else if constexpr (IsOneOf<T>::value) {
      return std::visit([](const auto& kind) { return std::string(kind.kKind); }, member);
    } else {
      const std::string text = label_of(write<T>(member));
      return text.empty() ? "''" : text;
    }
  }

  /// The keys below a key, if there are any.
  template <class T>
  void describe(const std::string& path, T& member) {
    if constexpr (IsVector<T>::value) {
      typename T::value_type item{};
      describe(concat(path, "[]"), item);
    } else if constexpr (IsOptional<T>::value) {
      typename T::value_type inner{};
      describe(path, inner);
    } else if constexpr (IsOneOf<T>::value) {
      if (!seen_.insert(typeid(T)).second) return;
      for_each_kind<T>([&]<class Kind>(Kind kind) { describe_kind(path, kind); });
    } else if constexpr (HasFields<T> && !CustomScalar<T>) {
      KeyVisitor below(tables_, seen_, concat(path, "."), table_);
      member.visit_fields(below);
    }
  }

  template <class Kind>
  void describe_kind(const std::string& path, Kind& kind) {
    const auto choice = concat(path, ".", kind_key<Kind>());
    tables_.push_back({concat("`", choice, ": ", Kind::kKind, "`, ", Kind::kAbout), {}, choice});
    KeyVisitor below(tables_, seen_, concat(path, "."), tables_.size() - 1);
    kind.visit_fields(below);
  }

  std::vector<KeyTable>& tables_;
  Seen& seen_;
  std::size_t table_;
  std::string prefix_;
};

}  // namespace detail

/// Every key of a struct, and of the kinds that it can hold.
template <HasFields T>
std::vector<KeyTable> describe_keys(std::string heading) {
  std::vector<KeyTable> tables{{std::move(heading), {}}};
  detail::KeyVisitor::Seen seen;
  detail::KeyVisitor visitor(tables, seen, "", 0);
  T().visit_fields(visitor);
  return tables;
}

/// The tables as Markdown, the first heading at level 2, the others at level 3. Keys that all kinds
/// of a choice share come once, before the kinds; a map whose keys stand above refers to them.
std::string to_markdown(const std::vector<KeyTable>& tables);

}  // namespace difflab::config
