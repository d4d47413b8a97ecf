#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "config/override/functions.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Cast = Value (*)(const Value&);

/// Without blanks around it and without the underscores that may stand between digits. Nothing if
/// one stands elsewhere.
std::optional<std::string> bare_number(std::string_view text) {
  text = trimmed(text, " \t\n\v\f\r");
  std::string number;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (text[i] == '_' && !between) return std::nullopt;
    if (text[i] != '_') number += text[i];
  }
  return number;
}

std::optional<std::int64_t> text_to_int(std::string_view text) {
  const auto number = bare_number(text);
  if (!number) return std::nullopt;
  const bool plus = number->size() > 1 && number->front() == '+' && is_digit((*number)[1]);
  return parse_whole<std::int64_t>(std::string_view(*number).substr(plus ? 1 : 0));
}

std::optional<double> text_to_float(std::string_view text) {
  const auto number = bare_number(text);
  if (!number || number->empty()) return std::nullopt;
  // strtod also reads 0x1p3 and nan(1), which Python does not.
  const bool decimal = number->find_first_not_of("0123456789+-.eE") == number->npos;
  std::string word = lower_case(*number);
  std::erase_if(word, [](char c) { return c == '+' || c == '-'; });
  if (!decimal && word != "inf" && word != "infinity" && word != "nan") return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(number->c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

Value to_int(const Value& value) {
  if (value.is_bool()) return Value(value.as_bool() ? 1 : 0);
  if (value.is_int()) return value;
  if (value.is_double() && std::abs(value.as_double()) < 0x1p63) {
    return Value(static_cast<std::int64_t>(value.as_double()));
  }
  const auto number = value.is_string() ? text_to_int(value.as_string()) : std::nullopt;
  if (!number) fail(concat(describe(value), " cannot become a whole number"));
  return Value(*number);
}

Value to_float(const Value& value) {
  if (value.is_bool()) return Value(value.as_bool() ? 1.0 : 0.0);
  if (value.is_number()) return Value(value.as_double());
  const auto number = value.is_string() ? text_to_float(value.as_string()) : std::nullopt;
  if (!number) fail(concat(describe(value), " cannot become a number"));
  return Value(*number);
}

Value to_text(const Value& value) {
  if (value.is_null()) fail("null cannot become a text");
  return Value(value.as_string());
}

Value to_bool(const Value& value) {
  if (value.is_null()) return Value(false);
  if (value.is_bool()) return value;
  if (value.is_number()) return Value(value.as_double() != 0);
  const std::string text = lower_case(value.as_string());
  if (text == "true" || text == "false") return Value(text == "true");
  fail(concat(describe(value), " cannot become true or false"));
}

Element cast_each(const Element& element, Cast convert, bool ranges) {
  const auto each = [&](const Element& item) { return cast_each(item, convert, ranges); };
  if (const Value* value = scalar_of(element)) return {convert(*value)};
  if (const auto* quoted = std::get_if<Quoted>(&element.data))
    return {convert(Value(quoted->text))};
  Element result = element;
  if (auto* items = std::get_if<std::vector<Element>>(&result.data)) {
    std::transform(items->begin(), items->end(), items->begin(), each);
  } else if (auto* dict = std::get_if<Dict>(&result.data)) {
    for (auto& entry : dict->entries) entry.value = each(entry.value);
  } else if (auto* choice = std::get_if<ChoiceSweep>(&result.data)) {
    std::transform(choice->choices.begin(), choice->choices.end(), choice->choices.begin(), each);
  } else if (auto* range = std::get_if<RangeSweep>(&result.data); range && ranges) {
    range->start = convert(range->start);
    range->stop = convert(range->stop);
    range->step = convert(range->step);
  } else {
    fail("this kind of sweep cannot be cast");
  }
  return result;
}

}  // namespace

Element cast(FunctionCall& call) {
  static const std::map<std::string, Cast> kCasts{
      {"int", to_int}, {"float", to_float}, {"str", to_text}, {"bool", to_bool}};
  const bool ranges = call.name == "int" || call.name == "float";
  const Element element = one_or_choice(call.name, positional(call, {"value"}));
  return cast_each(element, kCasts.at(call.name), ranges);
}

}  // namespace difflab::config
