#include "report/archive/reproduction.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "record/provenance.h"
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kFewestRuns = 3;
constexpr int kFormat = 2;

const Json* run_of(const Json& runs, const std::string& id) {
  const auto found = std::ranges::find_if(
      runs, [&](const Json& run) { return string_at(run, "id") == id && run.contains("metrics"); });
  return found == runs.end() ? nullptr : &*found;
}

std::vector<Json> sessions_in(const Json& file) {
  std::vector<Json> all;
  for (const Json& session : list_at(file, "sessions")) {
    const auto runs = session.find("runs");
    if (runs != session.end() && runs->is_array()) all.push_back(session);
  }
  return all;
}

bool has_all_runs(const Json& session, const Json& runs) {
  return std::ranges::all_of(session["runs"], [&](const Json& run) {
    return run.is_object() && run_of(runs, string_at(run, "id"));
  });
}

// True if the session ran committed code and has enough runs to say anything.
bool may_confirm(const Json& session) {
  std::set<std::string> ids;
  for (const Json& run : session["runs"]) ids.insert(string_at(run, "id"));
  return session.value("dirty", Json()) == Json(false) && ids.size() >= kFewestRuns;
}

bool confirms(const Json& session, const Json& runs, const Archive& archive) {
  if (!has_all_runs(session, runs) || !may_confirm(session)) return false;
  std::vector<MadeAgain> again;
  for (const Json& run : session["runs"]) again.push_back({string_at(run, "id"), run});
  return compare_with(archive, runs, again, session).confirms();
}

}  // namespace

std::vector<std::string> drawn(std::vector<std::string> ids, const std::string& draw,
                               std::size_t count) {
  std::vector<std::pair<std::string, std::string>> order;
  for (auto& id : ids) order.emplace_back(sha256_hex(concat(draw, " ", id)), std::move(id));
  std::ranges::sort(order);
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
  const Json& now = object_at(result, "metrics");
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
  const Json &before = object_at(then, kFingerprints), &after = object_at(now, kFingerprints);
  std::vector<std::string> others;
  for (const auto& [key, other] : {std::pair("first_batch", "another first batch"),
                                   std::pair("initial_weights", "other initial weights")}) {
    if (string_at(before, key).empty() || string_at(after, key).empty()) return "";
    if (string_at(before, key) != string_at(after, key)) others.emplace_back(other);
  }
  return others.empty() ? "the same first batch and initial weights" : join(others, " and ");
}

bool Reproduced::confirms() const {
  return (!elsewhere || elsewhere->stands()) &&
         std::ranges::all_of(
             runs, [](const Reproduction& run) { return run.confirms() || run.is_elsewhere(); });
}

Reproduced compare_with(const Archive& archive, const Json& committed,
                        const std::vector<MadeAgain>& again, const Json& provenance) {
  Reproduced found;
  const auto of_report = metrics_of_report(archive.study);
  std::vector<MadeAgain> moved;
  for (const auto& one : again) {
    const Json& run = *run_of(committed, one.id);
    auto& compared = found.runs.emplace_back(compare_run(run, one.result, of_report));
    compared.others = other_conditions(object_at(run, "provenance"), provenance);
    if (compared.is_elsewhere()) moved.push_back(one);
  }
  if (!moved.empty()) found.elsewhere = judge_elsewhere(archive.study, archive.frame, moved);
  return found;
}

Json session_of(const std::vector<MadeAgain>& runs, const Json& provenance,
                const Archive& archive) {
  Json session = Json::object();
  const auto keep = [&](const char* key) {
    if (provenance.contains(key)) session[key] = provenance.at(key);
  };
  for (const char* key : {"commit", "dirty", "finished"}) keep(key);
  for (const auto& [key, name] : kRunConditions) keep(key);
  const auto of_report = metrics_of_report(archive.study);
  session["runs"] = Json::array();
  for (const auto& run : runs) {
    Json kept{{"id", run.id}};
    for (const char* part : {"metrics", "censored"}) {
      kept[part] = Json::object();
      for (const auto& [key, value] : object_at(run.result, part).items()) {
        if (is_compared(key, of_report)) kept[part][key] = value;
      }
    }
    session["runs"].push_back(std::move(kept));
  }
  return session;
}

Json with_session(const Json& file, const Json& session, const Json& runs) {
  Json all{{"format", kFormat}, {"sessions", Json::array()}};
  for (const Json& earlier : sessions_in(file)) {
    if (!has_all_runs(earlier, runs)) continue;
    const bool is_of_commit = string_at(earlier, "commit") == string_at(session, "commit");
    const bool says_more = may_confirm(earlier) && !(is_of_commit && may_confirm(session));
    const bool is_elsewhere = !other_conditions(earlier, session).empty();
    if (says_more || is_elsewhere) all["sessions"].push_back(earlier);
  }
  all["sessions"].push_back(session);
  return all;
}

std::vector<Confirmed> confirmations(const Json& file, const Json& runs, const Archive& archive) {
  std::vector<Confirmed> found;
  for (const Json& session : sessions_in(file)) {
    if (!confirms(session, runs, archive)) continue;
    found.push_back({string_at(session, "commit"), string_at(session, "cpu")});
  }
  return found;
}

}  // namespace difflab::report
