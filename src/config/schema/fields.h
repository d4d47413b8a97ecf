#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace difflab::config {

/// The values a number may take, both ends included; of a text, how many letters it may have.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range given() { return at_least(1); }  ///< a text that must not be empty

/// A config struct lists its fields once:
///
///   template <class Visitor> void visit_fields(Visitor& visit) {
///     visit("steps", steps, "optimiser steps", config::at_least(1));
///     visit("attention", attention, "how tokens exchange information");   // struct or variant
///   }
///   void validate(config::Check& check) const;      // optional: rules across fields
///
/// Reading, checking, writing and documenting are visitors over that list (reader.h, writer.h).
/// A kind (one alternative of a std::variant) also has `static constexpr std::string_view kKind`,
/// the name that `kind:` picks it by, and `kAbout`, one line that `difflab list` shows.

/// A name that a kind had before, and the keys that go without saying under it, as JSON. A kind
/// with such names has `static constexpr std::array<FormerName, N> kFormerNames`; they are read,
/// not written.
struct FormerName {
  std::string_view name, keys = "{}";
};

template <class T>
struct IsOneOf : std::false_type {};
template <class... Kinds>
struct IsOneOf<std::variant<Kinds...>> : std::true_type {};

/// Calls `visit` with every kind of a variant as it is by default.
template <class Variant, class Visit>
void for_each_kind(const Visit& visit) {
  [&]<class... Kinds>(std::type_identity<std::variant<Kinds...>>) {
    (visit(Kinds{}), ...);
  }(std::type_identity<Variant>{});
}

/// Names of an enumeration's values, in the order in which it declares them. Specialise it with
/// `names("first", "second")`.
template <class E>
struct NamesOf;  // defined nowhere: an enumeration without names does not compile
template <class E>
inline constexpr NamesOf<E> kNames;
template <class... Texts>
constexpr std::array<std::string_view, sizeof...(Texts)> names(const Texts&... texts) {
  return {texts...};
}

/// Collects the problems that `validate` reports, to show them all at once with the place of the
/// key they name.
class Check {
 public:
  virtual ~Check() = default;
  /// `key` is relative to the struct being checked, e.g. "needles"; the message is a full clause,
  /// e.g. "is 8 with queries 9; expected queries to be at most needles".
  virtual void problem(std::string_view key, std::string_view message) = 0;
};

/// Passes the problems of a part on, each key behind the part's place, e.g. "evaluate[0].".
class PartCheck final : public Check {
 public:
  PartCheck(Check& whole, std::string place) : whole_(whole), place_(std::move(place)) {}
  void problem(std::string_view key, std::string_view message) override {
    whole_.problem(place_ + std::string(key), message);
  }

 private:
  Check& whole_;
  const std::string place_;
};

}  // namespace difflab::config
