// Every arm has its own learning rate for its task, found inside a grid that begins the same for
// all; or rates are what is asked, and all arms run at all of them.
#include <algorithm>
#include <limits>
#include <map>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "statistics/describe.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr const char* kRate = "train.lr";
constexpr std::size_t kRates = 5;
constexpr std::size_t kSeeds = 3;
constexpr std::int64_t kAgain = 8;  // further seeds of finalists

constexpr std::size_t kNamed = 6;

// The first of them, and how many more.
std::string listed(std::vector<std::string> names) {
  const auto more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return join(names) + (more > 0 ? concat(" and ", more, " more") : "");
}

// A reference's own tuning of the learning rate of its arms; null if it did none.
const report::Tuned* own_tuning(const Reference& one) {
  if (!one.archive || !one.archive->study.tuned) return nullptr;
  const auto& tuned = *one.archive->study.tuned;
  return tuned.key == kRate ? &tuned : nullptr;
}

// Arms without a working rate are said to be not tunable by the report itself.
void look_at_own(const Reference& one, const report::Tuned& tuned, Objections& objections) {
  const auto say = [&](const std::string& what) {
    objections.object(one, "observations.json", what);
  };
  const auto rates = tuned.grid.size(), seeds = tuned.seeds.size();
  if (rates < kRates) {
    say(concat("a grid of ", report::number_of(rates, "rate"), "; ", kRates, " are needed"));
  }
  if (seeds < kSeeds) say(concat(seeds, " seeds a rate; ", kSeeds, " are needed"));
  if (tuned.again > 0 && tuned.again < kAgain) {
    say(concat(tuned.again, " more seeds of the best two rates; ", kAgain, " are needed"));
  }
  std::vector<std::string> edge;
  for (const auto& variant : tuned.variants) {
    if (!variant.at_edge) continue;
    std::vector<std::string> name;
    for (const auto& [axis, value] : variant.axes) name.push_back(value);
    edge.push_back(concat(join(name), " (", *variant.value, ")"));
  }
  if (!edge.empty()) say(concat("the best rate is at the edge of the grid for ", listed(edge)));
}

// Rates that are an axis go from one that is too small for an arm to one that is too large.
void look_at_axis(const Reference& one, Objections& objections) {
  const auto& frame = one.archive->frame;
  std::map<double, std::vector<double>> none;
  for (const auto& rate : frame.values(kRate)) none[report::parse_number(rate).value_or(0)];
  if (none.size() < kRates) {
    objections.object(one, "runs.json",
                      concat("an axis of ", none.size(), " rates; ", kRates, " are needed"));
  }
  if (one.statements.empty()) return;
  const auto& metric = one.statements.front().metric;
  const double sign = report::metric_of(metric).better == Better::kHigher ? -1 : 1;
  const auto axis = one.compared_axis();
  std::vector<std::string> edge;
  for (const auto& arm : frame.values(axis)) {
    auto by_rate = none;
    for (const auto& run : frame.runs()) {
      const auto value = run.axis(axis) == arm ? run.reached(metric) : std::nullopt;
      if (value)
        by_rate[report::parse_number(run.axis(kRate)).value_or(0)].push_back(sign * *value);
    }
    std::vector<double> means;
    for (const auto& [rate, values] : by_rate) {
      means.push_back(values.empty() ? std::numeric_limits<double>::infinity() : mean(values));
    }
    const auto best = std::ranges::min_element(means);
    if (best == means.begin() || best + 1 == means.end()) edge.push_back(arm);
  }
  if (!edge.empty()) {
    objections.object(one, "runs.json",
                      concat("the best ", metric, " is at an end of the rates for ", listed(edge)));
  }
}

// True if trained arms are compared with each other.
bool compares(const Reference& one) {
  return one.is_trained() && one.arms().size() > 1 &&
         std::ranges::any_of(one.comparisons,
                             [](const CsvTable& table) { return !table.rows.empty(); });
}

}  // namespace

void check_tuning(const Reference& one, Objections& objections) {
  if (const auto* own = own_tuning(one)) {
    look_at_own(one, *own, objections);
  } else if (compares(one) && one.archive && one.archive->frame.has_axis(kRate)) {
    look_at_axis(one, objections);
  } else if (compares(one)) {
    objections.object(one, "runs.json", concat("nothing tunes the rate of ", listed(one.arms())));
  }
}

}  // namespace difflab::referee
