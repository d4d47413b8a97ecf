// runs: every run of a results folder, whichever experiments it belongs to.
#include <unistd.h>

#include <ctime>
#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/runs/pause.h"
#include "cli/runs/runs_page.h"
#include "record/provenance.h"
#include "report/data/format.h"
#include "study/run_rows.h"
#include "util/files.h"
#include "util/terminal/terminal.h"

namespace difflab::cli {
namespace {

constexpr std::string_view kMapsOfNeedles = "needle";  // where difflab needle puts its maps
constexpr std::size_t kGap = 2;
constexpr double kSecondsBetweenPages = 2;
constexpr std::size_t kShortest = 8;  // a column is not made narrower than this
constexpr std::size_t kExperimentColumn = 1, kVariesColumn = 2;

/// A run's place in an experiment.
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

std::string number_in(const RunRow& row, const std::string& key, const char* format) {
  const auto* value = value_of(row, key);
  return value == nullptr || !value->is_number()
             ? ""
             : fmt::format(fmt::runtime(format), value->get<double>());
}

std::string run_state_text(const RunRow& row) {
  const auto state = cell_of(row, "state");
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

// Runs as a person reads them, a line each, its first the headings: the beginning of the id, the
// experiment (of several the first, and how many more), what varies in that but the seed, seed,
// state, age and how well the model did. Lines are at most `width` columns wide as far as
// shortening the experiment and what varies can do it.
std::vector<std::vector<std::string>> runs_view(const std::vector<RunRow>& rows,
                                                const fs::path& results, std::size_t width) {
  const auto of = memberships(results);
  std::vector<std::vector<std::string>> lines{
      {"id", "experiment", "varies", "seed", "state", "age", "accuracy", "loss"}};
  for (const auto& row : rows) {
    const auto id = cell_of(row, "id");
    auto found = of.find(id);
    const bool asked = found == of.end();  // nobody's own: a trained model that was asked more
    if (asked) found = of.find(cell_of(row, "trained_in"));
    std::string experiment, varies = cell_of(row, "config.model.name");
    if (found != of.end()) {
      experiment = concat(asked ? "asked: " : "", found->second.front().experiment);
      if (found->second.size() > 1) experiment += fmt::format(" +{}", found->second.size() - 1);
      if (const auto text = varied_text(found->second.front()); !text.empty()) varies = text;
    }
    lines.push_back({id.substr(0, kShownId), experiment, varies, cell_of(row, "config.seed"),
                     run_state_text(row), age_text(row),
                     number_in(row, "metrics.valid_accuracy", "{:.3f}"),
                     number_in(row, "metrics.valid_loss", "{:.4g}")});
  }
  fit(lines, width);
  return lines;
}

struct RunsOptions {
  std::string results, page;
  bool live = false;
  std::vector<std::string> filters;
  std::vector<std::string> columns;
  std::string sort;
  bool json = false;
};

fs::path results_of(const RunsOptions& options) {
  const auto given =
      options.results.empty() ? find_project() / "results" : fs::path(options.results);
  const auto results = fs::absolute(given).lexically_normal();
  if (fs::is_directory(results / "runs")) return results;
  throw UserError(concat("there are no runs in ", results.string(),
                         "; expected a results folder with runs/ in it (--results DIR)"));
}

void print_table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < lines.front().size(); ++i) widths.push_back(widest(lines, i));
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += report::pad_right(line[i], widths[i] + kGap);
    }
    std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
}

void check_key(const std::string& key, const std::vector<RunRow>& rows) {
  std::set<std::string> known;
  for (const auto& row : rows) {
    if (find_key(row, key) != nullptr) return;
    for (const auto& [name, value] : row) {
      known.insert(name.starts_with(kOfConfig) ? name.substr(kOfConfig.size()) : name);
    }
  }
  const auto near = closest(key, {known.begin(), known.end()});
  throw UserError(concat("no run has ", key, near ? concat("; did you mean ", *near, "?") : ""));
}

std::vector<std::vector<std::string>> columns_view(const std::vector<RunRow>& rows,
                                                   const std::vector<std::string>& columns) {
  std::vector<std::vector<std::string>> lines{columns};
  for (const auto& row : rows) {
    std::vector<std::string> line;
    for (const auto& column : columns) {
      const Json* value = find_key(row, column);
      line.push_back(value == nullptr ? "" : cell_text(*value));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Leaves out the runs that no filter accepts, and sorts the others.
void choose(std::vector<RunRow>& rows, const RunsOptions& options) {
  std::vector<RunFilter> filters;
  for (const auto& text : options.filters) filters.emplace_back(text);
  const bool down = options.sort.starts_with('-');
  const auto sort_key = options.sort.substr(down ? 1 : 0);
  if (!rows.empty()) {
    for (const auto& filter : filters) {
      check_key(filter.key(), rows);
      filter.require_comparable(rows);
    }
    for (const auto& column : options.columns) check_key(column, rows);
    if (!sort_key.empty()) check_key(sort_key, rows);
  }
  std::erase_if(rows, [&](const RunRow& row) {
    return !std::all_of(filters.begin(), filters.end(),
                        [&](const RunFilter& filter) { return filter.accepts(row); });
  });
  if (sort_key.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [&](const RunRow& a, const RunRow& b) {
    const Json *x = find_key(a, sort_key), *y = find_key(b, sort_key);
    const bool missing = x == nullptr || y == nullptr || x->is_null() || y->is_null();
    return down && !missing ? less(y, x) : less(x, y);
  });
}

void write_page(const RunsOptions& options, const fs::path& results) {
  const StopSignals until_stopped;
  const auto folder = fs::absolute(options.page).lexically_normal();
  RunsPage page(results, folder);
  std::map<std::string, std::vector<Membership>> of;
  std::size_t known = 0;  // runs when the reports were read
  bool is_first = true;
  do {
    auto rows = page.look();
    if (is_first || rows.size() != known) of = memberships(results);
    known = rows.size();
    choose(rows, options);
    for (auto& row : rows) {
      const auto found = of.find(cell_of(row, "id"));
      if (found != of.end()) row["experiment"] = found->second.front().experiment;
    }
    page.write(std::move(rows), options.live);
    if (is_first) std::cout << "wrote " << (folder / "index.html").string() << std::endl;
    is_first = false;
  } while (options.live && pause(kSecondsBetweenPages));
}

void show_runs(const RunsOptions& options) {
  const auto results = results_of(options);
  if (options.live && options.page.empty()) throw UserError("--live is for --page");
  if (!options.page.empty() && (options.json || !options.columns.empty())) {
    throw UserError("--page has every key, and no --json or --columns");
  }
  if (!options.page.empty()) return write_page(options, results);
  auto rows = read_runs(results);
  choose(rows, options);
  if (options.json) {
    std::cout << Json(rows).dump(1) << '\n';
    return;
  }
  print_table(
      options.columns.empty()
          ? runs_view(rows, results, static_cast<std::size_t>(terminal_width(STDOUT_FILENO)))
          : columns_view(rows, options.columns));
  std::cerr << rows.size() << " runs\n";
}

}  // namespace

void add_runs_commands(CLI::App& app) {
  const auto options = std::make_shared<RunsOptions>();
  auto* runs = app.add_subcommand("runs", "Every run there is, filtered and sorted");
  runs->add_option("--results", options->results, "results folder; by default the project's");
  runs->add_flag("--json", options->json, "as JSON");
  runs->add_option("filters", options->filters,
                   "KEY=VALUE (or != < <= > >=): state, a key of the configuration, "
                   "metrics.NAME, e.g. state=failed task.kind=recall 'metrics.valid_loss<2'");
  runs->add_option("--sort", options->sort, "key to sort by; -KEY for the largest first");
  runs->add_option("--columns", options->columns,
                   "keys to show instead, separated by commas: id, state, step, a key of the "
                   "configuration, metrics.NAME …")
      ->delimiter(',');
  runs->add_option("--page", options->page,
                   "write a page of them into this folder: filter, groups, curves, comparisons");
  runs->add_flag("--live", options->live, "keep that page up to date until interrupted");
  runs->callback([options] { show_runs(*options); });
}

}  // namespace difflab::cli
