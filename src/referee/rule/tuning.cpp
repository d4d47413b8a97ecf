// Every arm has its own learning rate for its task, found inside a grid that is the same for all.
#include <algorithm>
#include <functional>
#include <map>

#include "referee/rule/rules.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr const char* kRate = "train.lr";
constexpr std::size_t kRates = 5;
constexpr double kSeeds = 3;
constexpr double kWorks = 0.5;  // an accuracy below is no working rate

constexpr std::size_t kNamed = 6;

// The first of them, and how many more.
std::string listed(std::vector<std::string> names) {
  const auto more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return join(names) + (more > 0 ? concat(" and ", more, " more") : "");
}

// What one arm scored at each rate.
struct Trial {
  double rate, seeds;
  std::optional<double> score;  // empty: no run learned
};

bool is_better(const report::Metric& metric, const Trial& one, const Trial& other) {
  if (!one.score || !other.score) return one.score.has_value();
  return metric.better == Better::kLower ? *one.score < *other.score : *one.score > *other.score;
}

// The metric that a rate is picked by: the first mean with a better direction.
std::optional<report::Metric> picked_by(const CsvTable& table) {
  for (const auto& column : table.columns) {
    if (!column.starts_with("mean_")) continue;
    const auto metric = report::metric_of(column.substr(5));
    if (metric.better != Better::kNeither && !metric.is_time()) return metric;
  }
  return std::nullopt;
}

std::map<std::string, std::vector<Trial>> trials_of(const CsvTable& table,
                                                    const report::Metric& metric) {
  std::map<std::string, std::vector<Trial>> arms;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> name;
    for (std::size_t i = 0; i < table.keys(); ++i) {
      if (table.columns[i] != kRate) name.push_back(table.rows[row][i]);
    }
    const auto rate = table.number(row, kRate), score = table.number(row, "mean_" + metric.key);
    const auto seeds = table.number(row, "with_result");
    if (rate) arms[join(name)].push_back({*rate, seeds.value_or(0), score});
  }
  for (auto& [arm, trials] : arms) {
    std::sort(trials.begin(), trials.end(),
              [](const Trial& a, const Trial& b) { return a.rate < b.rate; });
  }
  return arms;
}

// A table with the rate among the axes of its rows.
bool is_tuning(const CsvTable& table) {
  const auto rate = table.column(kRate);
  return rate && *rate < table.keys() && picked_by(table).has_value();
}

// What a reference that tuned its own arms says of it; null if it did not.
const report::Tuned* own_tuning(const Reference& one) {
  if (!one.archive || !one.archive->study.tuned) return nullptr;
  const auto& tuned = *one.archive->study.tuned;
  return tuned.key == kRate ? &tuned : nullptr;
}

void require_enough(std::size_t rates, double seeds, const std::function<void(std::string)>& say) {
  if (rates < kRates)
    say(concat("a grid of ", rates, rates == 1 ? " rate; " : " rates; ", kRates, " are needed"));
  if (seeds < kSeeds) say(concat(seeds, " seeds a rate; ", kSeeds, " are needed"));
}

// Arms without a working rate are said to be not tunable by the report itself.
void look_at_own(const Reference& one, const report::Tuned& tuned, Objections& objections) {
  const auto say = [&](const std::string& what) {
    objections.object(one, "observations.json", what);
  };
  require_enough(tuned.grid.size(), static_cast<double>(tuned.seeds.size()), say);
  std::vector<std::string> edge;
  for (const auto& variant : tuned.variants) {
    if (!variant.at_edge) continue;
    std::vector<std::string> name;
    for (const auto& [axis, value] : variant.axes) name.push_back(value);
    edge.push_back(concat(join(name), " (", *variant.value, ")"));
  }
  if (!edge.empty()) say(concat("the best rate is at the edge of the grid for ", listed(edge)));
}

void look_at_grid(const Reference& one, const CsvTable& table, Objections& objections) {
  const auto metric = *picked_by(table);
  std::vector<std::string> edge, dead;
  std::size_t rates = kRates;
  double seeds = kSeeds;
  const auto arms = trials_of(table, metric);
  for (const auto& [arm, trials] : arms) {
    rates = std::min(rates, trials.size());
    for (const auto& trial : trials) seeds = std::min(seeds, trial.seeds);
    auto best = trials.begin();
    for (auto trial = trials.begin(); trial != trials.end(); ++trial) {
      if (is_better(metric, *trial, *best)) best = trial;
    }
    if (!best->score || (metric.is_share && *best->score < kWorks)) {
      dead.push_back(best->score ? concat(arm, " (", metric.text(*best->score), ")") : arm);
    } else if (best == trials.begin() || best + 1 == trials.end()) {
      edge.push_back(concat(arm, " (", best->rate, ")"));
    }
  }
  const auto say = [&](const std::string& what) { objections.object(one, table.file, what); };
  require_enough(rates, seeds, say);
  if (!edge.empty()) say(concat("the best rate is at the edge of the grid for ", listed(edge)));
  if (!dead.empty()) {
    say(concat("no rate works for ", listed(dead), " by ", metric.key,
               "; they are to be called not tunable, and the grid to grow"));
  }
}

// Arms that some reference tuned, by task.
struct Tuned {
  std::string task, arm;
  bool operator==(const Tuned&) const = default;
};

std::string task_of(const Reference& one) {
  const auto kinds = one.values("task.kind");
  return join({kinds.begin(), kinds.end()}, " and ");
}

std::vector<Tuned> tuned_arms(const References& all) {
  std::vector<Tuned> tuned;
  for (const auto& one : all) {
    const bool tunes = std::any_of(one.tables.begin(), one.tables.end(), is_tuning);
    if (!tunes) continue;
    for (const auto& arm : one.arms()) tuned.push_back({task_of(one), arm});
  }
  return tuned;
}

// Whether trained arms are compared with each other.
bool compares(const Reference& one) {
  return one.is_trained() && one.arms().size() > 1 &&
         std::any_of(one.comparisons.begin(), one.comparisons.end(),
                     [](const CsvTable& table) { return !table.rows.empty(); });
}

}  // namespace

void check_tuning(const References& all, Objections& objections) {
  const auto tuned = tuned_arms(all);
  for (const auto& one : all) {
    for (const auto& table : one.tables) {
      if (is_tuning(table)) look_at_grid(one, table, objections);
    }
    if (const auto* own = own_tuning(one)) {
      look_at_own(one, *own, objections);
      continue;
    }
    if (!compares(one)) continue;
    const auto task = task_of(one);
    if (task.empty()) {
      objections.cannot_check(one, "runs.json", "the task of its runs is not told");
      continue;
    }
    std::vector<std::string> untuned;
    for (const auto& arm : one.arms()) {
      const bool found = std::find(tuned.begin(), tuned.end(), Tuned{task, arm}) != tuned.end();
      if (!found) untuned.push_back(arm);
    }
    if (untuned.empty()) continue;
    objections.object(
        one, "runs.json",
        concat("no reference tunes the rate on task ", task, " of ", listed(untuned)));
  }
}

}  // namespace difflab::referee
