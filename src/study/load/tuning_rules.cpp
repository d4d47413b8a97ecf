#include "study/load/tuning_rules.h"

#include <algorithm>
#include <string>

#include "config/grid/axes.h"
#include "config/interpolate/interpolation_text.h"
#include "config/value/value.h"
#include "run/run_config.h"
#include "study/load/tuning.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

bool refers(const config::Value& value) {
  if (value.is_string()) return config::has_interpolation(value.as_string());
  return std::any_of(value.items().begin(), value.items().end(), refers) ||
         std::any_of(value.entries().begin(), value.entries().end(),
                     [](const auto& entry) { return refers(entry.value); });
}

// Whether the value of an axis is another one for another value of the tuned key: it would have no
// label that is true of all its runs.
bool follows(const std::string& axis, const config::Point& point, const TuneConfig& tune) {
  const auto* written = point.written->tree.find_path(axis);
  const bool may_follow = written != nullptr && refers(*written);
  const auto* now = point.config.find_path(axis);
  if (!may_follow || now == nullptr) return false;
  return std::any_of(tune.values.begin(), tune.values.end(), [&](double value) {
    config::Problems ignored;  // of the runs, told where they are made
    const auto other = point.written->with({{tune.key, config::Value(value)}}, ignored);
    const auto* then = other.find_path(axis);
    return then == nullptr || config::label_of(*then) != config::label_of(*now);
  });
}

}  // namespace

void check_tuning(const std::vector<config::Point>& points, const Study& study,
                  config::Problems& problems) {
  const auto& tune = study.config.tune;
  const auto add = [&](const std::string& key, const std::string& message) {
    problems.add({}, key, concat(key, " ", message));
  };
  if (tune.key == "train.steps" && (tune.steps > 0 || tune.longer > 0)) {
    add("tune.key", "is train.steps, which tune.steps and tune.longer set, too");
  }
  for (const auto& [axis, value] : study.points.front().axes) {
    if (axis == tune.key) add("tune.key", concat("is ", axis, ", which the sweep varies, too"));
  }
  for (std::size_t i = 0; i < points.size() && problems.empty(); ++i) {
    for (const auto& [axis, value] : points[i].axes) {
      if (!follows(axis, points[i], tune)) continue;
      add("tune.key", concat("is ", tune.key, ", to which the axis ", axis,
                             " refers; expected axes whose values do not depend on it"));
    }
    const auto& run = study.config_of(study.points[i]);
    const auto full = config::from_json(study.points[i].config);
    const auto* value = full.find_path(tune.key);
    if (value == nullptr || !value->is_number()) {
      add("tune.key",
          concat("is ", tune.key, ", which is ", value == nullptr ? "no key" : "no number",
                 " of run ", study.points[i].label(), "; expected e.g. train.lr"));
    }
    if (const auto steps = tune.steps > 0 ? tune.steps : run.train.steps;
        tune.longer > 0 && tune.longer <= steps) {
      add("tune.longer", concat("is ", tune.longer, "; expected more than ", steps,
                                ", the steps of its other runs"));
    }
    if (run.seed >= kFirstTuningSeed) {
      add("tune.seeds", concat("are ", kFirstTuningSeed, " and on; expected reported seeds below, ",
                               "and found ", run.seed));
    }
  }
}

}  // namespace difflab::cli
