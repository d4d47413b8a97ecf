#include <algorithm>
#include <set>
#include <variant>

#include "report/archive/rebuild.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Keys of rows that figures read besides those that their settings name.
constexpr const char* kAskedAnyway[] = {"step", "chance", "correct", "n"};

/// The rows of a run, cells and lines of its curve, that a report looks at, with the keys that it
/// asks them for. Everything else of a run's details is left to its directory.
class RowsInUse {
 public:
  explicit RowsInUse(const ReportConfig& report)
      : keys_(std::begin(kAskedAnyway), std::end(kAskedAnyway)) {
    const auto add_any = [this](const auto& config) { add(config); };
    for (const auto& figure : report.figures) std::visit(add_any, figure);
    for (const auto& derived : report.derived) std::visit(add_any, derived);
    if (report.learned.given()) {
      keys_.insert(report.learned.metric);
      uses_.push_back({});
    }
  }

  /// Packed lines of the run's curve; null if nothing draws or asks it.
  Json curve_of(const FrameRun& run) const {
    const bool is_used =
        std::ranges::any_of(uses_, [](const Use& use) { return use.source.empty(); });
    if (!is_used || run.curve.empty()) return nullptr;
    std::vector<const Json*> lines;
    for (const Json& line : run.curve) lines.push_back(&line);
    return pack(lines);
  }

  /// Source → packed cells; what the models wrote (texts_in) as it is.
  Json evaluations_of(const FrameRun& run) const {
    Json evaluations = Json::object();
    for (const Use& use : uses_) {
      if (use.source.empty() || evaluations.contains(use.source)) continue;
      std::vector<const Json*> cells;
      for (const Observation& row : cells_of(run, use.source, {})) {
        if (draws(row, use.source)) cells.push_back(row.fields);
      }
      if (!cells.empty()) evaluations[use.source] = pack(cells);
    }
    for (const auto& [name, samples] : texts_in(run.result)) {
      if (!evaluations.contains(name)) evaluations[name] = {{"samples", *samples}};
    }
    for (const auto& [name, count] : cut_contexts(run)) evaluations[name]["cut_contexts"] = count;
    return evaluations;
  }

 private:
  struct Use {
    std::string source;  ///< empty: the curve
    TextMap where;
  };

  void add(auto config) {
    std::set<std::string> texts;  // some are keys of rows, and which ones only the kind knows
    EachKey each{"", [&](auto, const std::string& text) { texts.insert(text); }};
    config.visit_fields(each);
    for (const auto& [key, text] : config.where.entries) texts.insert(key);
    keys_.insert(texts.begin(), texts.end());
    if (is_of_looks(config.source)) return;  // which runs.json has
    const bool of_curve = texts.count("step") > 0;
    if (!config.source.empty() || of_curve) uses_.push_back({config.source, config.where});
  }

  bool draws(const Observation& cell, const std::string& source) const {
    return std::ranges::any_of(
        uses_, [&](const Use& use) { return use.source == source && matches(cell, use.where); });
  }

  // {"keys": [[…], …], "rows": [[which keys, value, …], …]}: the keys of cells are as long as their
  // values, and there are thousands of cells.
  Json pack(const std::vector<const Json*>& rows) const {
    Json packed = {{"keys", Json::array()}, {"rows", Json::array()}};
    auto& kinds = packed["keys"];
    for (const Json* row : rows) {
      Json keys = Json::array();
      Json values = Json::array({0});
      for (const auto& [key, value] : row->items()) {
        if (keys_.count(key) == 0) continue;
        keys.push_back(key);
        values.push_back(value);
      }
      auto kind = std::ranges::find(kinds, keys);
      if (kind == kinds.end()) kind = kinds.insert(kinds.end(), std::move(keys));
      values[0] = kind - kinds.begin();
      packed["rows"].push_back(std::move(values));
    }
    return packed;
  }

  std::vector<Use> uses_;
  std::set<std::string> keys_;
};

Json study_json(const Study& study) {
  Json report = config::to_json(config::write(study.report));
  // Folders from before these keys stay as they are.
  if (study.report.times.compare == Compared::kDifferences) report.erase("times");
  if (study.report.opponents.empty()) report.erase("opponents");
  if (study.report.style == StyleConfig{}) report.erase("style");
  for (Json& figure : report["figures"]) {
    if (figure.value("opponents", Json::array()).empty()) figure.erase("opponents");
    if (!figure.value("shared", false)) figure.erase("shared");
  }
  return {{"title", study.title},
          {"question", study.question},
          {"prediction", study.prediction},
          {"notes", study.notes},
          {"baseline", study.baseline},
          {"unmatched", study.unmatched},
          {"tuned", study.tuned ? study.tuned->json() : Json()},
          {"settings", study.settings},
          {"report", std::move(report)}};
}

// The configuration as places in `settings`, which gets what it does not have yet.
Json shared(const Json& config, Json& settings) {
  Json places = Json::object();
  for (const auto& [key, value] : config.items()) {
    Json& known = settings[key];
    if (known.is_null()) known = Json::array();
    auto found = std::ranges::find(known, value);
    if (found == known.end()) found = known.insert(known.end(), value);
    places[key] = found - known.begin();
  }
  return places;
}

Json run_json(const FrameRun& run, const RowsInUse& rows, Json& settings) {
  Json one = {
      {"id", run.plan.id}, {"axes", run.plan.axes}, {"config", shared(run.plan.config, settings)}};
  if (!run.has_result()) return one;
  if (Json curve = rows.curve_of(run); !curve.is_null()) one["curve"] = std::move(curve);
  one["evaluations"] = rows.evaluations_of(run);
  return one;
}

}  // namespace

std::string observations_text(const Study& study, const Frame& frame) {
  const RowsInUse rows(study.report);
  Json settings = Json::object();
  std::vector<std::string> runs;
  for (const FrameRun& run : frame.runs()) runs.push_back(run_json(run, rows, settings).dump());
  return concat("{\"format\": ", kObservationsFormat, ",\n\"study\": ", study_json(study).dump(),
                ",\n\"settings\": ", settings.dump(), ",\n\"runs\": [\n", join(runs, ",\n"),
                "\n]}\n");
}

std::vector<Json> unpack(const Json& packed) {
  std::vector<Json> rows;
  const Json& kinds = packed.at("keys");
  for (const Json& values : packed.at("rows")) {
    const Json& keys = kinds.at(values.at(0).get<std::size_t>());
    Json row = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      row[keys[i].get<std::string>()] = values.at(i + 1);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace difflab::report
