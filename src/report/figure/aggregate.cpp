#include <algorithm>
#include <map>

#include "report/data/format.h"
#include "report/data/learned.h"
#include "report/figure/parts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// A value's place in the order of its key.
struct Rank {
  double number = 0;
  std::string text;
  auto operator<=>(const Rank&) const = default;
};

Rank rank_of(const Json& value, const std::vector<std::string>& axis_values) {
  if (!axis_values.empty()) {
    const std::string text = text_of(value);
    for (std::size_t i = 0; i < axis_values.size(); ++i) {
      const auto number = parse_number(axis_values[i]);
      if (axis_values[i] == text || (number && value.is_number() && *number == value)) {
        return {.number = static_cast<double>(i), .text = ""};
      }
    }
  }
  if (value.is_number()) return {.number = value.get<double>(), .text = ""};
  return {.number = 0, .text = text_of(value)};
}

struct Collected {
  Group group;
  std::vector<std::vector<double>> values;  // per run
};

void collect(Collected& collected, const Observation& row, double value) {
  auto& [group, values] = collected;
  // Rows come run by run, so the run of this row is the last one or a new one.
  if (group.runs.empty() || group.runs.back() != row.run) {
    group.runs.push_back(row.run);
    values.emplace_back();
  }
  values.back().push_back(value);
  const auto right = row.measured("correct");
  const auto answers = row.measured("n");
  if (!right || !answers) return;
  group.right += static_cast<std::int64_t>(*right);
  group.answers += static_cast<std::int64_t>(*answers);
}

// Curves show how a run learned, or did not; everything else asks for what it has learned.
bool asks_the_unlearned(const Observation& row, const Metric& metric) {
  return !row.of_curve && is_unlearned(*row.run, metric);
}

}  // namespace

std::vector<Group> aggregate(const Frame& frame, const std::vector<Observation>& rows,
                             const std::vector<std::string>& keys, const std::string& measure) {
  std::vector<std::vector<std::string>> axis_values;
  for (const std::string& key : keys) {
    axis_values.push_back(frame.has_axis(key) ? frame.values(key) : std::vector<std::string>{});
  }
  const Metric metric = metric_of(measure);
  std::map<std::vector<Rank>, Collected> collected;
  for (const Observation& row : rows) {
    const auto value = row.fields == nullptr ? row.run->reached(measure) : row.measured(measure);
    if (!value || asks_the_unlearned(row, metric)) continue;
    std::vector<Rank> rank;
    std::vector<Json> values;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      values.push_back(keys[i].empty() ? Json(nullptr) : row.value(keys[i]));
      rank.push_back(rank_of(values.back(), axis_values[i]));
    }
    Collected& place = collected[rank];
    place.group.keys = std::move(values);
    place.group.censored += row.measured(measure) ? 0 : 1;
    collect(place, row, *value);
  }
  std::vector<Group> groups;
  for (auto& [rank, place] : collected) {
    Group& group = place.group;
    for (const auto& values : place.values) group.values.push_back(mean(values));
    group.average = mean(group.values);
    if (group.censored == 0) group.interval = interval_of_mean(group.values, metric);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<Group> differences(const Frame& frame, const std::vector<Group>& groups,
                               const std::vector<std::string>& keys, const std::string& axis,
                               const std::string& against, const Metric& metric) {
  const auto is_reference = [&](const Group& group) {
    return !group.runs.empty() && is_same_value(group.runs.front()->axis(axis), against);
  };
  const auto have_same_place = [&](const Group& a, const Group& b) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != axis && a.keys[i] != b.keys[i]) return false;
    }
    return true;
  };
  std::vector<Group> result;
  for (const Group& group : groups) {
    const auto base = std::ranges::find_if(groups, [&](const Group& other) {
      return is_reference(other) && have_same_place(other, group);
    });
    if (is_reference(group) || base == groups.end()) continue;
    Group difference;
    difference.keys = group.keys;
    for (std::size_t i = 0; i < group.runs.size(); ++i) {
      for (std::size_t j = 0; j < base->runs.size(); ++j) {
        if (!frame.are_partners(*group.runs[i], *base->runs[j], {axis})) continue;
        difference.runs.push_back(group.runs[i]);
        difference.values.push_back(group.values[i] - base->values[j]);
      }
    }
    if (difference.values.empty()) continue;
    difference.average = mean(difference.values);
    difference.censored = group.censored + base->censored;
    if (difference.censored == 0) {
      difference.interval = interval_of_difference(difference.values, metric);
    }
    result.push_back(std::move(difference));
  }
  return result;
}

std::string describe_spread(const std::vector<Group>& groups, bool shows_interval) {
  std::size_t least = 0, most = 0, censored = 0;
  for (const Group& group : groups) {
    least = least == 0 ? group.n() : std::min(least, group.n());
    most = std::max(most, group.n());
    censored += group.censored;
  }
  if (most == 0) return "No finished run has this metric";
  const std::string never = censored == 0 ? ""
                                          : concat("; ", censored,
                                                   censored == 1 ? " that never got there counts"
                                                                 : " that never got there count",
                                                   " with the last step, without interval");
  if (most == 1) return concat("One run each, so no interval", never);
  return concat(shows_interval ? "Mean and 95 % interval over " : "Mean over ",
                least == most ? "" : concat(least, "–"), most, " runs", never);
}

std::string describe_gaps(const Frame& frame, const std::string& axis, const TextMap& where,
                          const Labels& labels) {
  // A key that is no axis excludes no run: all runs share its value, or only their cells have it.
  const auto& axes = frame.axes();
  const auto is_behind = [&](const FrameRun& run) {
    return std::ranges::all_of(where.entries, [&](const auto& entry) {
      return !is_among(entry.first, axes) ||
             matches({.run = &run, .fields = nullptr}, TextMap{{entry}});
    });
  };
  std::vector<std::string> diverged, missing, not_learned;
  for (const std::string& value : frame.values(axis)) {
    std::size_t planned = 0, absent = 0, unlearned = 0;
    std::vector<std::string> steps;
    for (const FrameRun& run : frame.runs()) {
      if (run.axis(axis) != value || !is_behind(run)) continue;
      ++planned;
      if (!run.has_result()) ++absent;
      if (run.metric(kLearned) == 0.0) ++unlearned;
      if (run.state == RunState::kDiverged) {
        steps.push_back(run.diverged_at ? format_number(*run.diverged_at, 0) : "unknown");
      }
    }
    const std::string label = value.empty() ? "all runs" : labels.value(value);
    if (!steps.empty()) diverged.push_back(concat(label, " (step ", join(steps), ")"));
    if (absent > 0) missing.push_back(concat(label, " (", absent, " of ", planned, ")"));
    if (unlearned > 0) not_learned.push_back(concat(label, " (", unlearned, " of ", planned, ")"));
  }
  std::vector<std::string> sentences;
  if (!diverged.empty()) sentences.push_back("Diverged: " + join(diverged));
  if (!missing.empty()) sentences.push_back("Without a result: " + join(missing));
  if (!not_learned.empty()) sentences.push_back("Not learned: " + join(not_learned));
  return join(sentences, ". ");
}

}  // namespace difflab::report
