#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "config/value/value.h"
#include "report/data/config_types.h"
#include "report/data/metric.h"
#include "report/settings/claim_config.h"
#include "util/text.h"

namespace difflab::report {
namespace {

using config::Value;

constexpr std::size_t kMostClaims = 1000;

// How many claims one makes, at most one more than it may.
std::size_t claims_in(const Value& claim) {
  std::size_t count = 1;
  if (const Value* where = claim.find("where")) {
    for (const auto& entry : where->entries()) {
      if (entry.value.is_list())
        count = std::min(count * entry.value.items().size(), kMostClaims + 1);
    }
  }
  return count;
}

// A claim with one value of every list of its `where`, for each combination of them.
std::vector<Value> combinations(const Value& claim) {
  std::vector<Value> all{claim};
  const Value* where = claim.find("where");
  if (where == nullptr) return all;
  for (const auto& [axis, values, source] : where->entries()) {
    if (!values.is_list()) continue;
    std::vector<Value> longer;
    for (const Value& one : all) {
      for (const Value& value : values.items()) {
        longer.push_back(one);
        longer.back().find("where")->set(axis, value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
         });
}

// Fills the axes in braces of one text of a claim. Other braces are text, such as LaTeX's, and a
// mistake where the claim has a list.
// @param unknown gets the axes that its where does not have
std::string filled(const std::string& text, const Value& where, const Labels& labels,
                   std::vector<std::string>& unknown) {
  std::string out;
  std::size_t from = 0;
  for (auto open = text.find('{'); open != text.npos; open = text.find('{', from)) {
    const auto close = text.find('}', open);
    if (close == text.npos) break;
    const auto axis = text.substr(open + 1, close - open - 1);
    if (!is_name(axis)) {
      out += text.substr(from, open + 1 - from);
      from = open + 1;
      continue;
    }
    const Value* value = where.find(axis);
    if (value == nullptr) unknown.push_back(axis);
    out += text.substr(from, (value == nullptr ? close + 1 : open) - from);
    if (value != nullptr && value->is_scalar()) out += labels.value(value->as_string());
    from = close + 1;
  }
  return out + text.substr(from);
}

void fill_texts(Value& claim, bool has_list, const std::string& place, const Labels& labels,
                config::Problems& problems) {
  const Value none = Value::map();
  const Value* found = claim.find("where");
  const Value where = found != nullptr && found->is_map() ? *found : none;
  for (const char* key : {"text", "paper"}) {
    Value* text = claim.find(key);
    if (text == nullptr || !text->is_string()) continue;
    std::vector<std::string> unknown;
    Value written(filled(text->as_string(), where, labels, unknown));
    written.source = text->source;
    for (const auto& axis : has_list ? unknown : std::vector<std::string>()) {
      problems.add(text->source, place,
                   concat(place, ".", key, " names {", axis, "}, which is not an axis of its where",
                          where.keys().empty() ? "" : suggestion(axis, where.keys())));
    }
    *text = std::move(written);
  }
}

// Claims of one list that read alike could not be told apart.
void require_unlike(const Value& claim, const std::vector<Value>& made, const std::string& place,
                    config::Problems& problems) {
  for (std::size_t i = 1; i < made.size(); ++i) {
    const Value* text = made[i].find("text");
    const bool repeats =
        text != nullptr &&
        std::any_of(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Value& other) { return *other.find("text") == *text; });
    if (!repeats) continue;
    const auto list =
        std::find_if(claim.find("where")->entries().begin(), claim.find("where")->entries().end(),
                     [](const auto& entry) { return entry.value.is_list(); });
    problems.add(text->source, place,
                 concat(place, ".text is the same for several values of its where; expected {",
                        list->key, "} in it, or another value"));
    return;
  }
}

}  // namespace

void expand_claims(Value& settings, config::Problems& problems) {
  Value* claims = settings.find("claims");
  if (claims == nullptr || !claims->is_list()) return;
  const Value* told = settings.find("labels");
  const auto user = told != nullptr ? TextMap::from_value(*told) : std::nullopt;
  const TextMap map = user.value_or(TextMap());
  const Labels labels(map);
  Value all = Value::list();
  all.source = claims->source;
  for (std::size_t i = 0; i < claims->items().size(); ++i) {
    const Value& claim = claims->items()[i];
    const auto place = concat("claims[", i, "]");
    if (const auto count = claims_in(claim); count == 0 || count > kMostClaims) {
      problems.add(claim.source, place,
                   concat(place, ".where ",
                          count == 0 ? "holds an empty list; expected a value, or several"
                                     : "makes more than 1,000 claims; expected fewer"));
      continue;
    }
    const auto before = problems.size();
    auto made = combinations(claim);
    const bool has_list = made.size() > 1 || made.front() != claim;
    for (Value& one : made) fill_texts(one, has_list, place, labels, problems);
    if (problems.size() == before) require_unlike(claim, made, place, problems);
    for (Value& one : made) all.push_back(std::move(one));
  }
  *claims = std::move(all);
}

}  // namespace difflab::report
