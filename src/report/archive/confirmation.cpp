#include "report/archive/confirmation.h"

#include <algorithm>
#include <set>

namespace difflab::report {
namespace {

constexpr std::size_t kFewestRuns = 3;
constexpr int kFormat = 2;

Json object_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_object() ? Json::object() : *found;
}

const Json* run_of(const Json& runs, const std::string& id) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const Json& run) {
    return string_at(run, "id") == id && run.contains("metrics");
  });
  return found == runs.end() ? nullptr : &*found;
}

std::vector<Json> sessions_in(const Json& file) {
  if (!file.is_object()) return {};
  const auto sessions = file.find("sessions");
  if (sessions == file.end() || !sessions->is_array()) return {};
  std::vector<Json> all;
  for (const Json& session : *sessions) {
    const auto runs = session.find("runs");
    if (session.is_object() && runs != session.end() && runs->is_array()) all.push_back(session);
  }
  return all;
}

bool has_all_runs(const Json& session, const Json& runs) {
  return std::all_of(session["runs"].begin(), session["runs"].end(), [&](const Json& run) {
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

bool Reproduced::confirms() const {
  return (!elsewhere || elsewhere->stands()) &&
         std::all_of(runs.begin(), runs.end(),
                     [](const Reproduction& run) { return run.confirms() || run.is_elsewhere(); });
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
      const Json numbers = object_at(run.result, part);
      for (const auto& [key, value] : numbers.items()) {
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
