#include "report/table/table_files.h"

#include <algorithm>

#include "report/data/format.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kTerminalWidth = 100;

bool is_setting(const Table& table, std::size_t column) {
  bool has_settings = false, has_numbers = false;
  for (const TableRow& row : table.rows) {
    const Cell& cell = row.cells[column];
    has_settings = has_settings || !cell.settings.empty();
    has_numbers = has_numbers || cell.n() > 0 || !cell.bounds.empty();
  }
  return has_settings && !has_numbers;
}

void add_metric_fields(const Cell& cell, std::vector<std::string>& fields) {
  fields.push_back(plain_number(cell.mean));
  add_ends(cell.interval, fields);
  const auto& bounds = cell.bounds;
  fields.insert(fields.end(),
                {plain_number(cell.median), concat(cell.n() + bounds.size()), concat(bounds.size()),
                 bounds.empty() ? "" : plain_number(*std::ranges::min_element(bounds))});
}

// Text that Markdown leaves as it is. An empty line would end the span, and HTML after it be alive.
std::string code_span(const std::string& text) {
  return text.find_first_of("`\r\n") == std::string::npos ? "`" + without_controls(text) + "`"
                                                          : escape_markdown(text);
}

// All leaves of `json` as path=value.
void flatten(const Json& json, const std::string& path, std::vector<std::string>& leaves) {
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items()) {
      flatten(value, path.empty() ? key : path + "." + key, leaves);
    }
    return;
  }
  const std::string text = json.is_string()         ? json.get<std::string>()
                           : json.is_number_float() ? plain_number(json.get<double>())
                                                    : json.dump();
  leaves.push_back(path + "=" + text);
}

}  // namespace

std::vector<std::string> settings_list(const Study& study) {
  std::vector<std::string> shared;
  if (!study.settings.is_null()) {
    flatten(study.settings, "", shared);
    return shared;
  }
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    std::vector<std::string> leaves;
    flatten(study.runs[i].config, "", leaves);
    if (i == 0) shared = leaves;
    std::erase_if(shared, [&](const std::string& leaf) { return !is_among(leaf, leaves); });
  }
  return shared;
}

std::string table_csv(const Table& table) {
  std::vector<std::string> head = table.axes;
  head.insert(head.end(), {"runs", "with_result", std::string(name_of(RunState::kDiverged)),
                           std::string(name_of(RunState::kFailed)), "not_run"});
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::string& key = table.columns[column].key;
    if (is_setting(table, column)) {
      head.push_back(key);
      continue;
    }
    for (const char* part : {"mean_", "low_", "high_", "median_", "n_", "censored_", "above_"}) {
      head.push_back(part + key);
    }
  }
  std::string out = csv_line(head);
  for (const TableRow& row : table.rows) {
    std::vector<std::string> fields = row.key;
    const std::size_t failed = row.count(RunState::kFailed);
    fields.insert(fields.end(), {concat(row.runs.size()), concat(row.results()),
                                 concat(row.count(RunState::kDiverged)), concat(failed),
                                 concat(row.runs.size() - row.results() - failed)});
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      if (is_setting(table, column)) {
        fields.push_back(join(row.cells[column].settings, " "));
      } else {
        add_metric_fields(row.cells[column], fields);
      }
    }
    out += csv_line(fields);
  }
  return out;
}

std::string paired_csv(const Table& table) {
  std::vector<std::string> head = table.axes;
  head.insert(head.end(), {"metric", "difference", "low", "high", "bootstrap_low", "bootstrap_high",
                           "p", "p_holm", "pairs", "censored_pairs", "unlearned_pairs"});
  const bool has_ratios = table.has_ratios;
  if (has_ratios) head.insert(head.end(), kRatioColumns.begin(), kRatioColumns.end());
  std::string out = csv_line(head);
  for (const Comparison& comparison : table.comparisons) {
    std::vector<std::string> fields = table.rows[comparison.row].key;
    const auto& result = comparison.result;
    const auto effect = effect_fields(result);
    const bool has_p = result && result->pairs > 1;
    fields.push_back(table.columns[comparison.column].key);
    fields.insert(fields.end(), effect.begin(), effect.begin() + 3);
    add_ends(comparison.bootstrap, fields);
    fields.insert(fields.end(),
                  {has_p ? plain_number(result->p) : "",
                   has_p ? plain_number(comparison.p_holm) : "", concat(result ? result->pairs : 0),
                   concat(comparison.pairs.censored), concat(comparison.pairs.unlearned)});
    if (has_ratios) fields.insert(fields.end(), effect.begin() + 3, effect.end());
    out += csv_line(fields);
  }
  return out;
}

std::string table_markdown(const Table& table, const Labels& labels) {
  std::string out = "# " + escape_markdown(table.title) + "\n\n";
  for (const std::string& answer : table.answers) out += escape_markdown(answer) + "\n\n";
  out += to_markdown(main_grid(table, labels));
  if (!table.comparisons.empty()) {
    out += "\n## Against " + escape_markdown(table.baseline) + ", paired by seed\n\n" +
           to_markdown(paired_grid(table, labels));
  }
  out += "\n";
  for (const std::string& note : table.notes) out += "- " + escape_markdown(note) + "\n";
  if (!table.settings.empty()) out += "- Equal in all runs: " + code_span(table.settings) + "\n";
  return out;
}

std::string table_tex(const Table& table, const Labels& labels) {
  std::string out = tex_comment(table.title) + tex_comment("Needs \\usepackage{array,booktabs}.");
  for (const std::string& answer : table.answers) out += tex_comment(answer);
  for (const std::string& note : table.notes) out += tex_comment(note);
  if (!table.settings.empty()) out += tex_comment("Equal in all runs: " + table.settings);
  return out + to_tex(main_grid(table, labels));
}

std::string paired_tex(const Table& table, const Labels& labels) {
  return tex_comment(table.title) + tex_comment("Against " + table.baseline + ", paired by seed") +
         tex_comment("Needs \\usepackage{array,booktabs}. Notes are in " + table.name + ".tex.") +
         to_tex(paired_grid(table, labels));
}

std::string table_terminal(const Table& table, const Labels& labels) {
  std::string out = table.title + "\n\n" + to_terminal(main_grid(table, labels), kTerminalWidth);
  if (!table.comparisons.empty()) {
    out += "\n  Against " + table.baseline + ", paired by seed\n\n" +
           to_terminal(paired_grid(table, labels, Bootstrap::kLeftOut), kTerminalWidth);
  }
  out += "\n";
  for (const std::string& note : table.notes)
    out += "  " + wrap(note, kTerminalWidth - 2, "    ") + "\n";
  return out;
}

}  // namespace difflab::report
