#include "config/interpolate/interpolate.h"

#include <algorithm>
#include <unordered_set>

#include "config/interpolate/interpolation_text.h"
#include "config/interpolate/resolvers.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxChain = 200;
constexpr std::size_t kMaxCopiedNodes = 200'000;
constexpr std::size_t kMaxCopiedLevels = 10 * kMaxLevels;
constexpr std::size_t kMaxText = 1 << 20;

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
  Interpolator(Value& root, Problems& problems, const Facts& facts)
      : root_(root), problems_(problems), facts_(facts) {}

  const std::vector<FleetingUse>& fleeting() const { return uses_; }

  /// Resolves a node and everything below it. False if a part of it could not be.
  bool resolve(Value& node, const Place& place) {
    if (node.is_string()) return resolve_text(node, place);
    if (place.around.size() > kMaxCopiedLevels) {
      throw Failure{concat("refers to a value of more than ", kMaxCopiedLevels, " levels")};
    }
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
      const Value name = evaluate(key, place, source);
      if (!name.is_scalar()) {
        throw Failure{concat("has ", interpolation.text, ", where a key is ", describe(name),
                             "; expected a name")};
      }
      keys.push_back(name.as_string());
    }
    std::string problem;
    const Value* value = look_up(keys, interpolation.dots, place, problem);
    if (!value) throw Failure{concat("refers to ", interpolation.text, ", but ", problem)};
    if (value->is_missing()) {
      throw Failure{concat("refers to ", interpolation.text, ", which is ??? and must be given")};
    }
    return *value;
  }

  /// The resolved value at a path, or null and why not. Without `whole` its parts may be
  /// unresolved.
  const Value* look_up(const std::vector<std::string>& keys, std::size_t dots, const Place& place,
                       std::string& problem, bool whole = true) {
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
      if (fleeting_.contains(node)) note_fleeting();
      Value* child = node->child(key);
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
    if ((whole || node->is_string()) && !resolve(*node, here)) throw Failure{};
    if (holds_fleeting(*node)) note_fleeting();
    return node;
  }

  /// Whatever is being resolved depends on something fleeting.
  void note_fleeting() {
    for (const auto& [node, path] : active_) {
      if (fleeting_.insert(node).second) uses_.push_back({node->source, path});
    }
  }

  bool holds_fleeting(const Value& node) const {
    if (fleeting_.empty()) return false;
    if (fleeting_.contains(&node)) return true;
    const auto holds = [&](const Value& value) { return holds_fleeting(value); };
    return std::any_of(node.items().begin(), node.items().end(), holds) ||
           std::any_of(node.entries().begin(), node.entries().end(),
                       [&](const Value::Entry& entry) { return holds(entry.value); });
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
    } else if (const auto* entries = std::get_if<Argument::Map>(&argument.data)) {
      value = Value::map();
      for (const auto& [key, item] : *entries) value.set(key, evaluate(item, place, source));
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
    const auto look = [&](std::string_view path, bool whole, std::string& problem) {
      const auto dots = std::min(path.find_first_not_of('.'), path.size());
      path.remove_prefix(dots);
      const auto keys = path.empty() ? std::vector<std::string>() : key_parts(path);
      return look_up(keys, dots, place, problem, whole);
    };
    Value value = config::resolve({.written = interpolation,
                                   .arguments = std::move(arguments),
                                   .facts = facts_,
                                   .look_up = look,
                                   .note_fleeting = [this] { note_fleeting(); }});
    if (value.source.text().empty()) set_source(value, source);
    return value;
  }

  Value& root_;
  Problems& problems_;
  const Facts& facts_;
  std::unordered_set<const Value*> done_;
  std::unordered_set<const Value*> failed_;
  Active active_;
  std::unordered_set<const Value*> fleeting_;
  std::vector<FleetingUse> uses_;
  std::size_t copied_ = 0;
};

}  // namespace

void interpolate(Value& root, Problems& problems, const Facts& facts) {
  interpolate(root, root.keys(), problems, facts);
}

void interpolate(Value& root, const std::vector<std::string>& keys, Problems& problems,
                 const Facts& facts, std::vector<FleetingUse>* fleeting) {
  Interpolator interpolator(root, problems, facts);
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
  if (fleeting) *fleeting = interpolator.fleeting();
}

}  // namespace difflab::config
