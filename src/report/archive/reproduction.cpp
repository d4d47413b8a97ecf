#include "report/archive/reproduction.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "record/provenance.h"
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::report {

std::vector<std::string> drawn(std::vector<std::string> ids, const std::string& draw,
                               std::size_t count) {
  std::vector<std::pair<std::string, std::string>> order;
  for (auto& id : ids) order.emplace_back(sha256_hex(concat(draw, " ", id)), std::move(id));
  std::sort(order.begin(), order.end());
  order.resize(std::min(count, order.size()));
  std::vector<std::string> first;
  for (auto& [hash, id] : order) first.push_back(std::move(id));
  return first;
}

std::vector<std::string> metrics_of_report(const Study& study) {
  std::vector<std::string> names{kLearned, kStepsToLearn};
  for (const auto& derived : study.report.derived) {
    std::visit([&](const auto& one) { names.push_back(one.name); }, derived);
  }
  return names;
}

bool is_compared(const std::string& metric, const std::vector<std::string>& of_report) {
  return !metric_of(metric).is_measured() && !is_among(metric, of_report);
}

Reproduction compare_run(const Json& committed, const Json& result,
                         const std::vector<std::string>& of_report) {
  Reproduction found{.id = committed.at("id").get<std::string>()};
  const Json none = Json::object();
  const Json& now = result.contains("metrics") ? result.at("metrics") : none;
  for (const auto& [key, then] : committed.at("metrics").items()) {
    if (!is_compared(key, of_report)) continue;
    ++found.numbers;
    const auto value = now.find(key);
    if (value == now.end()) {
      found.differences.push_back(concat(key, " is missing"));
    } else if (*value != then) {
      found.differences.push_back(concat(key, " is ", value->dump(), " instead of ", then.dump()));
    }
  }
  return found;
}

std::string other_conditions(const Json& then, const Json& now) {
  std::vector<std::string> others;
  for (const auto& [key, name] : kRunConditions) {
    const auto before = string_at(then, key), after = string_at(now, key);
    if (before == after) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? "unrecorded" : text; };
    others.push_back(concat(name, " ", shown(after), " instead of ", shown(before)));
  }
  return join(others);
}

std::string how_begun(const Json& then, const Json& now) {
  const Json none = Json::object();
  const auto before = then.value(kFingerprints, none), after = now.value(kFingerprints, none);
  std::vector<std::string> others;
  for (const auto& [key, other] : {std::pair("first_batch", "another first batch"),
                                   std::pair("initial_weights", "other initial weights")}) {
    if (string_at(before, key).empty() || string_at(after, key).empty()) return "";
    if (string_at(before, key) != string_at(after, key)) others.emplace_back(other);
  }
  return others.empty() ? "the same first batch and initial weights" : join(others, " and ");
}

}  // namespace difflab::report
