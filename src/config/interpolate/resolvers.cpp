#include "config/interpolate/resolvers.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "config/interpolate/expression.h"
#include "config/override/override.h"
#include "config/value/yaml.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Call = ResolverCall;

Value environment(const Call& call) {
  const auto& arguments = call.arguments;
  const std::string name = arguments[0].as_string();
  if (const char* text = std::getenv(name.c_str())) return Value(text);
  if (arguments.size() == 1) {
    throw Failure{concat("needs the environment variable ", name,
                         ", which is not set; set it or give a default: ${oc.env:", name,
                         ",DEFAULT}")};
  }
  const bool is_text = arguments[1].is_scalar() && !arguments[1].is_null();
  return is_text ? Value(arguments[1].as_string()) : arguments[1];
}

Value select(const Call& call) {
  std::string ignored;
  const Value* value = call.look_up(call.arguments[0].as_string(), true, ignored);
  if (value && !value->is_missing()) return *value;
  return call.arguments.size() > 1 ? call.arguments[1] : Value();
}

const Value& existing(const Call& call, bool whole) {
  std::string problem;
  const Value* value = call.look_up(call.arguments[0].as_string(), whole, problem);
  if (value) return *value;
  throw Failure{concat("refers to ", call.written.text, ", but ", problem)};
}

const Value& existing_map(const Call& call, bool whole) {
  const Value& map = existing(call, whole);
  if (map.is_map()) return map;
  throw Failure{concat("has ", call.written.text, " of ", describe(map), "; expected a map")};
}

Value keys(const Call& call) {
  Value list = Value::list();
  for (const std::string& key : existing_map(call, false).keys()) list.push_back(Value(key));
  return list;
}

Value values(const Call& call) {
  Value list = Value::list();
  for (const Value::Entry& entry : existing_map(call, true).entries()) list.push_back(entry.value);
  return list;
}

Value deprecated(const Call& call) { return existing(call, true); }

Value create(const Call& call) {
  const Value& content = call.arguments[0];
  if (!content.is_scalar() || content.is_null()) return content;
  Value tree = content.is_string() ? parse_yaml(content.as_string(), call.written.text) : content;
  set_source(tree, {});
  if (content.is_string() && tree.is_null()) return Value::map();
  if (tree.is_string()) {  // a key alone
    Value map = Value::map();
    map.set(tree.as_string(), Value());
    return map;
  }
  if (!tree.is_scalar()) return tree;
  throw Failure{concat("has ", call.written.text, "; expected a list or a map, or YAML of one")};
}

Value decode(const Call& call) {
  const Value& text = call.arguments[0];
  if (text.is_null()) return text;
  if (!text.is_string()) throw Failure{concat("decodes ", describe(text), "; expected a text")};
  const Element element = parse_override_value(text.as_string());
  if (contains_sweep(element)) throw Failure{"decodes a sweep, which is not a value"};
  return to_value(element);
}

/// Names in the expression are keys from the root.
Value calculate(const Call& call) {
  std::string problem;
  return evaluate_expression(call.arguments[0].as_string(), [&](const std::string& name) {
    return call.look_up(name, true, problem);
  });
}

/// Local time of the start as strftime(3) writes it.
Value time(const Call& call) {
  constexpr std::size_t kMaxTime = 1000;
  call.note_fleeting();
  if (!call.facts.start) throw UserError("${now:…} is only available once a sweep has started");
  std::tm local{};
  localtime_r(&*call.facts.start, &local);
  // One more character tells an empty result from one that does not fit.
  const std::string pattern = call.arguments[0].as_string() + ".";
  std::string text(kMaxTime, '\0');
  const std::size_t length = std::strftime(text.data(), text.size(), pattern.c_str(), &local);
  if (length == 0) throw UserError("the text from ${now:…} is too long");
  text.resize(length - 1);
  return Value(std::move(text));
}

/// ${hydra:runtime.choices} are all options, ${hydra:runtime.choices.GROUP} is one.
constexpr std::string_view kChoices = "runtime.choices";
Value chosen(const std::map<std::string, std::string>& choices, const std::string& key) {
  Value all = Value::map();
  for (const auto& [group, option] : choices) all.set(group, Value(option));
  if (key == kChoices) return all;
  const std::string group = key.substr(kChoices.size() + 1);
  if (const Value* option = all.find(group)) return *option;
  throw UserError(concat("${hydra:", key, "}: no option of ", group, " is chosen",
                         all.empty() ? "" : suggestion(group, all.keys())));
}

/// Beginnings of keys that Hydra has and difflab has otherwise, with what to use here.
constexpr const char* kFolder = "runs are written below the folder that the key results names";
constexpr std::array<std::pair<const char*, const char*>, 6> kInstead{{
    {"run.", kFolder},
    {"sweep.", kFolder},
    {"runtime.output_dir", kFolder},
    {"job.override_dirname", "tables and reports label runs by what is swept over"},
    {"job.id", "runs have an id that is made of their configuration"},
    {"launcher", "it is the key launcher here"},
}};

Value fact(const Call& call) {
  const std::string key = call.arguments[0].as_string();
  const auto refuse = [&](const char* why, const char* instead = "") {
    throw UserError(concat("${hydra:", key, "} ", why, instead));
  };
  if (key == "job.num" || key == "runtime.cwd") call.note_fleeting();
  if (key == "runtime.cwd") return Value(std::filesystem::current_path().string());
  if (key == "job.name") {
    if (!call.facts.job_name) refuse("is the name of an experiment, and there is none here");
    return Value(*call.facts.job_name);
  }
  if (key == "job.num") {
    if (!call.facts.job_num) refuse("is the number of a run, and there is none here");
    return Value(*call.facts.job_num);
  }
  if (key == kChoices || key.starts_with(concat(kChoices, "."))) {
    return chosen(call.facts.choices, key);
  }
  for (const auto& [beginning, instead] : kInstead) {
    if (key.starts_with(beginning)) refuse("does not exist in difflab: ", instead);
  }
  refuse("does not exist in difflab; there are job.name, job.num, runtime.cwd and runtime.choices");
  return {};
}

struct Resolver {
  std::string name, usage;
  std::size_t fewest, most;
  Value (*resolve)(const Call&);
};

const std::vector<Resolver> kResolvers{
    {"oc.env", "a name and perhaps a default", 1, 2, environment},
    {"oc.select", "a path and perhaps a default", 1, 2, select},
    {"oc.decode", "one text", 1, 1, decode},
    {"oc.create", "a list, a map or one text of YAML", 1, 1, create},
    {"oc.deprecated", "the path of the new key and perhaps a message", 1, 2, deprecated},
    {"oc.dict.keys", "the path of a map", 1, 1, keys},
    {"oc.dict.values", "the path of a map", 1, 1, values},
    {"eval", "one expression, in quotes if it has brackets or commas", 1, 1, calculate},
    {"now", "one pattern, e.g. ${now:%Y-%m-%d}", 1, 1, time},
    {"hydra", "one key, e.g. ${hydra:job.name}", 1, 1, fact},
};

}  // namespace

Value resolve(const ResolverCall& call) {
  std::vector<std::string> names;
  const std::string &text = call.written.text, &name = call.written.resolver;
  for (const Resolver& resolver : kResolvers) {
    names.push_back(resolver.name);
    if (resolver.name != name) continue;
    const auto count = call.arguments.size();
    const bool takes_trees = name == "oc.create" || name == "oc.decode";
    if (count < resolver.fewest || count > resolver.most ||
        (!takes_trees && !call.arguments[0].is_scalar())) {
      throw Failure{concat("has ", text, "; expected ", resolver.usage)};
    }
    return resolver.resolve(call);
  }
  throw Failure{concat("has ", text, " with unknown resolver ", name, suggestion(name, names))};
}

}  // namespace difflab::config
