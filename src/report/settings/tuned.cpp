#include "report/settings/tuned.h"

#include <algorithm>
#include <cmath>

#include "config/value/value.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string name_of(const Tuned::Variant& variant) {
  std::vector<std::string> values;
  for (const auto& [axis, value] : variant.axes) values.push_back(value);
  return values.empty() ? "all runs" : join(values, " ");
}

// As the tuned axis shows it.
std::string value_text(double number) {
  return number == std::floor(number) ? plain_number(number) : config::number_text(number);
}

// Joins what `told` says of each variant, without empty texts.
std::string each(const Tuned& tuned, const auto& told, std::string_view separator = ", ") {
  std::vector<std::string> found;
  for (const auto& variant : tuned.variants) found.push_back(told(variant));
  std::erase(found, "");
  return join(found, separator);
}

std::string names(const Tuned& tuned, const auto& which) {
  return each(tuned, [&](const auto& one) { return which(one) ? name_of(one) : ""; });
}

std::string taken(const Tuned& tuned) {
  return each(tuned, [](const auto& one) {
    return one.value
               ? concat(name_of(one), " ", value_text(*one.value), one.at_edge ? " (edge)" : "")
               : "";
  });
}

std::string not_tunable(const Tuned& tuned) {
  return names(tuned, [](const Tuned::Variant& variant) { return !variant.value; });
}

std::string with_some_seeds(const Tuned& tuned) {
  const auto seeds = tuned.seeds.size() + static_cast<std::size_t>(tuned.again);
  return each(tuned, [&](const auto& one) {
    return one.learned ? concat(name_of(one), " (", *one.learned, " of ", seeds, ")") : "";
  });
}

// The metrics on the scale on which their means are taken.
std::vector<double> on_scale(const Tuned& tuned, const Tuned::Finalist& one) {
  auto values = one.metrics;
  if (tuned.is_geometric) std::transform(values.begin(), values.end(), values.begin(), log_of_time);
  return values;
}

// "0.003: 231 (220 to 243)".
std::string estimate(const Tuned& tuned, const Tuned::Finalist& one) {
  const auto text = [](double number) {
    return format_number(number, std::abs(number) < 100 ? 3 : 0);
  };
  auto said = concat(value_text(one.value), ": ", text(tuned.mean_of(one)));
  if (const auto interval = tuned.interval_of(one))
    said += concat(" (", text(interval->low), " to ", text(interval->high), ")");
  return said;
}

// The means and intervals are for readers; they follow from the metrics.
Json finalists_json(const Tuned& tuned, const Tuned::Variant& variant) {
  Json list = Json::array();
  for (const auto& one : variant.finalists) {
    list.push_back({{"value", one.value},
                    {"metrics", one.metrics},
                    {"learned", one.learned},
                    {"mean", tuned.mean_of(one)}});
    if (const auto interval = tuned.interval_of(one))
      list.back()["interval"] = {interval->low, interval->high};
  }
  return list;
}

// A sentence on the finalists, and one on those that tie.
std::string on_finalists(const Tuned& tuned) {
  if (tuned.again == 0) return "";
  const auto first = tuned.seeds.back() + 1, last = tuned.seeds.back() + tuned.again;
  auto text = concat(" The best two values of each variant went on to ", tuned.again,
                     tuned.again == 1 ? concat(" more seed, ", first)
                                      : concat(" more seeds, ", first, " to ", last),
                     ", and taken was the better by all of its seeds.");
  const auto told = [&](const Tuned::Variant& variant) {
    if (!tuned.ties(variant)) return std::string();
    return concat(name_of(variant), " (", estimate(tuned, variant.finalists[0]), ", ",
                  estimate(tuned, variant.finalists[1]), ")");
  };
  if (const auto ties = each(tuned, told, "; "); !ties.empty()) {
    text += concat(" The two tie, as their 95 % intervals of the ",
                   tuned.is_geometric ? "geometric " : "",
                   "mean overlap in more than half of the shorter one, for ", ties,
                   ": what is said of such a variant has to hold at both values.");
  }
  return text;
}

}  // namespace

double Tuned::mean_of(const Finalist& one) const {
  const double found = mean(on_scale(*this, one));
  return is_geometric ? std::exp(found) : found;
}

std::optional<Interval> Tuned::interval_of(const Finalist& one) const {
  auto found = t_interval(on_scale(*this, one));
  if (found && is_geometric) found = {std::exp(found->low), std::exp(found->high)};
  return found;
}

bool Tuned::ties(const Variant& variant) const {
  if (variant.finalists.size() < 2) return false;
  const auto one = t_interval(on_scale(*this, variant.finalists[0]));
  const auto other = t_interval(on_scale(*this, variant.finalists[1]));
  if (!one || !other) return true;  // nothing tells them apart
  const double overlap = std::min(one->high, other->high) - std::max(one->low, other->low);
  const double shorter = std::min(one->high - one->low, other->high - other->low);
  return shorter > 0 ? overlap > shorter / 2 : overlap >= 0;
}

std::string listed(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(value_text(number));
  return join(texts);
}

std::string Tuned::text() const {
  std::string text = concat(
      key, " was tuned for each variant on the validation split: ", listed(grid),
      beyond.empty() ? ""
                     : concat(" (beyond, where the best lay at an edge: ", listed(beyond), ")"),
      ", in runs of ", format_number(static_cast<double>(steps), 0), " steps with ",
      seeds.size() == 1 ? "seed " : "seeds ", listed({seeds.begin(), seeds.end()}),
      ", which are reported in tuning/; taken was ", criterion, ": ", taken(*this), ".");
  if (with_one_seed > 0) {
    text += concat(" ", with_one_seed, " of the ", trials,
                   " trials of a value for a variant ended with one seed: it did not learn, or "
                   "diverged, and the value could not be taken any more.");
  }
  text += on_finalists(*this);
  if (const auto some = with_some_seeds(*this); !some.empty()) {
    text += concat(" With the value that was taken not every seed got there: ", some, ".");
  }
  if (const auto late = names(*this, [](const Variant& variant) { return variant.is_longer; });
      !late.empty()) {
    text += concat(" With the first seed no value worked in these steps for ", late,
                   ", so that all were tried anew there in runs of ",
                   format_number(static_cast<double>(longer), 0),
                   " steps, which are reported in place of the shorter ones.");
  }
  if (const auto edge = names(*this, [](const Variant& variant) { return variant.at_edge; });
      !edge.empty()) {
    text += concat(" At the edge of the grid, so that a better value may lie beyond: ", edge, ".");
  }
  if (const auto none = not_tunable(*this); !none.empty()) {
    text += concat(" Not tunable, as none of these values works: ", none, ".");
  }
  return text;
}

std::string Tuned::picks() const {
  const auto none = not_tunable(*this);
  return concat(taken(*this), none.empty() ? "" : concat("; not tunable: ", none));
}

Json Tuned::json() const {
  Json list = Json::array();
  for (const auto& variant : variants) {
    list.push_back({{"axes", variant.axes},
                    {"value", variant.value ? Json(*variant.value) : Json()},
                    {"at_edge", variant.at_edge}});
    if (variant.is_longer) list.back()["is_longer"] = true;
    if (variant.learned) list.back()["learned"] = *variant.learned;
    if (again > 0) {
      list.back()["finalists"] = finalists_json(*this, variant);
      list.back()["ties"] = ties(variant);
    }
  }
  Json json{{"key", key},     {"grid", grid},           {"seeds", seeds},
            {"steps", steps}, {"criterion", criterion}, {"variants", std::move(list)}};
  if (std::ranges::any_of(variants, &Variant::is_longer)) json["longer"] = longer;
  if (!beyond.empty()) json["beyond"] = beyond;
  if (with_one_seed > 0) {
    json["with_one_seed"] = with_one_seed;
    json["trials"] = trials;
  }
  if (again > 0) {
    json["again"] = again;
    json["metric"] = metric;
    json["is_geometric"] = is_geometric;
  }
  return json;
}

Tuned Tuned::of(const Json& json) {
  Tuned tuned{.key = json.at("key"),
              .grid = json.at("grid").get<std::vector<double>>(),
              .seeds = json.at("seeds").get<std::vector<std::int64_t>>(),
              .steps = json.at("steps"),
              .longer = json.value("longer", std::int64_t{0}),
              .criterion = json.at("criterion"),
              .with_one_seed = json.value("with_one_seed", 0),
              .trials = json.value("trials", 0),
              .again = json.value("again", std::int64_t{0}),
              .metric = json.value("metric", ""),
              .is_geometric = json.value("is_geometric", false),
              .beyond = json.value("beyond", std::vector<double>())};
  for (const Json& one : json.at("variants")) {
    Variant variant;
    for (const Json& axis : one.at("axes")) variant.axes.emplace_back(axis.at(0), axis.at(1));
    if (!one.at("value").is_null()) variant.value = one.at("value").get<double>();
    variant.at_edge = one.at("at_edge");
    variant.is_longer = one.value("is_longer", false);
    if (one.contains("learned")) variant.learned = one.at("learned").get<int>();
    for (const Json& finalist : one.value("finalists", Json::array())) {
      variant.finalists.push_back({.value = finalist.at("value"),
                                   .metrics = finalist.at("metrics"),
                                   .learned = finalist.at("learned")});
    }
    tuned.variants.push_back(std::move(variant));
  }
  return tuned;
}

}  // namespace difflab::report
