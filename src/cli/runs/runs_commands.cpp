// runs, query: every run of a results folder, whichever experiments it belongs to.
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
#include "study/run_index.h"
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
  std::string sql;
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

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A key as users write it: a key of the configuration may leave its "config." out.
const Json* find(const RunRow& row, const std::string& key) {
  for (const auto& name : {key, "config." + key, "metrics." + key}) {
    if (const auto found = row.find(name); found != row.end()) return &found->second;
  }
  return nullptr;
}

// Numbers by their size, everything else by its text; runs that lack the key come last.
bool less(const Json* a, const Json* b) {
  const bool has_a = a != nullptr && !a->is_null(), has_b = b != nullptr && !b->is_null();
  if (!has_a || !has_b) return has_a && !has_b;
  if (a->is_number() && b->is_number()) return a->get<double>() < b->get<double>();
  return text_of(*a) < text_of(*b);
}

struct Filter {
  std::string key, comparison;
  Json value;

  explicit Filter(const std::string& text) {
    const auto begin = text.find_first_of("<>=!");
    const auto end = begin == text.npos ? begin : text.find_first_not_of("<>=!", begin);
    comparison = begin == text.npos ? "" : text.substr(begin, std::min(end, text.size()) - begin);
    static const std::set<std::string> kKnown{"=", "!=", "<", "<=", ">", ">="};
    if (begin == 0 || kKnown.count(comparison) == 0) {
      throw UserError(concat("the filter is '", text,
                             "'; expected KEY=VALUE, or with != < <= > >= in place of ="));
    }
    key = text.substr(0, begin);
    const auto word = end == text.npos ? "" : text.substr(end);
    value = Json::parse(word, nullptr, /*allow_exceptions=*/false);
    if (!value.is_number()) value = word;
  }

  bool accepts(const RunRow& row) const {
    const Json* found = find(row, key);
    if (found == nullptr || found->is_null()) return comparison == "!=";
    const bool numbers = found->is_number() && value.is_number();
    const bool below = numbers ? less(found, &value) : text_of(*found) < text_of(value);
    const bool above = numbers ? less(&value, found) : text_of(value) < text_of(*found);
    if (comparison == "=") return !below && !above;
    if (comparison == "!=") return below || above;
    if (comparison == "<") return below;
    if (comparison == "<=") return !above;
    if (comparison == ">") return above;
    return !below;
  }
};

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
    if (find(row, key) != nullptr) return;
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
      const Json* value = find(row, column);
      line.push_back(value == nullptr ? "" : text_of(*value));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void show_runs(const RunsOptions& options) {
  const auto results = results_of(options);
  auto rows = read_runs(results);
  std::vector<Filter> filters;
  for (const auto& text : options.filters) filters.emplace_back(text);
  if (!rows.empty()) {
    for (const auto& filter : filters) check_key(filter.key, rows);
    for (const auto& column : options.columns) check_key(column, rows);
  }
  const bool down = options.sort.starts_with('-');
  const auto sort_key = options.sort.substr(down ? 1 : 0);
  if (!sort_key.empty() && !rows.empty()) check_key(sort_key, rows);
  std::erase_if(rows, [&](const RunRow& row) {
    return !std::all_of(filters.begin(), filters.end(),
                        [&](const Filter& filter) { return filter.accepts(row); });
  });
  if (!sort_key.empty()) {
    std::stable_sort(rows.begin(), rows.end(), [&](const RunRow& a, const RunRow& b) {
      const Json *x = find(a, sort_key), *y = find(b, sort_key);
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

void query(const RunsOptions& options) {
  const auto answer = query_index(update_index(results_of(options)), options.sql);
  if (options.json) {
    Json rows = Json::array();
    for (const auto& row : answer.rows) {
      Json object = Json::object();
      for (std::size_t i = 0; i < row.size(); ++i) object[answer.columns[i]] = row[i];
      rows.push_back(std::move(object));
    }
    // SQL can make text that is no UTF-8: cast(x'ff' as text).
    std::cout << dump_readable(rows, 1) << '\n';
    return;
  }
  std::vector<std::vector<std::string>> lines{answer.columns};
  for (const auto& row : answer.rows) {
    std::vector<std::string> line;
    std::transform(row.begin(), row.end(), std::back_inserter(line), text_of);
    lines.push_back(std::move(line));
  }
  print_table(lines);
}

}  // namespace

void add_runs_commands(CLI::App& app) {
  const auto options = std::make_shared<RunsOptions>();
  const auto add = [&](const char* name, const char* about) {
    auto* command = app.add_subcommand(name, about);
    command->add_option("--results", options->results, "results folder; by default the project's");
    command->add_flag("--json", options->json, "as JSON");
    return command;
  };
  auto* runs = add("runs", "Every run there is, filtered and sorted");
  runs->add_option("filters", options->filters,
                   "KEY=VALUE (or != < <= > >=): state, a key of the configuration, "
                   "metrics.NAME, e.g. state=failed task.kind=recall 'metrics.valid_loss<2'");
  runs->add_option("--sort", options->sort, "key to sort by; -KEY for the largest first");
  runs->add_option("--columns", options->columns,
                   "keys to show instead, separated by commas: id, state, step, a key of the "
                   "configuration, metrics.NAME …")
      ->delimiter(',');
  runs->callback([options] { show_runs(*options); });

  auto* sql = add("query", "Ask an SQL question about all runs");
  sql->add_option("sql", options->sql,
                  "one SELECT on runs(id, state, ...), config(run, key, value) and "
                  "metrics(run, name, value)")
      ->required();
  sql->callback([options] { query(*options); });
}

}  // namespace difflab::cli
