// runs: every run of a results folder, whichever experiments it belongs to.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "cli/commands.h"
#include "cli/runs/runs_view.h"
#include "report/data/format.h"
#include "study/project.h"
#include "study/run_rows.h"
#include "util/error.h"
#include "util/terminal/terminal.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct RunsOptions {
  std::string results;
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
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], report::display_width(line[i]));
    }
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 < line.size()) {
        text += std::string(widths[i] - report::display_width(line[i]) + 2, ' ');
      }
    }
    std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
}

void check_key(const std::string& key, const std::vector<RunRow>& rows) {
  std::set<std::string> known;
  for (const auto& row : rows) {
    if (find_key(row, key) != nullptr) return;
    for (const auto& [name, value] : row) {
      known.insert(name.starts_with("config.") ? name.substr(7) : name);
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

void show_runs(const RunsOptions& options) {
  const auto results = results_of(options);
  auto rows = read_runs(results);
  std::vector<RunFilter> filters;
  for (const auto& text : options.filters) filters.emplace_back(text);
  if (!rows.empty()) {
    for (const auto& filter : filters) {
      check_key(filter.key(), rows);
      filter.require_comparable(rows);
    }
    for (const auto& column : options.columns) check_key(column, rows);
  }
  const bool down = options.sort.starts_with('-');
  const auto sort_key = options.sort.substr(down ? 1 : 0);
  if (!sort_key.empty() && !rows.empty()) check_key(sort_key, rows);
  std::erase_if(rows, [&](const RunRow& row) {
    return !std::all_of(filters.begin(), filters.end(),
                        [&](const RunFilter& filter) { return filter.accepts(row); });
  });
  if (!sort_key.empty()) {
    std::stable_sort(rows.begin(), rows.end(), [&](const RunRow& a, const RunRow& b) {
      const Json *x = find_key(a, sort_key), *y = find_key(b, sort_key);
      const bool missing = x == nullptr || y == nullptr || x->is_null() || y->is_null();
      return down && !missing ? less(y, x) : less(x, y);
    });
  }
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
  runs->callback([options] { show_runs(*options); });
}

}  // namespace difflab::cli
