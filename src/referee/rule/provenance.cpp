// All references come from one clean commit, or are the same under one; each from one kind of
// machine.
#include "record/provenance.h"

#include <algorithm>
#include <map>
#include <set>

#include "referee/rule/rules.h"
#include "report/archive/reproduction.h"
#include "report/archive/tolerance.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

std::string text_at(const Json& provenance, const char* key) {
  const auto found = provenance.find(key);
  if (found == provenance.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Distinct values over the runs with a result.
std::set<std::string> values_of(const Reference& one, const char* key) {
  std::set<std::string> values;
  for (const Json& run : one.runs) {
    const auto provenance = run.find("provenance");
    if (provenance == run.end() || provenance->empty()) continue;
    for (const Json& session : sessions_of(*provenance)) {
      if (auto value = text_at(session, key); !value.empty()) values.insert(std::move(value));
    }
  }
  return values;
}

std::string shortened(const std::set<std::string>& values, std::size_t letters) {
  std::vector<std::string> shown;
  for (const auto& value : values) shown.push_back(value.substr(0, letters));
  return join(shown);
}

void look_at_runs(const Reference& one, Objections& objections) {
  const auto commits = values_of(one, "commit");
  const auto say = [&](const std::string& what) { objections.object(one, "runs.json", what); };
  if (commits.empty()) objections.cannot_check(one, "runs.json", "no run names its commit");
  if (commits.size() > 1) say(concat("runs of several commits: ", shortened(commits, 12)));
  if (values_of(one, "dirty").count("true") > 0) say("runs of a tree with uncommitted changes");
  for (const auto& [key, name] : report::kRunConditions) {
    const auto found = values_of(one, key);
    if (found.size() > 1)
      say(concat("runs of several values of ", key, ": ", shortened(found, 40)));
  }
}

// What of a run's metrics must not depend on when it ran.
Json without_measured(const Json& metrics) {
  Json kept = Json::object();
  for (const auto& [key, value] : metrics.items()) {
    if (!report::metric_of(key).is_measured()) kept[key] = value;
  }
  return kept;
}

// A run that is in two references.
struct Twin {
  const Reference* reference;
  const Json* run;
};

// Whether the later one was made under other conditions and is one more seed among the earlier's.
bool is_one_more_seed(const Twin& first, const Json& run) {
  const auto provenance = [](const Json& of) { return of.value("provenance", Json::object()); };
  if (!first.reference->archive) return false;
  if (report::other_conditions(provenance(*first.run), provenance(run)).empty()) return false;
  const auto& archive = *first.reference->archive;
  const auto id = run.at("id").get<std::string>();
  const auto stands = report::judge_elsewhere(archive.study, archive.frame, id, run);
  return stands.judged > 0 && stands.outside.empty();
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
      if (is_new) continue;
      const Twin& first = place->second;
      const auto before = without_measured(first.run->at("metrics"));
      const auto own = without_measured(run.at("metrics"));
      const auto differs = [&](const auto& metric) {
        const auto other = before.find(metric.key());
        return other != before.end() && *other != metric.value();
      };
      for (auto metric = own.begin(); metric != own.end(); ++metric) {
        if (!differs(metric)) continue;
        if (!is_one_more_seed(first, run)) {
          objections.object(
              one, "runs.json",
              concat("run ", id, " has another ", metric.key(), " in ", first.reference->name));
        }
        break;
      }
    }
  }
}

}  // namespace

void check_provenance(const References& all, Objections& objections) {
  std::map<std::string, std::size_t> commits, processors;
  for (const auto& one : all) {
    look_at_runs(one, objections);
    auto own = values_of(one, "commit"), cpus = values_of(one, "cpu");
    for (const auto& [commit, cpu] : one.confirmed) {
      if (!commit.empty()) own.insert(commit);
      if (!cpu.empty()) cpus.insert(cpu);
    }
    for (const auto& commit : own) ++commits[commit];
    for (const auto& cpu : cpus) ++processors[cpu];
  }
  look_for_twins(all, objections);
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(commits.begin(), commits.end(), less);
  const auto machine = std::max_element(processors.begin(), processors.end(), less);
  for (const auto& one : all) {
    const auto own = values_of(one, "commit"), cpu = values_of(one, "cpu");
    const auto is_confirmed = [&](std::string report::Confirmed::*by, const std::string& value) {
      return std::any_of(one.confirmed.begin(), one.confirmed.end(),
                         [&](const auto& session) { return session.*by == value; });
    };
    if (own.size() == 1 && *own.begin() != most->first &&
        !is_confirmed(&report::Confirmed::commit, most->first)) {
      objections.object(one, "runs.json",
                        concat("its commit is ", own.begin()->substr(0, 12), "; ", most->second,
                               " of ", all.size(), " references come from ",
                               most->first.substr(0, 12), ", or are the same under it"));
    }
    if (cpu.size() == 1 && *cpu.begin() != machine->first &&
        !is_confirmed(&report::Confirmed::cpu, machine->first)) {
      objections.object(
          one, "runs.json",
          concat("its processor is ", *cpu.begin(), "; ", machine->second, " of ", all.size(),
                 " references ran on ", machine->first, ", or are confirmed by it"));
    }
  }
}

}  // namespace difflab::referee
