#pragma once

#include <string>
#include <vector>

#include "config/override/override_value.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

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
