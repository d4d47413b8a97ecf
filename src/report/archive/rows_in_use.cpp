#include "report/archive/rows_in_use.h"

#include <algorithm>
#include <variant>

#include "report/data/samples.h"

namespace difflab::report {
namespace {

// Keys of rows that figures read besides those that their settings name.
constexpr const char* kAskedAnyway[] = {"step", "chance", "correct", "n"};

}  // namespace

template <class Config>
void RowsInUse::add(Config config) {
  std::set<std::string> texts;  // some are keys of rows, and which ones only the kind knows
  EachKey each{"", [&](auto, const std::string& text) { texts.insert(text); }};
  config.visit_fields(each);
  for (const auto& [key, text] : config.where.entries) texts.insert(key);
  keys_.insert(texts.begin(), texts.end());
  if (is_of_looks(config.source)) return;  // which runs.json has
  const bool of_curve = texts.count("step") > 0;
  if (!config.source.empty() || of_curve) uses_.push_back({config.source, config.where});
}

RowsInUse::RowsInUse(const ReportConfig& report)
    : keys_(std::begin(kAskedAnyway), std::end(kAskedAnyway)) {
  for (const auto& figure : report.figures) {
    std::visit([&](const auto& config) { add(config); }, figure);
  }
  for (const auto& derived : report.derived) {
    std::visit([&](const auto& config) { add(config); }, derived);
  }
  if (report.learned.given()) {
    keys_.insert(report.learned.metric);
    uses_.push_back({});
  }
}

bool RowsInUse::draws(const FrameRun& run, const std::string& source, const Json& cell) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](const Use& use) {
    return use.source == source && matches({.run = &run, .fields = &cell}, use.where);
  });
}

// {"keys": [[…], …], "rows": [[which keys, value, …], …]}: the keys of cells are as long as their
// values, and there are thousands of cells.
Json RowsInUse::pack(const std::vector<const Json*>& rows) const {
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
    auto kind = std::find(kinds.begin(), kinds.end(), keys);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), std::move(keys));
    values[0] = kind - kinds.begin();
    packed["rows"].push_back(std::move(values));
  }
  return packed;
}

Json RowsInUse::curve_of(const FrameRun& run) const {
  const bool is_used =
      std::any_of(uses_.begin(), uses_.end(), [](const Use& use) { return use.source.empty(); });
  if (!is_used || run.curve.empty()) return nullptr;
  std::vector<const Json*> lines;
  for (const Json& line : run.curve) lines.push_back(&line);
  return pack(lines);
}

Json RowsInUse::evaluations_of(const FrameRun& run) const {
  Json evaluations = Json::object();
  for (const Use& use : uses_) {
    if (use.source.empty() || evaluations.contains(use.source)) continue;
    std::vector<const Json*> cells;
    for (const Observation& row : cells_of(run, use.source, {})) {
      if (draws(run, use.source, *row.fields)) cells.push_back(row.fields);
    }
    if (!cells.empty()) evaluations[use.source] = pack(cells);
  }
  for (const auto& [name, samples] : texts_in(run.result)) {
    if (!evaluations.contains(name)) evaluations[name] = {{"samples", *samples}};
  }
  for (const auto& [name, count] : cut_contexts(run)) evaluations[name]["cut_contexts"] = count;
  return evaluations;
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
