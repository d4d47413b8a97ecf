#include "config/override_functions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "config/override_arguments.h"
#include "config/scalar.h"
#include "config/spaced.h"
#include "config/sweep.h"
#include "util/error.h"
#include "util/random.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Cast = std::function<Value(const Value&)>;
using Function = std::function<Element(FunctionCall&)>;

constexpr std::uint64_t kShuffleSeed = 0;

[[noreturn]] void fail(const std::string& message) { throw UserError(message); }

Element simple_choice(Arguments choices) {
  ChoiceSweep sweep;
  sweep.choices = std::move(choices);
  sweep.simple = true;
  return {std::move(sweep)};
}

Value to_int(const Value& value) {
  if (value.is_bool()) return Value(value.as_bool() ? 1 : 0);
  if (value.is_double() && std::abs(value.as_double()) < 0x1p63) {
    return Value(static_cast<std::int64_t>(value.as_double()));
  }
  if (value.is_int()) return value;
  if (const auto number = value.is_string() ? parse_int(value.as_string()) : std::nullopt) {
    return Value(*number);
  }
  fail(concat(describe(value), " cannot become a whole number"));
}

Value to_float(const Value& value) {
  if (value.is_bool()) return Value(value.as_bool() ? 1.0 : 0.0);
  if (value.is_number()) return Value(value.as_double());
  if (value.is_string()) {
    const std::string text = value.as_string();
    if (const auto number = parse_float(text)) return Value(*number);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && !std::isfinite(number)) return Value(number);
  }
  fail(concat(describe(value), " cannot become a number"));
}

Value to_text(const Value& value) { return Value(value.as_string()); }

Value to_bool(const Value& value) {
  if (value.is_bool()) return value;
  if (value.is_number()) return Value(value.as_double() != 0);
  std::string text = value.as_string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  if (text == "true" || text == "false") return Value(text == "true");
  fail(concat(describe(value), " cannot become true or false"));
}

/// Casts a scalar, or every value inside a list, map, choice, range or interval.
Element cast(const Element& element, const Cast& convert, bool ranges) {
  const auto each = [&](const Element& item) { return cast(item, convert, ranges); };
  if (const Value* value = scalar_of(element)) {
    if (value->is_null()) fail("null cannot be cast");
    return {convert(*value)};
  }
  if (const auto* quoted = std::get_if<Quoted>(&element.data))
    return {convert(Value(quoted->text))};
  Element result = element;
  if (auto* items = std::get_if<std::vector<Element>>(&result.data)) {
    std::transform(items->begin(), items->end(), items->begin(), each);
  } else if (auto* dict = std::get_if<Dict>(&result.data)) {
    for (auto& entry : dict->entries) entry.second = each(entry.second);
  } else if (auto* choice = std::get_if<ChoiceSweep>(&result.data)) {
    std::transform(choice->choices.begin(), choice->choices.end(), choice->choices.begin(), each);
  } else if (auto* range = std::get_if<RangeSweep>(&result.data); range && ranges) {
    range->start = convert(range->start);
    range->stop = convert(range->stop);
    range->step = convert(range->step);
  } else if (auto* interval = std::get_if<IntervalSweep>(&result.data); interval && ranges) {
    interval->start = convert(Value(interval->start)).as_double();
    interval->end = convert(Value(interval->end)).as_double();
  } else {
    fail("this kind of sweep cannot be cast");
  }
  return result;
}

Element cast_call(FunctionCall& call, const Cast& convert, bool ranges) {
  Arguments arguments = positional(call, {"value"});
  if (arguments.size() == 1) return cast(arguments[0], convert, ranges);
  return cast(simple_choice(std::move(arguments)), convert, ranges);
}

Element choice(FunctionCall& call) {
  Arguments arguments = positional(call, {});
  auto* inner = std::get_if<ChoiceSweep>(&arguments[0].data);
  if (inner && arguments.size() == 1 && inner->simple) {
    inner->simple = false;
    return std::move(arguments[0]);
  }
  for (const Element& argument : arguments) {
    if (argument.is_sweep()) fail("choice() cannot hold another sweep");
  }
  Element result = simple_choice(std::move(arguments));
  std::get<ChoiceSweep>(result.data).simple = false;
  return result;
}

Element range(FunctionCall& call) {
  const auto bound = bind(call, {"start", "stop", "step"}, 1);
  RangeSweep sweep;
  sweep.start = number_of(*bound[0], "start");
  sweep.step = bound[2] ? number_of(*bound[2], "step") : Value(1);
  if (bound[1]) {
    sweep.stop = number_of(*bound[1], "stop");
  } else {
    sweep.stop = std::exchange(sweep.start, Value(0));
  }
  return {std::move(sweep)};
}

/// The numbers of linspace, geomspace, logspace and geomrange, as a choice.
Element numbers(const FunctionCall& call, const std::function<std::vector<Value>()>& spaced) {
  ChoiceSweep sweep;
  try {
    for (Value& number : spaced()) sweep.choices.push_back({std::move(number)});
  } catch (const UserError& error) {
    fail(concat(call.name, "() ", error.what()));
  }
  return {std::move(sweep)};
}

std::int64_t count_of(const Element& element) {
  const Value& count = number_of(element, "num");
  if (!count.is_int()) fail("num is no whole number");
  return count.as_int();
}

using Spaced = std::vector<Value> (*)(const Value&, const Value&, std::int64_t);

Function spaced(Spaced space) {
  return [space](FunctionCall& call) {
    const auto bound = bind(call, {"start", "stop", "num"}, 3);
    return numbers(call, [&] {
      return space(number_of(*bound[0], "start"), number_of(*bound[1], "stop"),
                   count_of(*bound[2]));
    });
  };
}

Element logspaced(FunctionCall& call) {
  const auto bound = bind(call, {"start", "stop", "num", "base"}, 3);
  return numbers(call, [&] {
    return logspace(number_of(*bound[0], "start"), number_of(*bound[1], "stop"),
                    count_of(*bound[2]), bound[3] ? number_of(*bound[3], "base") : Value(10));
  });
}

Element multiplied(FunctionCall& call) {
  const auto bound = bind(call, {"start", "stop", "factor"}, 3);
  return numbers(call, [&] {
    return geomrange(number_of(*bound[0], "start"), number_of(*bound[1], "stop"),
                     number_of(*bound[2], "factor"));
  });
}

/// zip(a,b), zip(range(3)), zip(a,b,name=x): a choice that goes together with others.
Element zip(FunctionCall& call) {
  ChoiceSweep sweep;
  sweep.zip = "zip";
  std::erase_if(call.named, [&](auto& argument) {
    if (argument.first != "name") return false;
    const Value* name = scalar_of(argument.second);
    if (!name) fail("name is no text");
    sweep.zip = name->as_string();
    return true;
  });
  Arguments arguments = positional(call, {});
  if (arguments.size() == 1 && arguments[0].is_sweep()) {
    if (const auto* inner = std::get_if<ChoiceSweep>(&arguments[0].data); inner && inner->zip) {
      fail("zip() cannot hold another zip()");
    }
    if (std::holds_alternative<GlobSweep>(arguments[0].data)) {
      fail("zip() cannot hold glob(); expected its values in an order that is written down");
    }
    sweep.choices = expand_sweep(arguments[0]);
  } else {
    for (const Element& argument : arguments) {
      if (argument.is_sweep()) fail("zip() takes values or one sweep");
    }
    sweep.choices = std::move(arguments);
  }
  return {std::move(sweep)};
}

Element interval(FunctionCall& call) {
  const auto bound = bind(call, {"start", "end"}, 2);
  return {IntervalSweep{
      number_of(*bound[0], "start").as_double(), number_of(*bound[1], "end").as_double(), {}}};
}

std::vector<std::string> patterns(const std::optional<Element>& argument) {
  if (!argument) return {};
  if (const Value* text = scalar_of(*argument); text && text->is_string()) {
    return {text->as_string()};
  }
  const auto* items = std::get_if<std::vector<Element>>(&argument->data);
  if (!items) fail("glob() takes a pattern or a list of patterns");
  std::vector<std::string> texts;
  for (const Element& item : *items) texts.push_back(to_value(item).as_string());
  return texts;
}

Element glob(FunctionCall& call) {
  const auto bound = bind(call, {"include", "exclude"}, 1);
  return {GlobSweep{patterns(bound[0]), patterns(bound[1])}};
}

bool less(const Element& a, const Element& b) {
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
  for (std::size_t i = 1; i < items.size(); ++i) less(items[0], items[i]);  // all comparable
  std::stable_sort(items.begin(), items.end(), [&](const Element& a, const Element& b) {
    return reverse ? less(b, a) : less(a, b);
  });
}

Value shifted(const Value& value, const Value& step, int sign) {
  if (value.is_int() && step.is_int()) {
    return Value(value.as_int() + sign * std::abs(step.as_int()));
  }
  return Value(value.as_double() + sign * std::abs(step.as_double()));
}

void sort_range(RangeSweep& range, bool reverse) {
  const double start = range.start.as_double(), stop = range.stop.as_double();
  if (reverse ? start >= stop : start <= stop) return;
  const int sign = reverse ? -1 : 1;
  Value first = shifted(range.stop, range.step, sign);
  range.stop = shifted(range.start, range.step, sign);
  range.start = std::move(first);
  range.step = range.step.is_int() ? Value(-range.step.as_int()) : Value(-range.step.as_double());
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
  Arguments arguments = positional(call, {"sweep", "list"});
  Element item = arguments.size() == 1 ? std::move(arguments[0]) : simple_choice(arguments);
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
  Arguments arguments = positional(call, {"sweep", "list"});
  Element item = arguments.size() == 1 ? std::move(arguments[0]) : simple_choice(arguments);
  if (auto* choices = std::get_if<ChoiceSweep>(&item.data)) {
    choices->shuffle = true;
  } else if (auto* numbers = std::get_if<RangeSweep>(&item.data)) {
    numbers->shuffle = true;
  } else if (auto* items = std::get_if<std::vector<Element>>(&item.data)) {
    shuffle_in_place(*items);
  } else {
    item = {Arguments{std::move(item)}};
  }
  return item;
}

Element tag(FunctionCall& call) {
  Arguments arguments = positional(call, {"sweep"});
  Element sweep = std::move(arguments.back());
  arguments.pop_back();
  std::vector<std::string> tags;
  for (const Element& argument : arguments) {
    const Value* text = scalar_of(argument);
    if (!text || !text->is_string()) fail("a tag is no text");
    tags.push_back(text->as_string());
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  const auto set = [&](auto* kind) { return kind ? (kind->tags = tags, true) : false; };
  if (!set(std::get_if<ChoiceSweep>(&sweep.data)) && !set(std::get_if<RangeSweep>(&sweep.data)) &&
      !set(std::get_if<IntervalSweep>(&sweep.data))) {
    fail("the last argument of tag() is no choice, range or interval");
  }
  return sweep;
}

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> kFunctions{
      {"bool", [](FunctionCall& call) { return cast_call(call, to_bool, false); }},
      {"choice", choice},
      {"float", [](FunctionCall& call) { return cast_call(call, to_float, true); }},
      {"geomrange", multiplied},
      {"geomspace", spaced(geomspace)},
      {"glob", glob},
      {"int", [](FunctionCall& call) { return cast_call(call, to_int, true); }},
      {"interval", interval},
      {"linspace", spaced(linspace)},
      {"logspace", logspaced},
      {"range", range},
      {"shuffle", shuffle},
      {"sort", sort},
      {"str", [](FunctionCall& call) { return cast_call(call, to_text, false); }},
      {"tag", tag},
      {"zip", zip},
  };
  return kFunctions;
}

/// Quotes have done their work once a value is an argument.
void unquote(Element& element) {
  if (auto* quoted = std::get_if<Quoted>(&element.data)) {
    element = {Value(std::move(quoted->text))};
  }
}

}  // namespace

void shuffle_in_place(std::vector<Element>& items) {
  Random random{stream_key("shuffle"), kShuffleSeed};
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1],
              items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

Element evaluate(FunctionCall call) {
  const auto function = functions().find(call.name);
  if (function == functions().end()) {
    std::vector<std::string> names;
    for (const auto& entry : functions()) names.push_back(entry.first);
    fail(concat("unknown function ", call.name, suggestion(call.name, names),
                " (a text with brackets needs quotes)"));
  }
  for (Element& argument : call.arguments) unquote(argument);
  for (auto& argument : call.named) unquote(argument.second);
  return function->second(call);
}

}  // namespace difflab::config
