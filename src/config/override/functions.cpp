#include "config/override/functions.h"

#include <algorithm>
#include <map>

#include "util/random.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Function = Element (*)(FunctionCall&);

constexpr std::uint64_t kShuffleSeed = 0;

/// The number that an element is; `name` is the parameter that it is given for.
const Value& number_of(const Element& element, const std::string& name) {
  const Value* value = scalar_of(element);
  if (!value || !value->is_number()) fail(concat(name, " is not a number"));
  return *value;
}

/// A function's arguments in the order of its parameters; optional ones may be absent.
std::vector<std::optional<Element>> bind(FunctionCall& call, const std::vector<std::string>& names,
                                         std::size_t required) {
  if (call.arguments.size() > names.size()) {
    fail(concat(call.name, "() takes at most ", names.size(), " arguments: ", join(names)));
  }
  std::vector<std::optional<Element>> bound(names.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i) bound[i] = std::move(call.arguments[i]);
  for (auto& [name, value] : call.named) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      fail(concat(call.name, "() has no argument ", name, suggestion(name, names)));
    }
    auto& slot = bound[static_cast<std::size_t>(at - names.begin())];
    if (slot) fail(concat(call.name, "() is given ", name, " twice"));
    slot = std::move(value);
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!bound[i]) fail(concat(call.name, "() needs ", names[i]));
  }
  return bound;
}

/// @param refusal the answer to a sweep among the values
Element choice_of(Arguments values, bool simple, const std::string& refusal) {
  if (std::ranges::any_of(values, [](auto& value) { return value.is_sweep(); })) {
    fail(refusal);
  }
  ChoiceSweep sweep;
  sweep.choices = std::move(values);
  sweep.simple = simple;
  return {std::move(sweep)};
}

Element choice(FunctionCall& call) {
  Arguments arguments = positional(call, {});
  auto* inner = std::get_if<ChoiceSweep>(&arguments[0].data);
  if (inner && arguments.size() == 1 && inner->simple) {
    inner->simple = false;
    return std::move(arguments[0]);
  }
  return choice_of(std::move(arguments), false, "choice() cannot hold another sweep");
}

Element range(FunctionCall& call) {
  const auto bound = bind(call, {"start", "stop", "step"}, 1);
  RangeSweep sweep;
  sweep.start = number_of(*bound[0], "start");
  sweep.step = bound[2] ? number_of(*bound[2], "step") : Value(1);
  const bool stops = bound[1] && !(scalar_of(*bound[1]) && scalar_of(*bound[1])->is_null());
  if (stops) {
    sweep.stop = number_of(*bound[1], "stop");
  } else {
    sweep.stop = std::exchange(sweep.start, Value(0));
  }
  return {std::move(sweep)};
}

Element interval(FunctionCall&) {
  fail("interval() gives a grid no values; write range(0,1,0.1) or 0.1,0.5");
}

std::vector<std::string> patterns(const std::optional<Element>& argument) {
  if (!argument) return {};
  const auto* items = std::get_if<Arguments>(&argument->data);
  std::vector<std::string> texts;
  for (const Element& item : items ? *items : Arguments{*argument}) {
    const Value text = contains_sweep(item) ? Value::list() : to_value(item);
    if (!items && text.is_null()) return {};
    if (!text.is_string()) {
      fail(items ? "a pattern of glob() is not text"
                 : "glob() takes a pattern or a list of patterns");
    }
    texts.push_back(text.as_string());
  }
  return texts;
}

Element glob(FunctionCall& call) {
  const auto bound = bind(call, {"include", "exclude"}, 1);
  if (const Value* include = scalar_of(*bound[0]); include && include->is_null()) {
    fail("glob() needs include");
  }
  return {GlobSweep{patterns(bound[0]), patterns(bound[1])}};
}

bool element_less(const Element& a, const Element& b) {
  const auto value = [](const Element& element) {
    const Value tree = contains_sweep(element) ? Value() : to_value(element);
    return tree.is_bool() ? Value(tree.as_bool() ? 1 : 0) : tree;
  };
  const Value left = value(a), right = value(b);
  if (left.is_number() && right.is_number()) return left.as_double() < right.as_double();
  if (left.is_string() && right.is_string()) return left.as_string() < right.as_string();
  fail(concat("sort() cannot compare ", describe(left), " with ", describe(right)));
}

void sort_elements(Arguments& items, bool reverse) {
  for (std::size_t i = 1; i < items.size(); ++i)
    element_less(items[0], items[i]);  // all comparable
  std::ranges::stable_sort(items, [&](const Element& a, const Element& b) {
    return reverse ? element_less(b, a) : element_less(a, b);
  });
}

// A limit that the number is within, going the other way, and the next one is not.
Value limit_behind(const Value& value, const Value& step) {
  if (value.is_int() && step.is_int()) return Value(value.as_int() - step.as_int());
  return Value(value.as_double() - step.as_double() / 2);  // whatever rounding does
}

void sort_range(RangeSweep& range, bool reverse) {
  const double start = range.start.as_double(), stop = range.stop.as_double();
  if (reverse ? start >= stop : start <= stop) return;
  const auto numbers = expand_range(range.start, range.stop, range.step);
  if (numbers.empty()) return;
  range.stop = limit_behind(range.start, range.step);
  range.start = numbers.back();
  range.step = range.step.is_int() ? Value(-range.step.as_int()) : Value(-range.step.as_double());
}

/// The argument that sort() and shuffle() reorder: a sweep, a list, or values that make a choice.
Element sequence(FunctionCall& call) {
  for (const auto& [name, value] : call.named) {
    const bool range = std::holds_alternative<RangeSweep>(value.data);
    const bool choice = std::holds_alternative<ChoiceSweep>(value.data);
    if (name == "sweep" && !range && !choice) fail("sweep is neither a choice nor a range");
    if (name == "list" && !std::holds_alternative<Arguments>(value.data)) fail("list takes a list");
  }
  Arguments arguments = positional(call, {"sweep", "list"});
  for (const Element& argument : arguments) {
    const Value* value = scalar_of(argument);
    if (value && value->is_null()) fail(concat(call.name, "() cannot order null"));
  }
  return one_or_choice(call.name, std::move(arguments));
}

Element sort(FunctionCall& call) {
  bool reverse = false;
  std::erase_if(call.named, [&](auto& argument) {
    if (argument.first != "reverse") return false;
    const Value* value = scalar_of(argument.second);
    if (!value || !value->is_bool()) fail("reverse is neither true nor false");
    reverse = value->as_bool();
    return true;
  });
  Element item = sequence(call);
  if (auto* choices = std::get_if<ChoiceSweep>(&item.data)) {
    sort_elements(choices->choices, reverse);
  } else if (auto* numbers = std::get_if<RangeSweep>(&item.data)) {
    sort_range(*numbers, reverse);
  } else if (auto* items = std::get_if<std::vector<Element>>(&item.data)) {
    sort_elements(*items, reverse);
  } else if (item.is_sweep()) {
    fail("sort() takes values, a list, a choice or a range");
  }
  return item;
}

Element shuffle(FunctionCall& call) {
  Element item = sequence(call);
  if (auto* choices = std::get_if<ChoiceSweep>(&item.data)) {
    choices->shuffle = true;
  } else if (auto* numbers = std::get_if<RangeSweep>(&item.data)) {
    numbers->shuffle = true;
  } else if (auto* items = std::get_if<std::vector<Element>>(&item.data)) {
    shuffle_in_place(*items);
  } else if (item.is_sweep()) {
    fail("shuffle() takes values, a list, a choice or a range");
  } else {
    item = {Arguments{std::move(item)}};
  }
  return item;
}

Element tag(FunctionCall& call) {
  Arguments arguments = std::move(call.arguments);
  for (auto& [name, value] : call.named) {
    if (name != "sweep" || arguments.empty()) fail(concat("tag() takes no ", name, "="));
    arguments.push_back(std::move(value));
  }
  if (arguments.empty()) fail("tag() needs a sweep");
  Element sweep = std::move(arguments.back());
  arguments.pop_back();
  std::vector<std::string> tags;
  for (const Element& argument : arguments) {
    const Value* text = scalar_of(argument);
    if (!text || !text->is_string()) fail("a tag is not text");
    tags.push_back(text->as_string());
  }
  std::ranges::sort(tags);
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  const auto set = [&](auto* kind) { return kind ? (kind->tags = tags, true) : false; };
  if (!set(std::get_if<ChoiceSweep>(&sweep.data)) && !set(std::get_if<RangeSweep>(&sweep.data))) {
    fail("the last argument of tag() is neither a choice nor a range");
  }
  return sweep;
}

const std::map<std::string, Function> kFunctions{
    {"bool", cast}, {"choice", choice},     {"float", cast},  {"glob", glob},
    {"int", cast},  {"interval", interval}, {"range", range}, {"shuffle", shuffle},
    {"sort", sort}, {"str", cast},          {"tag", tag},
};

/// Quotes have done their work once a value is an argument.
void unquote(Element& element) {
  if (auto* quoted = std::get_if<Quoted>(&element.data)) {
    element = {Value(std::move(quoted->text))};
  }
}

}  // namespace

const Value* scalar_of(const Element& element) { return std::get_if<Value>(&element.data); }

Arguments positional(FunctionCall& call, const std::vector<std::string>& names) {
  for (auto& [name, value] : call.named) {
    if (!is_among(name, names) || !call.arguments.empty()) {
      fail(concat(call.name, "() takes no ", name, "="));
    }
    call.arguments.push_back(std::move(value));
  }
  if (call.arguments.empty()) fail(concat(call.name, "() needs an argument"));
  return std::move(call.arguments);
}

Element one_or_choice(const std::string& function, Arguments arguments) {
  if (arguments.size() == 1) return std::move(arguments[0]);
  return choice_of(std::move(arguments), true, concat(function, "() takes values or one sweep"));
}

void shuffle_in_place(Arguments& items) {
  Random random{stream_key("shuffle"), kShuffleSeed};
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1],
              items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

Element evaluate(FunctionCall call) {
  const auto function = kFunctions.find(call.name);
  if (function == kFunctions.end()) {
    std::vector<std::string> names;
    for (const auto& entry : kFunctions) names.push_back(entry.first);
    fail(concat("unknown function ", call.name, suggestion(call.name, names),
                " (a text with brackets needs quotes)"));
  }
  for (Element& argument : call.arguments) unquote(argument);
  for (auto& argument : call.named) unquote(argument.second);
  return function->second(call);
}

}  // namespace difflab::config
