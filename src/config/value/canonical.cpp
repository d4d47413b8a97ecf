#include "config/value/canonical.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace difflab::config {
namespace {

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return number_text(value);
}

void write_text(const Value& value, std::string& out) {
  if (value.is_list()) {
    out += '[';
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) out += ',';
      write_text(value.items()[i], out);
    }
    out += ']';
  } else if (value.is_map()) {
    std::vector<const Value::Entry*> entries;
    for (const Value::Entry& entry : value.entries()) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](auto* a, auto* b) { return a->key < b->key; });
    out += '{';
    for (const Value::Entry* entry : entries) {
      if (entry != entries.front()) out += ',';
      out += quoted(entry->key) + ':';
      write_text(entry->value, out);
    }
    out += '}';
  } else if (value.is_string()) {
    out += quoted(value.as_string());
  } else {
    out += value.is_double() ? number(value.as_double()) : value.as_string();
  }
}

}  // namespace

std::string canonical_json(const Value& value) {
  std::string out;
  write_text(value, out);
  return out;
}

}  // namespace difflab::config
