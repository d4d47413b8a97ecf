// All references come from clean commits that runs made again link to each other, and from one kind
// of machine, or are confirmed by it.
#include "record/provenance.h"

#include <algorithm>
#include <map>
#include <set>

#include "referee/rule/rules.h"
#include "report/archive/reproduction.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// Values of a key of the provenance over the runs with a result, session by session.
struct Told {
  std::set<std::string> values;
  std::size_t silent = 0;  // runs of which a session does not say
};

Told told_of(const Reference& one, const char* key) {
  Told told;
  for (const Json& run : one.runs) {
    const auto& provenance = run.at("provenance");
    if (provenance.empty() && !run.contains("metrics")) continue;  // it has no result
    bool is_silent = false;
    for (const Json& session : sessions_of(provenance)) {
      const auto value = report::told_at(session, key);
      is_silent = is_silent || value.empty();
      if (!value.empty()) told.values.insert(value);
    }
    told.silent += is_silent ? 1 : 0;
  }
  return told;
}

std::string shortened(const std::set<std::string>& values, std::size_t letters) {
  std::vector<std::string> shown;
  for (const auto& value : values) shown.push_back(value.substr(0, letters));
  return join(shown);
}

// A key that only some runs tell stands for these alone.
void must_be_one(const Reference& one, const char* key, const std::string& several,
                 std::size_t letters, Objections& objections) {
  const auto [values, silent] = told_of(one, key);
  const auto say = [&](const std::string& what) { objections.object(one, "runs.json", what); };
  if (values.size() > 1) say(concat(several, ": ", shortened(values, letters)));
  if (silent == 0 || values.empty()) return;
  say(concat(silent, " of ", one.runs.size(), " runs do not name their ", key, "; others name ",
             shortened(values, letters)));
}

void look_at_runs(const Reference& one, Objections& objections) {
  must_be_one(one, "commit", "runs of several commits", 12, objections);
  if (told_of(one, "commit").values.empty()) {
    objections.cannot_check(one, "runs.json", "no run names its commit");
  }
  const auto [dirty, silent] = told_of(one, "dirty");
  if (dirty.count("true") > 0) {
    objections.object(one, "runs.json", "runs of a tree with uncommitted changes");
  } else if (silent > 0 && !dirty.empty()) {
    objections.object(one, "runs.json",
                      concat(silent, " of ", one.runs.size(),
                             " runs do not say whether their tree had uncommitted changes"));
  }
  for (const auto& [key, name] : report::kRunConditions) {
    must_be_one(one, key, concat("runs of several values of ", key), 40, objections);
  }
}

// A run that is in two references.
struct Twin {
  const Reference* reference;
  const Json* run;
};

// Metrics of a run that must depend neither on when it ran nor on what a report asks of curves.
Json comparable_metrics(const Twin& twin, const Twin& other) {
  std::vector<std::string> of_report;
  for (const auto* one : {twin.reference, other.reference}) {
    if (!one->archive) continue;
    const auto names = report::metrics_of_report(one->archive->study);
    of_report.insert(of_report.end(), names.begin(), names.end());
  }
  Json kept = Json::object();
  for (const auto& [key, value] : twin.run->at("metrics").items()) {
    if (report::is_compared(key, of_report)) kept[key] = value;
  }
  return kept;
}

// True if the two ran under different conditions, and each passes as a seed among the other's.
bool are_two_seeds(const Twin& first, const Twin& second) {
  const auto provenance = [](const Json& of) { return of.value("provenance", Json::object()); };
  if (report::other_conditions(provenance(*first.run), provenance(*second.run)).empty())
    return false;
  int judged = 0;
  for (const auto& [home, guest] : {std::pair{first, second}, std::pair{second, first}}) {
    if (!home.reference->archive) continue;
    const auto& archive = *home.reference->archive;
    const auto id = guest.run->at("id").get<std::string>();
    const auto stands = report::judge_elsewhere(archive.study, archive.frame, {{id, *guest.run}});
    if (!stands.outside.empty()) return false;
    judged += stands.judged;
  }
  return judged > 0;
}

// Describes how a run differs from itself in another reference; empty if it does not. A run that
// diverges under some conditions alone is worth an objection.
std::string difference_of(const Twin& first, const Twin& second) {
  const auto status = [](const Json& run) { return run.value("status", std::string()); };
  if (status(*first.run) != status(*second.run)) {
    return concat("is ", status(*second.run), " here, and ", status(*first.run));
  }
  const auto before = comparable_metrics(first, second), own = comparable_metrics(second, first);
  for (const auto& [key, value] : own.items()) {
    const auto other = before.find(key);  // newer code may measure more
    if (other == before.end() || *other == value) continue;
    return are_two_seeds(first, second) ? "" : concat("has another ", key);
  }
  return "";
}

// A run's id stands for its whole configuration, so that two references that hold it must agree: to
// the last bit, or on another processor as far as that can be expected.
void look_for_twins(const References& all, Objections& objections) {
  std::map<std::string, Twin> runs;
  for (const auto& one : all) {
    for (const Json& run : one.runs) {
      if (!run.contains("metrics")) continue;
      const auto id = run.at("id").get<std::string>();
      const auto [place, is_new] = runs.try_emplace(id, Twin{&one, &run});
      if (is_new || place->second.reference == &one) continue;
      const auto difference = difference_of(place->second, {&one, &run});
      if (difference.empty()) continue;
      objections.object(one, "runs.json",
                        concat("run ", id, " ", difference, " in ", place->second.reference->name));
    }
  }
}

using Values = std::set<std::string>;

bool have_in_common(const Values& first, const Values& second) {
  return std::ranges::find_first_of(first, second) != first.end();
}

// The sets joined until no two have a value in common.
std::vector<Values> joined(const std::vector<Values>& sets) {
  std::vector<Values> groups;
  for (Values set : sets) {
    const auto apart = std::partition(groups.begin(), groups.end(), [&](const auto& group) {
      return !have_in_common(group, set);
    });
    for (auto group = apart; group != groups.end(); ++group) set.merge(*group);
    groups.erase(apart, groups.end());
    groups.push_back(std::move(set));
  }
  return groups;
}

// Where runs may come from: a key of their provenance.
struct Origin {
  const char *key, *is, *came, *ends;
  std::string report::Confirmed::*by;
  std::size_t letters;
  bool links;  // a reference that has two values makes them one
};
constexpr Origin kOrigins[] = {
    {"commit", "its commit is ", " references come from ",
     ", or from one that runs made again link to it", &report::Confirmed::commit, 12, true},
    {"cpu", "its processor is ", " references ran on ", ", or are confirmed by it",
     &report::Confirmed::cpu, std::string::npos, false}};

void check_origin(const References& all, const Origin& origin, Objections& objections) {
  std::vector<Values> told, of_each, groups;
  for (const auto& one : all) {
    auto own = told.emplace_back(told_of(one, origin.key).values);
    for (const auto& session : one.confirmed) own.insert(session.*origin.by);
    own.erase("");
    for (const auto& value : own) groups.push_back({value});
    of_each.push_back(std::move(own));
  }
  groups = joined(origin.links ? of_each : groups);
  const auto size = [&](const Values& group) {
    return std::ranges::count_if(of_each,
                                 [&](const auto& own) { return have_in_common(own, group); });
  };
  const auto most = std::ranges::max_element(
      groups, [&](auto& first, auto& second) { return size(first) < size(second); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (told[i].size() != 1 || have_in_common(of_each[i], *most)) continue;
    objections.object(
        all[i], "runs.json",
        concat(origin.is, told[i].begin()->substr(0, origin.letters), "; ", size(*most), " of ",
               all.size(), origin.came, most->begin()->substr(0, origin.letters), origin.ends));
  }
}

}  // namespace

void check_provenance(const References& all, Objections& objections) {
  for (const auto& one : all) look_at_runs(one, objections);
  look_for_twins(all, objections);
  for (const Origin& origin : kOrigins) check_origin(all, origin, objections);
}

}  // namespace difflab::referee
