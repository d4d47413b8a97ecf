#pragma once

#include <string>
#include <variant>
#include <vector>

#include "config/value/value.h"

namespace difflab::config {

struct Element;

/// A text in quotes; the quotes keep 'null', '1' or 'a,b' a text.
struct Quoted {
  std::string text;
  char quote = '\'';
};

struct Dict {
  struct Entry;  // not a std::pair, which clang wants to know whole here
  std::vector<Entry> entries;
};

struct ChoiceSweep {
  std::vector<Element> choices;
  bool simple = false;  ///< written a,b instead of choice(a,b)
  bool shuffle = false;
  std::vector<std::string> tags;
};

struct RangeSweep {
  Value start, stop, step;  ///< numbers
  bool shuffle = false;
  std::vector<std::string> tags;
};

struct GlobSweep {
  std::vector<std::string> include, exclude;
};

/// The value after the = of an override, or a part of it.
struct Element {
  using Data = std::variant<Value /* a scalar */, Quoted, std::vector<Element>, Dict, ChoiceSweep,
                            RangeSweep, GlobSweep>;
  Data data;

  bool is_sweep() const { return data.index() >= 4; }
};

struct Dict::Entry {
  Element key;  ///< a scalar
  Element value;
};

/// True if the element is a sweep or has one inside, e.g. [range(3)], and so is no single value.
bool contains_sweep(const Element& element);

/// The plain tree of an element. @throws std::logic_error if contains_sweep
Value to_value(const Element& element);

}  // namespace difflab::config
