#pragma once
// Random values for any config struct, found by walking its fields.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/schema/reader.h"
#include "config/schema/traits.h"

namespace difflab::testing {

class RandomConfig {
 public:
  explicit RandomConfig(std::uint64_t seed) : bits_(seed) {}

  /// A struct with every field set within its range. Rules across fields may be broken.
  template <config::HasFields T>
  T make() {
    T config;
    config.visit_fields(*this);
    return config;
  }

  template <class T>
  void operator()(std::string_view, T& member, std::string_view, config::Range range = {}) {
    member = value<T>(range);
  }

 private:
  std::size_t below(std::size_t count) { return bits_() % count; }
  bool chance() { return below(2) == 0; }

  template <class T>
  T value(config::Range range) {
    if constexpr (config::IsOneOf<T>::value) {
      return kind(std::type_identity<T>{});
    } else if constexpr (config::IsOptional<T>::value) {
      if (chance()) return std::nullopt;
      return value<typename T::value_type>(range);
    } else if constexpr (config::IsVector<T>::value) {
      T items;
      for (std::size_t n = below(4); n > 0; --n) {
        items.push_back(value<typename T::value_type>(range));
      }
      return items;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(below(config::kNames<T>.size()));
    } else if constexpr (config::CustomScalar<T>) {
      return custom<T>();
    } else if constexpr (config::CustomTree<T>) {
      T holder;
      holder.config = value<decltype(holder.config)>({});
      return holder;
    } else if constexpr (config::HasFields<T>) {
      return make<T>();
    } else if constexpr (std::is_same_v<T, bool>) {
      return chance();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(whole(range));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(fraction(range));
    } else {
      static_assert(std::is_same_v<T, std::string>, "a field of this type has no random value");
      return text();
    }
  }

  template <class... Kinds>
  std::variant<Kinds...> kind(std::type_identity<std::variant<Kinds...>>) {
    std::variant<Kinds...> config;
    const std::size_t chosen = below(sizeof...(Kinds));
    std::size_t i = 0;
    ((i++ == chosen ? void(config = make<Kinds>()) : void()), ...);
    return config;
  }

  /// A type with a spelling of its own: whatever it takes of many trees.
  template <class T>
  T custom() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (auto taken = T::from_value(tree(2))) return *std::move(taken);
    }
    return T{};
  }

  config::Value tree(int depth) {
    switch (below(depth > 0 ? 6 : 4)) {
      case 0:
        return config::Value(below(1000));
      case 1:
        return config::Value(fraction({.low = -10, .high = 10}));
      case 2:
        return config::Value(words()[below(words().size())]);
      case 3:
        return config::Value(text());
      case 4: {
        config::Value list = config::Value::list();
        for (std::size_t n = below(4); n > 0; --n) list.push_back(tree(depth - 1));
        return list;
      }
      default: {
        config::Value map = config::Value::map();
        for (std::size_t n = below(4); n > 0; --n) map.set(text(), tree(depth - 1));
        return map;
      }
    }
  }

  std::int64_t whole(config::Range range) {
    // Sums and small multiples of sizes stay whole numbers of 64 bits.
    constexpr double kMost = 1e12;
    const double low = std::max(std::ceil(range.low), -kMost);
    const double high = std::min(std::floor(range.high), kMost);
    if (below(8) == 0) return static_cast<std::int64_t>(chance() ? low : high);
    const double width = chance() ? std::min(high - low, 1000.0) : high - low;
    return static_cast<std::int64_t>(std::clamp(std::floor(low + unit() * width), low, high));
  }

  double fraction(config::Range range) {
    if (std::isinf(range.low) && std::isinf(range.high)) {
      return (chance() ? -1 : 1) * std::pow(10.0, -300 + 600 * unit());
    }
    if (std::isinf(range.high)) return range.low + std::pow(10.0, -20 + 40 * unit());
    if (std::isinf(range.low)) return range.high - std::pow(10.0, -20 + 40 * unit());
    if (below(8) == 0) return chance() ? range.low : range.high;
    return std::clamp(range.low + unit() * (range.high - range.low), range.low, range.high);
  }

  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  /// Words that YAML or Hydra could take for something else.
  static const std::vector<std::string>& words() {
    static const std::vector<std::string> kWords{
        "schedule", "null",       "~",    "true", "no",  "1",    "1.5",
        "1e3",      "0x1F",       ".inf", "-",    "- a", ": b",  "a: b",
        "#",        " #c",        "'",    "\"",   "\\",  "\n",   "\t",
        " ",        "é",          "日本", "${a}", "[1]", "{a:}", "&x",
        "*x",       "!t",         "|",    ">",    "%",   "@",    "`",
        "?",        "? a",        "---",  "...",  ",",   "a\nb", "\x01",
        "\x7f",     "2024-01-01", "1:30", "<<",   "=",   "",     "path/to file.txt"};
    return kWords;
  }

  /// Any text but the one that stands for a missing value.
  std::string text() {
    std::string result;
    for (std::size_t n = below(4); n > 0; --n) result += words()[below(words().size())];
    return result == "???" ? "" : result;
  }

  std::mt19937_64 bits_;
};

}  // namespace difflab::testing
