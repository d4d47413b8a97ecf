#include "referee/base/reference.h"

#include <algorithm>
#include <regex>

#include "report/data/format.h"
#include "report/table/question.h"
#include "report/table/table_files.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename().string().ends_with(extension)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Notes what cannot be read.
template <class Read>
void attempt(Reference& reference, Read read) {
  try {
    read();
  } catch (const UserError& error) {
    reference.unreadable.emplace_back(error.what());
  } catch (const Json::exception& error) {
    reference.unreadable.emplace_back(error.what());
  }
}

CsvTable csv_at(const fs::path& file, const fs::path& folder) {
  return parse_csv(read_file(file), file.lexically_relative(folder).generic_string());
}

void read_tables(Reference& reference) {
  for (const auto& file : files_in(reference.folder, ".csv")) {
    if (file.stem() == report::kClaimsFile) continue;
    attempt(reference, [&] {
      const bool paired = file.filename().string().ends_with(".paired.csv");
      (paired ? reference.comparisons : reference.tables).push_back(csv_at(file, reference.folder));
    });
  }
}

void read_figures(Reference& reference) {
  for (const auto& file : files_in(reference.folder / "figures", ".vl.json")) {
    attempt(reference, [&] {
      FigureFile figure;
      figure.name = file.stem().stem().string();
      figure.spec = report::read_object(file);
      const auto data = reference.folder / "figures" / (figure.name + ".csv");
      figure.data = csv_at(data, reference.folder);
      reference.figures.push_back(std::move(figure));
    });
  }
}

// Rules count on these members of a run.
void require_run(const Json& run, const fs::path& file) {
  const auto is = [&](const char* key, bool must, Json::value_t type) {
    const auto found = run.find(key);
    return found == run.end() ? !must : found->type() == type;
  };
  using Type = Json::value_t;
  if (run.is_object() && is("id", true, Type::string) && is("status", true, Type::string) &&
      is("axes", true, Type::object) && is("provenance", true, Type::object) &&
      is("metrics", false, Type::object)) {
    return;
  }
  throw UserError(concat(file.string(), " is damaged: it holds a run that is none"));
}

void read_runs(Reference& reference) {
  attempt(reference, [&] {
    const auto file = reference.folder / "runs.json";
    const Json record = report::read_object(file);
    for (const Json& run : record.at("runs")) {
      require_run(run, file);
      reference.runs.push_back(run);
    }
  });
}

// "key=value, key=value" under a table. Values with commas of their own are cut; none is asked for.
void read_settings(const std::string& markdown, Reference& reference) {
  static const std::string kBegin = "- Equal in all runs: `";
  const auto begin = markdown.find(kBegin);
  if (begin == markdown.npos) return;
  const auto from = begin + kBegin.size();
  std::string list = markdown.substr(from, markdown.find('`', from) - from);
  static const std::regex setting(R"((?:^|, )([a-z_][a-z_0-9.]*)=([^,]*))");
  for (std::sregex_iterator found(list.begin(), list.end(), setting), end; found != end; ++found) {
    reference.shared[(*found)[1]] = (*found)[2];
  }
}

// The metrics of a table's columns in their order.
std::vector<std::string> metrics_of(const CsvTable& table) {
  const auto counts = report::count_columns();
  std::vector<std::string> metrics;
  for (std::size_t i = table.keys(); i < table.columns.size(); ++i) {
    const std::string& column = table.columns[i];
    if (std::find(counts.begin(), counts.end(), column) != counts.end()) continue;
    if (column.starts_with("mean_")) {
      metrics.push_back(column.substr(5));
      i += 6;  // low_, high_, median_, n_, censored_, above_
    } else {
      metrics.push_back(column);  // a setting
    }
  }
  return metrics;
}

// The headings of the Markdown table are those of the CSV's metrics in the same order.
void read_headings(const std::string& markdown, const CsvTable& table, Reference& reference) {
  const auto begin = markdown.find("\n| ");
  if (begin == markdown.npos) return;
  std::vector<std::string> headings;
  for (auto& cell :
       split(markdown.substr(begin + 2, markdown.find('\n', begin + 1) - begin - 3), '|')) {
    for (const char* arrow : {"\u2191", "\u2193"}) {
      if (const auto at = cell.find(arrow); at != cell.npos) cell.erase(at);
    }
    std::erase(cell, '\\');
    const auto first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    if (first != cell.npos) headings.push_back(cell.substr(first, last - first + 1));
  }
  const auto metrics = metrics_of(table);
  auto skipped = table.keys() + 1;  // and the number of runs
  if (skipped < headings.size() && headings[skipped] == "not as planned") ++skipped;
  for (std::size_t i = 0; i < metrics.size() && i + skipped < headings.size(); ++i) {
    const auto& heading = headings[i + skipped];
    reference.keys[heading] = metrics[i];
    reference.keys[heading.substr(0, heading.rfind(" ("))] = metrics[i];  // without the unit
  }
}

void take_chance(Reference& reference, const std::string& metric, double level) {
  const auto [place, is_new] = reference.chance.try_emplace(metric, level);
  place->second = std::max(place->second, level);
}

// "- Chance level of 1 needle; 2 needles: 0.500, 0.250." under a table.
void read_chance(const std::string& markdown, Reference& reference) {
  static const std::regex note(R"(\n- Chance level of (.+): ([\d., ]+)\.\n)");
  std::smatch match;
  for (auto rest = markdown; std::regex_search(rest, match, note);) {
    for (const auto& heading : split(match[1].str(), ';')) {
      const auto key = reference.keys.find(heading.substr(heading.find_first_not_of(' ')));
      if (key == reference.keys.end()) continue;
      for (const auto& level : split(match[2].str(), ',')) {
        const auto number = report::parse_number(level.substr(level.find_first_not_of(' ')));
        if (number) take_chance(reference, key->second, *number);
      }
    }
    rest = "\n" + match.suffix().str();
  }
}

// The levels that runs bring with their metrics.
void read_chance_of_runs(Reference& reference) {
  static constexpr std::string_view kEnding = "_chance";
  for (const Json& run : reference.runs) {
    const auto metrics = run.find("metrics");
    if (metrics == run.end()) continue;
    for (const auto& [key, value] : metrics->items()) {
      if (!key.ends_with(kEnding) || !value.is_number()) continue;
      take_chance(reference, key.substr(0, key.size() - kEnding.size()), value.get<double>());
    }
  }
}

void read_markdown(Reference& reference) {
  for (const auto& table : reference.tables) {
    const auto file = reference.folder / fs::path(table.file).replace_extension(".md");
    attempt(reference, [&] {
      const auto markdown = read_file(file);
      read_settings(markdown, reference);
      read_headings(markdown, table, reference);
      read_chance(markdown, reference);
    });
  }
}

void read_archived(Reference& reference) {
  try {
    reference.archive = report::read_archive(reference.folder, reference.folder);
    for (const auto& setting : report::settings_list(reference.archive->study)) {
      const auto equal = setting.find('=');
      reference.shared[setting.substr(0, equal)] = setting.substr(equal + 1);
    }
  } catch (const UserError& error) {
    reference.why_no_archive = error.what();
    const auto folder = reference.folder.string() + " ";
    if (reference.why_no_archive.starts_with(folder)) {
      reference.why_no_archive.erase(0, folder.size());
    }
  }
}

}  // namespace

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? report::plain_number(value.get<double>()) : value.dump();
}

std::set<std::string> Reference::values(const std::string& key) const {
  std::set<std::string> found;
  if (archive) {
    for (const auto& run : archive->frame.runs()) {
      if (const Json* value = run.config(key)) found.insert(text_of(*value));
    }
    return found;
  }
  for (const Json& run : runs) {
    if (const auto axes = run.find("axes"); axes != run.end() && axes->contains(key)) {
      found.insert(text_of(axes->at(key)));
    }
  }
  if (const auto one = shared.find(key); found.empty() && one != shared.end()) {
    found.insert(one->second);
  }
  return found;
}

std::string Reference::compared_axis() const {
  if (archive) return report::compared_axis(archive->study.report, archive->frame.axes());
  for (const auto& table : tables) {
    if (table.keys() > 0) return table.columns[0];
  }
  return "";
}

std::vector<std::string> Reference::arms() const {
  const auto axis = compared_axis();
  std::vector<std::string> found;
  for (const Json& run : runs) {
    const auto axes = run.find("axes");
    if (axes == run.end() || !axes->contains(axis)) continue;
    const auto arm = text_of(axes->at(axis));
    if (std::find(found.begin(), found.end(), arm) == found.end()) found.push_back(arm);
  }
  return found;
}

bool Reference::is_trained() const {
  const auto steps = values("train.steps");
  return std::any_of(steps.begin(), steps.end(), [](const std::string& text) {
    return report::parse_number(text).value_or(2) > 1;
  });
}

std::string Reference::metric_of(const Statement& statement) const {
  if (archive) {
    for (const auto& claim : archive->study.report.claims) {
      if (claim.text == statement.claim) return claim.metric;
    }
  }
  const auto found = keys.find(statement.heading);
  return found == keys.end() ? "" : found->second;
}

std::optional<double> Reference::chance_of(const Statement& statement,
                                           const std::string& metric) const {
  if (archive) {
    std::vector<const report::FrameRun*> about;
    const auto axis = compared_axis();
    for (const auto& claim : archive->study.report.claims) {
      if (claim.text != statement.claim) continue;
      const auto& other = report::compared_with(claim, archive->study);
      for (const auto& run : archive->frame.runs()) {
        const bool is_it = report::is_about(claim, axis, claim.variant, run) ||
                           report::is_about(claim, axis, other, run);
        if (is_it) about.push_back(&run);
      }
    }
    const auto levels = report::chance_in(about, metric);
    if (!levels.empty()) return levels.back();
  }
  const auto found = chance.find(metric);
  return found == chance.end() ? std::nullopt : std::optional(found->second);
}

bool Reference::measures(const std::string& metric) const {
  return std::any_of(runs.begin(), runs.end(), [&](const Json& run) {
    const auto metrics = run.find("metrics");
    return metrics != run.end() && metrics->contains(metric);
  });
}

Reference read_reference(const std::string& name, const fs::path& folder) {
  Reference reference;
  reference.name = name;
  reference.folder = folder;
  read_runs(reference);
  attempt(reference, [&] {
    const auto file = folder / "summary.json";
    if (!fs::exists(file)) throw UserError(file.string() + " is missing");
    const Json summary = report::read_object(file);
    for (const Json& answer : summary.at("answers")) {
      reference.statements.push_back(read_statement(answer));
    }
  });
  read_tables(reference);
  read_figures(reference);
  read_markdown(reference);
  read_chance_of_runs(reference);
  read_archived(reference);
  attempt(reference, [&] {
    const auto file = folder / "reproduced.json";
    if (!fs::exists(file) || !reference.archive) return;
    reference.confirmed =
        report::confirmations(report::read_object(file), reference.runs, *reference.archive);
  });
  return reference;
}

}  // namespace difflab::referee
