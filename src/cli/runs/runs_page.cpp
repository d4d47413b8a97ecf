#include "cli/runs/runs_page.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "study/project.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsOfAFile = 100, kPointsOfACurve = 200;
constexpr const char* kIndex = "index.html";

// When one of the files that a row is made of was last written.
fs::file_time_type last_change(const RunDirectory& run) {
  auto latest = fs::file_time_type::min();
  for (const auto& path : {run.config(), run.status(), run.result(), run.metrics(), run.claims()}) {
    std::error_code none;
    const auto time = fs::last_write_time(path, none);
    if (!none) latest = std::max(latest, time);
  }
  return latest;
}

// {"step": […], "valid_loss": […]}, thinned; "" without a line.
std::string curve_of(const RunDirectory& run) {
  std::vector<Json> lines;
  try {
    lines = read_metrics(run);
  } catch (const UserError&) {  // a run with a damaged curve is shown without one
  }
  if (lines.empty()) return "";
  const auto every = (lines.size() + kPointsOfACurve - 1) / kPointsOfACurve;
  std::set<std::string> keys;
  for (const auto& line : lines) {
    for (const auto& [key, value] : line.items()) {
      if (value.is_number()) keys.insert(key);
    }
  }
  Json curve = Json::object();
  for (const auto& key : keys) {
    auto& values = curve[key] = Json::array();
    for (std::size_t i = 0; i < lines.size(); i += every) {
      values.push_back(lines[i].value(key, Json()));
    }
    if ((lines.size() - 1) % every > 0) values.push_back(lines.back().value(key, Json()));
  }
  return curve.dump();
}

// ASCII, as a page may be opened from a folder that names no encoding.
std::string script(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

// {"common": what all runs share, "keys", "rows": a list of values each}.
Json columns_of(const std::vector<RunRow>& rows) {
  std::map<std::string, std::set<std::string>> values;  // by key
  std::map<std::string, std::size_t> counts;
  for (const auto& row : rows) {
    for (const auto& [key, value] : row) {
      values[key].insert(script(value));
      ++counts[key];
    }
  }
  Json json{{"common", Json::object()}, {"keys", Json::array()}, {"rows", Json::array()}};
  for (const auto& [key, found] : values) {
    if (key == "id" || found.size() > 1 || counts[key] < rows.size()) {
      json["keys"].push_back(key);
    } else if (*found.begin() != "null") {
      json["common"][key] = rows.front().at(key);
    }
  }
  for (const auto& row : rows) {
    auto& cells = json["rows"].emplace_back(Json::array());
    for (const auto& key : json["keys"]) {
      const auto value = row.find(key.get<std::string>());
      cells.push_back(value == row.end() ? Json() : value->second);
    }
  }
  return json;
}

}  // namespace

std::vector<RunRow> RunsPage::look() {
  std::vector<RunRow> rows;
  for (const auto& path : paths_in(results_ / "runs")) {
    if (!fs::is_directory(path)) continue;
    const RunDirectory run{path};
    auto& seen = seen_[path.filename().string()];
    const auto changed = last_change(run);
    const bool is_news = seen.row.empty() || changed != seen.changed;
    const auto state = cell_of(seen.row, "state");
    // A run that is killed changes no file: its claim grows old.
    const bool may_die = state != "finished" && state != "diverged";
    if (is_news) seen.curve = curve_of(run);
    if (is_news || may_die) seen.row = read_run(run);
    seen.changed = changed;
    rows.push_back(seen.row);
  }
  return rows;
}

void RunsPage::write(std::vector<RunRow> rows, bool live) {
  const auto index = folder_ / kIndex;
  if (written_.empty() && fs::exists(index) && !fs::exists(folder_ / "runs.js")) {
    throw UserError(concat(index.string(), " is not difflab's; expected another folder"));
  }
  make_directories(folder_ / "curves");
  std::vector<std::string> files;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kRunsOfAFile == 0) files.emplace_back("curve({");
    const auto id = cell_of(rows[i], "id");
    const auto& curve = seen_[id].curve;
    if (curve.empty()) continue;
    files.back() += concat(files.back().ends_with('{') ? "" : ",\n", script(id), ":", curve);
    rows[i]["curves"] = files.size() - 1;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    write_changed(concat("curves/", i, ".js"), files[i] + "})\n");
  }
  auto json = columns_of(rows);
  json["title"] = concat("Runs of ", results_.string());
  json["live"] = live;
  auto& before = written_["rows"];
  auto text = script(json);
  if (before == text) return;
  before = std::move(text);
  json["made"] = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
  write_changed("runs.js", concat("runs(", script(json), ")\n"));
  write_changed(kIndex, read_file(find_checkout() / "src" / "report" / "page" / "runs.html"));
}

void RunsPage::write_changed(const std::string& name, const std::string& text) {
  auto& before = written_[name];
  if (before == text) return;
  write_file_atomically(folder_ / name, text, Sync::kNothing);
  before = text;
}

}  // namespace difflab::cli
