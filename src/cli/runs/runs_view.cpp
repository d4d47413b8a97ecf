#include "cli/runs/runs_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string_view>

#include "record/provenance.h"
#include "report/data/format.h"
#include "util/error.h"
#include "util/files.h"
#include "util/terminal/terminal.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMapsOfNeedles = "needle";  // where difflab needle puts its maps
constexpr std::size_t kGap = 2;
constexpr std::size_t kShortest = 8;  // a column is not made narrower than this
constexpr std::size_t kExperimentColumn = 1, kVariesColumn = 2;

/// What an experiment says of one of its runs.
struct Membership {
  std::string experiment;  ///< "headline/default"
  Json axes;
};

// The newest report of a study names its runs, those that are not finished, too.
std::map<std::string, std::vector<Membership>> memberships(const fs::path& results) {
  std::map<std::string, std::vector<Membership>> found;
  std::error_code none;
  std::vector<fs::path> files;
  for (const auto& experiment : fs::directory_iterator(results, none)) {
    if (experiment.path().filename() == kMapsOfNeedles) continue;  // questions, no experiment
    for (const auto& preset : fs::directory_iterator(experiment.path(), none)) {
      const auto file = preset.path() / "runs.json";
      if (fs::is_regular_file(file, none)) files.push_back(file);
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    try {
      const auto folder = file.parent_path();
      const auto name = (folder.parent_path().filename() / folder.filename()).generic_string();
      const auto json = Json::parse(read_file(file));
      for (const auto& run : json.at("runs")) {
        found[run.at("id").get<std::string>()].push_back({name, run.value("axes", Json::object())});
      }
    } catch (const Json::exception&) {  // a report that is damaged says nothing
    } catch (const UserError&) {
    }
  }
  return found;
}

const Json* value_of(const RunRow& row, const std::string& key) {
  const auto found = row.find(key);
  return found == row.end() || found->second.is_null() ? nullptr : &found->second;
}

std::string text_in(const RunRow& row, const std::string& key) {
  const auto* value = value_of(row, key);
  return value == nullptr ? "" : cell_text(*value);
}

std::string number_in(const RunRow& row, const std::string& key, const char* format) {
  const auto* value = value_of(row, key);
  return value == nullptr || !value->is_number()
             ? ""
             : fmt::format(fmt::runtime(format), value->get<double>());
}

std::string run_state_text(const RunRow& row) {
  const auto state = text_in(row, "state");
  const auto *step = value_of(row, "step"), *steps = value_of(row, "steps");
  const bool on_its_way = state == "running" || state == "interrupted";
  if (!on_its_way || step == nullptr || steps == nullptr || steps->get<double>() <= 0) return state;
  return fmt::format("{} {:.0f} %", state, 100 * step->get<double>() / steps->get<double>());
}

std::string age_text(const RunRow& row) {
  for (const char* key : {"finished", "started"}) {
    const auto* value = value_of(row, key);
    if (value == nullptr) continue;
    const auto time = recorded_time(Json{{key, *value}}, key);
    if (time) return format_duration(std::max(0.0, std::difftime(std::time(nullptr), *time)));
  }
  return "";
}

std::string varied_text(const Membership& of) {
  std::string text;
  for (const auto& [axis, value] : of.axes.items()) {
    if (axis == "seed") continue;
    if (!text.empty()) text += ' ';
    text += cell_text(value);
  }
  return text;
}

std::size_t widest(const std::vector<std::vector<std::string>>& lines, std::size_t column) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, report::display_width(line[column]));
  return width;
}

void fit(std::vector<std::vector<std::string>>& lines, std::size_t width) {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t i = 0; i < lines.front().size(); ++i) {
    widths.push_back(widest(lines, i));
    total += widths.back() + (i > 0 ? kGap : 0);
  }
  while (total > width) {
    auto& longer = widths[kExperimentColumn] > widths[kVariesColumn] ? widths[kExperimentColumn]
                                                                     : widths[kVariesColumn];
    if (longer <= kShortest) break;
    --longer;
    --total;
  }
  for (auto& line : lines) {
    for (const auto column : {kExperimentColumn, kVariesColumn}) {
      line[column] = fit_to_width(line[column], static_cast<int>(widths[column]));
    }
  }
}

}  // namespace

std::vector<std::vector<std::string>> runs_view(const std::vector<RunRow>& rows,
                                                const fs::path& results, std::size_t width) {
  const auto of = memberships(results);
  std::vector<std::vector<std::string>> lines{
      {"id", "experiment", "varies", "seed", "state", "age", "accuracy", "loss"}};
  for (const auto& row : rows) {
    const auto id = text_in(row, "id");
    auto found = of.find(id);
    const bool asked = found == of.end();  // nobody's own: a trained model that was asked more
    if (asked) found = of.find(text_in(row, "trained_in"));
    std::string experiment, varies = text_in(row, "config.model.name");
    if (found != of.end()) {
      experiment = concat(asked ? "asked: " : "", found->second.front().experiment);
      if (found->second.size() > 1) experiment += fmt::format(" +{}", found->second.size() - 1);
      if (const auto text = varied_text(found->second.front()); !text.empty()) varies = text;
    }
    lines.push_back({id.substr(0, kShownId), experiment, varies, text_in(row, "config.seed"),
                     run_state_text(row), age_text(row),
                     number_in(row, "metrics.valid_accuracy", "{:.3f}"),
                     number_in(row, "metrics.valid_loss", "{:.4g}")});
  }
  fit(lines, width);
  return lines;
}

}  // namespace difflab::cli
