// All references come from one clean commit, or are the same under one; each from one kind of
// machine.
#include <algorithm>
#include <map>
#include <set>

#include "referee/rule/rules.h"
#include "report/archive/reproduction.h"
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
    if (auto value = text_at(*provenance, key); !value.empty()) values.insert(std::move(value));
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

// A run's id stands for its whole configuration, so that two references that hold it must agree.
void look_for_twins(const References& all, Objections& objections) {
  struct First {
    const Reference* reference;
    Json metrics;
  };
  std::map<std::string, First> runs;
  for (const auto& one : all) {
    for (const Json& run : one.runs) {
      const auto metrics = run.find("metrics");
      if (metrics == run.end()) continue;
      const auto id = run.at("id").get<std::string>();
      const auto [place, is_new] = runs.try_emplace(id, First{&one, without_measured(*metrics)});
      if (is_new) continue;
      const First& first = place->second;
      const auto differs = [&](const auto& metric) {
        const auto other = first.metrics.find(metric.key());
        return other != first.metrics.end() && *other != metric.value();
      };
      const auto own = without_measured(*metrics);
      for (auto metric = own.begin(); metric != own.end(); ++metric) {
        if (!differs(metric)) continue;
        objections.object(
            one, "runs.json",
            concat("run ", id, " has another ", metric.key(), " in ", first.reference->name));
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
    auto own = values_of(one, "commit");
    if (!one.confirmed.commit.empty()) own.insert(one.confirmed.commit);
    for (const auto& commit : own) ++commits[commit];
    auto cpus = values_of(one, "cpu");
    if (!one.confirmed.cpu.empty()) cpus.insert(one.confirmed.cpu);
    for (const auto& cpu : cpus) ++processors[cpu];
  }
  look_for_twins(all, objections);
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(commits.begin(), commits.end(), less);
  const auto machine = std::max_element(processors.begin(), processors.end(), less);
  for (const auto& one : all) {
    const auto own = values_of(one, "commit"), cpu = values_of(one, "cpu");
    if (own.size() == 1 && *own.begin() != most->first && one.confirmed.commit != most->first) {
      objections.object(one, "runs.json",
                        concat("its commit is ", own.begin()->substr(0, 12), "; ", most->second,
                               " of ", all.size(), " references come from ",
                               most->first.substr(0, 12), ", or are the same under it"));
    }
    if (cpu.size() == 1 && *cpu.begin() != machine->first && one.confirmed.cpu != machine->first) {
      objections.object(
          one, "runs.json",
          concat("its processor is ", *cpu.begin(), "; ", machine->second, " of ", all.size(),
                 " references ran on ", machine->first, ", or are confirmed by it"));
    }
  }
}

}  // namespace difflab::referee
