#include "config/interpolate.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "config/interpolation_text.h"
#include "config/override.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxChain = 200;
constexpr std::size_t kMaxCopiedNodes = 200'000;
constexpr std::size_t kMaxText = 1 << 20;

/// Why a value has no resolution; an empty message if that was reported for another value already.
struct Failure {
  std::string message;
};

/// A node with the containers around it, outermost first, and its name.
struct Place {
  std::vector<Value*> around;
  std::string path;
};

/// How a value reads inside a text: as Python prints it, as in Hydra.
std::string text_of(const Value& value, const Interpolation& interpolation) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  if (value.is_scalar()) return value.as_string();
  throw Failure{concat("has ", interpolation.text, " inside a text, but that is ", describe(value),
                       "; expected a scalar")};
}

std::string child_path(const std::string& path, const std::string& key, bool in_list) {
  if (in_list) return concat(path, "[", key, "]");
  return path.empty() ? key : concat(path, ".", key);
}

class Interpolator {
 public:
  Interpolator(Value& root, Problems& problems) : root_(root), problems_(problems) {}

  /// Resolves a node and everything below it. False if a part of it could not be.
  bool resolve(Value& node, const Place& place) {
    if (node.is_string()) return resolve_text(node, place);
    bool whole = true;
    Place child{place.around, {}};
    child.around.push_back(&node);
    if (node.is_list()) {
      for (std::size_t i = 0; i < node.items().size(); ++i) {
        child.path = child_path(place.path, std::to_string(i), true);
        whole = resolve(node.mutable_items()[i], child) && whole;
      }
    } else if (node.is_map()) {
      for (Value::Entry& entry : node.mutable_entries()) {
        child.path = child_path(place.path, entry.key, false);
        whole = resolve(entry.value, child) && whole;
      }
    }
    return whole;
  }

 private:
  bool resolve_text(Value& node, const Place& place) {
    if (done_.contains(&node)) return !failed_.contains(&node);
    const std::string text = node.as_string();
    if (!has_interpolation(text)) return true;
    if (copied_ > kMaxCopiedNodes) return false;  // reported when it got too large
    const auto circle = std::find_if(active_.begin(), active_.end(),
                                     [&](const auto& active) { return active.first == &node; });
    if (circle != active_.end()) throw Failure{circle_text(circle, place.path)};
    if (active_.size() >= kMaxChain) throw Failure{"is the end of a chain of too many references"};
    active_.emplace_back(&node, place.path);
    bool resolved = true;
    try {
      Value value = evaluate(parse_template(text), place, node.source);
      node = std::move(value);
      mark_done(node);
    } catch (const Failure& failure) {
      resolved = fail(node, place, failure.message);
    } catch (const UserError& error) {
      resolved = fail(node, place, concat("cannot be resolved: ", error.what()));
    }
    active_.pop_back();
    done_.insert(&node);
    return resolved;
  }

  bool fail(Value& node, const Place& place, const std::string& message) {
    failed_.insert(&node);
    if (!message.empty()) {
      problems_.add(node.source, place.path, concat(place.path, " ", message));
    }
    return false;
  }

  using Active = std::vector<std::pair<const Value*, std::string>>;

  std::string circle_text(Active::iterator first, const std::string& path) const {
    std::vector<std::string> names;
    for (auto active = first; active != active_.end(); ++active) names.push_back(active->second);
    names.push_back(path);
    return concat("refers to itself: ", join(names, " -> "));
  }

  /// Values that were copied here are resolved already, even if they hold a literal ${.
  void mark_done(const Value& node) {
    if (++copied_ > kMaxCopiedNodes) {
      throw Failure{concat("makes the configuration larger than ", kMaxCopiedNodes, " values")};
    }
    done_.insert(&node);
    for (const Value& item : node.items()) mark_done(item);
    for (const Value::Entry& entry : node.entries()) mark_done(entry.value);
  }

  /// One interpolation alone keeps its type; anything else becomes a text.
  Value evaluate(const Template& tpl, const Place& place, const Source& source) {
    using Shared = std::shared_ptr<const Interpolation>;
    if (tpl.parts.size() == 1 && std::holds_alternative<Shared>(tpl.parts[0])) {
      return evaluate(*std::get<Shared>(tpl.parts[0]), place, source);
    }
    std::string text;
    for (const Template::Part& part : tpl.parts) {
      if (const auto* literal = std::get_if<std::string>(&part)) {
        text += *literal;
      } else {
        const Interpolation& inner = *std::get<Shared>(part);
        text += text_of(evaluate(inner, place, source), inner);
      }
      if (text.size() > kMaxText) throw Failure{"becomes a text of more than a million bytes"};
    }
    Value value(std::move(text));
    value.source = source;
    return value;
  }

  Value evaluate(const Interpolation& interpolation, const Place& place, const Source& source) {
    if (!interpolation.resolver.empty()) return call(interpolation, place, source);
    std::vector<std::string> keys;
    for (const Template& key : interpolation.path) {
      keys.push_back(evaluate(key, place, source).as_string());
    }
    std::string problem;
    const Value* value = look_up(keys, interpolation.dots, place, problem);
    if (!value) throw Failure{concat("refers to ", interpolation.text, ", but ", problem)};
    if (value->is_missing()) {
      throw Failure{concat("refers to ", interpolation.text, ", which is ??? and must be given")};
    }
    return *value;
  }

  /// The resolved value at a path, or null and why not.
  const Value* look_up(const std::vector<std::string>& keys, std::size_t dots, const Place& place,
                       std::string& problem) {
    Place here;
    Value* node = &root_;
    if (dots > 0) {
      if (dots > place.around.size()) {
        problem = "there are not that many maps around it";
        return nullptr;
      }
      const auto outer = place.around.end() - static_cast<std::ptrdiff_t>(dots);
      here.around.assign(place.around.begin(), outer);
      node = *outer;
      here.path = path_of(place.path, dots);
    }
    for (const std::string& key : keys) {
      if (node->is_string() && !resolve(*node, here)) throw Failure{};
      Value* child = node->is_list() ? node->find_path(concat("[", key, "]")) : node->find(key);
      const std::string name = here.path.empty() ? "the configuration" : here.path;
      if (!child && node->is_map()) {
        problem =
            concat(name, " has no key ", key, node->empty() ? "" : suggestion(key, node->keys()));
        return nullptr;
      }
      if (!child) {
        problem = node->is_list() ? concat(name, " has ", node->items().size(), " items")
                                  : concat(name, " is ", describe(*node), "; expected a map");
        return nullptr;
      }
      here.path = child_path(here.path, key, node->is_list());
      here.around.push_back(node);
      node = child;
    }
    if (!resolve(*node, here)) throw Failure{};
    return node;
  }

  /// The path of the container `levels` above a path.
  static std::string path_of(std::string path, std::size_t levels) {
    for (; levels > 0; --levels) {
      const auto end = path.find_last_of(".[");
      path.resize(end == std::string::npos ? 0 : end);
    }
    return path;
  }

  Value evaluate(const Argument& argument, const Place& place, const Source& source) {
    if (const auto* tpl = std::get_if<Template>(&argument.data)) {
      return evaluate(*tpl, place, source);
    }
    Value value;
    if (const auto* items = std::get_if<std::vector<Argument>>(&argument.data)) {
      value = Value::list();
      for (const Argument& item : *items) value.push_back(evaluate(item, place, source));
    } else {
      value = std::get<Value>(argument.data);
    }
    value.source = source;
    return value;
  }

  Value call(const Interpolation& interpolation, const Place& place, const Source& source) {
    std::vector<Value> arguments;
    for (const Argument& argument : interpolation.arguments) {
      arguments.push_back(evaluate(argument, place, source));
    }
    const std::string& name = interpolation.resolver;
    static const std::vector<std::string> kNames{"oc.env", "oc.select", "oc.decode"};
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      throw Failure{concat("has ", interpolation.text, " with unknown resolver ", name,
                           suggestion(name, kNames))};
    }
    const std::size_t most = name == "oc.decode" ? 1 : 2;
    if (arguments.empty() || arguments.size() > most || !arguments[0].is_scalar()) {
      throw Failure{concat("has ", interpolation.text, "; expected ",
                           most == 1 ? "one argument" : "a name and perhaps a default")};
    }
    Value value = name == "oc.env"      ? environment(arguments)
                  : name == "oc.select" ? select(arguments, place)
                                        : decode(arguments[0]);
    if (value.source.text().empty()) set_source(value, source);
    return value;
  }

  static Value environment(const std::vector<Value>& arguments) {
    const std::string name = arguments[0].as_string();
    if (const char* text = std::getenv(name.c_str())) return Value(text);
    if (arguments.size() == 1) {
      throw Failure{concat("needs the environment variable ", name,
                           ", which is not set; set it or give a default: ${oc.env:", name,
                           ",DEFAULT}")};
    }
    return arguments[1].is_null() || !arguments[1].is_scalar() ? arguments[1]
                                                               : Value(arguments[1].as_string());
  }

  Value select(const std::vector<Value>& arguments, const Place& place) {
    std::string path = arguments[0].as_string(), ignored;
    std::size_t dots = 0;
    while (dots < path.size() && path[dots] == '.') ++dots;
    std::vector<std::string> keys;
    for (std::size_t begin = dots; begin <= path.size() && begin < path.size();) {
      const auto end = std::min(path.find('.', begin), path.size());
      keys.push_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
    const Value* value = look_up(keys, dots, place, ignored);
    if (value && !value->is_missing()) return *value;
    return arguments.size() > 1 ? arguments[1] : Value();
  }

  static Value decode(const Value& argument) {
    if (!argument.is_string()) return argument;
    const Element element = parse_override_value(argument.as_string());
    if (contains_sweep(element)) throw Failure{"decodes a sweep, which is no value"};
    return to_value(element);
  }

  Value& root_;
  Problems& problems_;
  std::unordered_set<const Value*> done_;
  std::unordered_set<const Value*> failed_;
  Active active_;
  std::size_t copied_ = 0;
};

}  // namespace

void interpolate(Value& root, Problems& problems) { interpolate(root, root.keys(), problems); }

void interpolate(Value& root, const std::vector<std::string>& keys, Problems& problems) {
  Interpolator interpolator(root, problems);
  for (const std::string& key : keys) {
    Value* value = root.find(key);
    try {
      if (value) interpolator.resolve(*value, {{&root}, key});
    } catch (const Failure& failure) {
      if (!failure.message.empty()) {
        problems.add(value->source, key, concat(key, " ", failure.message));
      }
    }
  }
}

}  // namespace difflab::config
