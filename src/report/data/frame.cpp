#include "report/data/frame.h"

#include <cmath>
#include <set>

#include "record/run_directory.h"
#include "report/data/format.h"
#include "report/data/learned.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

const Json* member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(std::string(key));
  return found == json.end() ? nullptr : &*found;
}

std::optional<double> finite(const Json* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Replaces the run's numbers, curve and provenance by those that this study's reference keeps.
void take_view(FrameRun& run, const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  const Json view = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  const auto is_there = [&](const char* key, bool (*is)(const Json&)) {
    return view.is_object() && view.contains(key) && is(view.at(key));
  };
  const auto is_object = [](const Json& json) { return json.is_object(); };
  const auto are_objects = [](const Json& json) {
    return json.is_array() &&
           std::ranges::all_of(json, [](const Json& one) { return one.is_object(); });
  };
  if (!is_there("result", is_object) || !is_there("curve", are_objects) ||
      !is_there("provenance", is_object) || string_at(view.at("result"), "id") != run.plan.id) {
    throw UserError(file.string() + " is damaged; delete it and restore the reference again");
  }
  run.result.update(view.at("result"));
  run.curve = view.at("curve").get<std::vector<Json>>();
  run.provenance = view.at("provenance");
}

FrameRun read_run(const PlannedRun& plan, const std::string& study) {
  FrameRun run;
  run.plan = plan;
  const auto& directory = plan.directory;
  try {
    if (auto provenance = read_provenance(directory)) run.provenance = std::move(*provenance);
    auto standing = standing_of(directory);
    run.state = standing.state;
    run.message = std::move(standing.message);
    if (!standing.result) return run;
    run.result = std::move(*standing.result);
    run.curve = read_metrics(directory);
    run.diverged_at = number_at(run.result, "diverged_at_step");
    if (!study.empty()) take_view(run, directory.restored(study));
  } catch (const UserError& error) {
    run.state = RunState::kFailed;
    run.message = error.what();
    run.result = nullptr;
    run.curve.clear();
  }
  return run;
}

void add_matching(const Observation& row, const TextMap& where, std::vector<Observation>& rows) {
  if (matches(row, where)) rows.push_back(row);
}

bool are_texts(const Json& samples) {
  const auto has_text = [](const Json& one, const char* key) {
    return one.is_object() && one.contains(key) && one[key].is_string();
  };
  return !samples.empty() && std::ranges::all_of(samples, [&](const Json& one) {
    return has_text(one, "prompt") && has_text(one, "text") &&
           (!one.contains("step") || one["step"].is_number_integer());
  });
}

}  // namespace

std::string_view shown(RunState state) {
  return state == RunState::kNew ? "not run" : name_of(state);
}

std::optional<double> parse_number(std::string_view text) {
  const auto number = parse_whole<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_same_value(std::string_view a, std::string_view b) {
  const auto number = parse_number(a);
  return a == b || (number && parse_number(b) == number);
}

std::string value_of_axis(const Axes& axes, std::string_view name) {
  for (const auto& [axis, value] : axes) {
    if (axis == name) return value;
  }
  return "";
}

std::string FrameRun::axis(std::string_view name) const { return value_of_axis(plan.axes, name); }

const Json* at_path(const Json& json, std::string_view path) {
  if (const Json* whole = member(json, path)) return whole;
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const Json* inner = member(json, path.substr(0, dot));
  return inner == nullptr ? nullptr : at_path(*inner, path.substr(dot + 1));
}

std::optional<double> number_at(const Json& json, std::string_view path) {
  return finite(at_path(json, path));
}

std::string text_of(const Json& value) {
  if (value.is_number()) return plain_number(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string told_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<double> FrameRun::metric(std::string_view key) const {
  return number_at(result, concat("metrics.", key));
}

std::optional<double> FrameRun::censored_above(std::string_view key) const {
  return metric(key) ? std::nullopt : number_at(result, concat("censored.", key));
}

std::optional<double> FrameRun::reached(std::string_view key) const {
  const auto bound = censored_above(key);
  return bound ? bound : metric(key);
}

const Json* FrameRun::config(std::string_view path) const { return at_path(plan.config, path); }

std::string FrameRun::setting(std::string_view path) const {
  const Json* value = config(path);
  return value == nullptr ? "" : text_of(*value);
}

Json Observation::value(std::string_view key) const {
  if (const Json* own = fields == nullptr ? nullptr : member(*fields, key)) return *own;
  for (const auto& [axis, text] : run->plan.axes) {
    if (axis != key) continue;
    const auto number = parse_number(text);
    return number ? Json(*number) : Json(text);
  }
  if (const auto metric = run->metric(key)) return *metric;
  const Json* setting = run->config(key);
  return setting == nullptr ? Json(nullptr) : *setting;
}

std::optional<double> Observation::measured(std::string_view key) const {
  if (fields == nullptr) return run->metric(key);
  return finite(member(*fields, key));
}

std::string Observation::text(std::string_view key) const { return text_of(value(key)); }

bool matches(const Observation& row, const TextMap& where) {
  return std::ranges::all_of(where.entries, [&](const auto& entry) {
    const auto number = parse_number(entry.second);
    const Json value = row.value(entry.first);
    return number ? value.is_number() && value.get<double>() == *number
                  : row.text(entry.first) == entry.second;
  });
}

std::vector<FrameRun> read_runs(const std::vector<PlannedRun>& runs, const std::string& study) {
  std::vector<FrameRun> found;
  for (const PlannedRun& plan : runs) found.push_back(read_run(plan, study));
  return found;
}

Frame::Frame(std::vector<FrameRun> runs, std::string baseline, const LearnedConfig& learned,
             const std::vector<DerivedConfig>& derived, const TimesConfig& times)
    : runs_(std::move(runs)), baseline_(std::move(baseline)), times_(times) {
  for (FrameRun& run : runs_) {
    for (const auto& [axis, value] : run.plan.axes) add_new(axes_, axis);
    if (!run.has_result()) continue;
    add_bounds_of_diverged(run);
    if (learned.given()) add_learned(learned, run);
  }
  for (FrameRun& run : runs_) {
    if (!run.has_result()) continue;
    const auto add = [&](const auto& config) {  // from here on it is a metric like any other
      if (const auto value = config.of(run, *this)) run.result["metrics"][config.name] = *value;
    };
    for (const DerivedConfig& one : derived) std::visit(add, one);
  }
}

Axes without_seed(Axes axes) {
  std::erase_if(axes, [](const auto& axis) { return axis.first == kSeedAxis; });
  return axes;
}

bool Frame::are_partners(const FrameRun& a, const FrameRun& b,
                         const std::vector<std::string>& but) const {
  return std::ranges::all_of(axes_, [&](const std::string& axis) {
    return is_among(axis, but) || a.axis(axis) == b.axis(axis);
  });
}

bool Frame::has_axis(std::string_view name) const { return is_among(name, axes_); }

std::vector<std::string> Frame::values(std::string_view axis) const {
  std::vector<std::string> distinct;
  for (const FrameRun& run : runs_) add_new(distinct, run.axis(axis));
  return distinct;
}

std::vector<Json> cells_of_looks(const Json& looks) {
  static constexpr std::string_view kOfLayer = "lambda.";
  if (!looks.is_object()) return {};  // of a damaged file
  const double every = looks.value("every", 0.0);
  std::size_t count = 0;
  for (const Json& values : looks) count = std::max(count, values.is_array() ? values.size() : 0);
  std::vector<Json> cells;
  for (std::size_t i = 0; i < count; ++i) {
    const Json step{{"step", every * static_cast<double>(i + 1)}};
    Json all = step;
    std::vector<Json> layers;
    for (const auto& [name, values] : looks.items()) {
      if (!values.is_array() || i >= values.size() || values[i].is_null()) continue;
      const bool is_lambda = name.starts_with(kOfLayer);
      const auto layer = is_lambda ? parse_number(name.substr(kOfLayer.size())) : std::nullopt;
      Json& cell = layer ? layers.emplace_back(step) : all;
      if (layer) cell["layer"] = *layer;
      cell[layer ? kLambda : name] = values[i];
    }
    cells.push_back(std::move(all));
    cells.insert(cells.end(), layers.begin(), layers.end());
  }
  return cells;
}

std::vector<Observation> cells_of(const FrameRun& run, const std::string& source,
                                  const TextMap& where) {
  std::vector<Observation> rows;
  if (is_of_looks(source)) {
    for (const Json& cell : run.looks) {
      if (cell.contains("layer") != (source == kLambda)) continue;
      add_matching({.run = &run, .fields = &cell}, where, rows);
    }
    return rows;
  }
  const Json& details = object_at(object_at(run.result, "evaluations"), source.c_str());
  for (const Json& cell : list_at(details, "cells")) {
    add_matching({.run = &run, .fields = &cell}, where, rows);
  }
  return rows;
}

std::vector<Observation> Frame::observations(const std::string& source, bool curve,
                                             const TextMap& where) const {
  std::vector<Observation> rows;
  for (const FrameRun& run : runs_) {
    if (!run.has_result()) continue;
    if (!source.empty()) {
      const auto cells = cells_of(run, source, where);
      rows.insert(rows.end(), cells.begin(), cells.end());
    } else if (curve) {
      for (const Json& line : run.curve) {
        add_matching({.run = &run, .fields = &line, .of_curve = true}, where, rows);
      }
    } else {
      add_matching({.run = &run, .fields = nullptr}, where, rows);
    }
  }
  return rows;
}

std::map<std::string, std::size_t> restored_beside_new(const Frame& frame) {
  std::map<std::string, std::size_t> restored;
  bool is_any_new = false;
  for (const FrameRun& run : frame.runs()) {
    if (!run.has_result()) continue;
    const auto from = string_at(run.provenance, "restored_from");
    is_any_new = is_any_new || from.empty();
    if (!from.empty()) ++restored[from];
  }
  return is_any_new ? restored : std::map<std::string, std::size_t>();
}

std::vector<const FrameRun*> Frame::all_runs() const {
  std::vector<const FrameRun*> all;
  for (const FrameRun& run : runs_) all.push_back(&run);
  return all;
}

std::vector<double> chance_in(const std::vector<const FrameRun*>& runs, std::string_view metric) {
  const std::string key = std::string(metric) + "_chance";
  std::set<double> levels;
  for (const FrameRun* run : runs) {
    if (const auto level = run->metric(key)) levels.insert(*level);
  }
  return {levels.begin(), levels.end()};
}

std::vector<std::pair<std::string, const Json*>> texts_in(const Json& result) {
  std::vector<std::pair<std::string, const Json*>> texts;
  for (const auto& [name, details] : object_at(result, "evaluations").items()) {
    const Json& samples = list_at(details, "samples");
    if (are_texts(samples)) texts.emplace_back(name, &samples);
  }
  return texts;
}

std::map<std::string, std::int64_t> cut_contexts(const FrameRun& run) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [name, details] : object_at(run.result, "evaluations").items()) {
    if (!details.is_object()) continue;
    const Json count = details.value("cut_contexts", Json());
    if (count.is_number_integer() && count > 0) counts[name] = count;
  }
  return counts;
}

}  // namespace difflab::report
