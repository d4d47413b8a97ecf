#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/value/value.h"

namespace difflab::config {

struct Interpolation;

/// A text with interpolations in it: literal parts and ${…} in turn.
struct Template {
  using Part = std::variant<std::string, std::shared_ptr<const Interpolation>>;
  std::vector<Part> parts;
};

/// An argument of a resolver: a typed scalar, a text with interpolations, a list or a map.
struct Argument {
  struct Entry;
  using Map = std::vector<Entry>;
  std::variant<Value, Template, std::vector<Argument>, Map> data;
};

struct Argument::Entry {
  std::string key;
  Argument value;
};

/// ${a.b}, ${.x} or ${name:argument,…}.
struct Interpolation {
  std::string text;            ///< as written
  std::size_t dots = 0;        ///< leading dots: 1 is the map around the value
  std::vector<Template> path;  ///< the keys, unless it is a resolver
  std::string resolver;        ///< "oc.env"; empty for a path
  std::vector<Argument> arguments;
};

/// True if a text has a ${ in it, and so is a template.
inline bool has_interpolation(std::string_view text) {
  return text.find("${") != std::string_view::npos;
}

/// Parses a text as OmegaConf's grammar does; \${ is a literal ${.
/// @throws UserError saying what is wrong, e.g. "${a has no closing }"
Template parse_template(std::string_view text);

}  // namespace difflab::config
