#pragma once

#include <string>
#include <variant>
#include <vector>

#include "config/value/problems.h"
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

/// One dimension of a sweep: a key and the values it takes, in order. Each value keeps its source.
struct Axis {
  std::string key;            ///< "seed", "train.lr", or a config group such as "model"
  bool group = false;         ///< the values are options of a config group
  bool appended = false;      ///< the group was not chosen before: +group=a,b
  std::vector<Value> values;  ///< at least one
  Source source;              ///< of the key
};

/// The values that a sweep stands for, in order; an element that is no sweep stands for itself.
/// @param options what glob() chooses from, the options of the key's config group if it is one
/// @throws UserError for a sweep inside a sweep, an endless range
std::vector<Element> expand_sweep(const Element& sweep,
                                  const std::vector<std::string>& options = {});

/// The values that an entry of `sweep:` stands for: a list, "a,b", "choice(a,b)",
/// "range(start,stop,step)" and the like, or a single value. Whatever is wrong with it goes to
/// `problems`.
std::vector<Value> expand_axis(const std::string& key, const Value& spec,
                               const std::vector<std::string>& options, Problems& problems);

/// The numbers start, start+step, … before stop, without rounding debris: range(0,1,0.1) holds 0.3,
/// not 0.30000000000000004. Whole numbers stay whole if all three are.
/// @throws UserError if step is 0 or there would be more than 100,000 numbers.
std::vector<Value> expand_range(const Value& start, const Value& stop, const Value& step);

}  // namespace difflab::config
