#include "referee/base/reference.h"

#include <algorithm>
#include <cmath>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

namespace fs = std::filesystem;

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

// The CSV files of a folder, in order, as far as they can be read.
std::vector<CsvTable> csv_files(Reference& reference, const fs::path& folder) {
  std::vector<CsvTable> tables;
  for (const auto& file : paths_in(folder)) {
    if (file.extension() != ".csv") continue;
    attempt(reference, [&] {
      const auto name = file.lexically_relative(reference.folder).generic_string();
      tables.push_back(parse_csv(read_file(file), name));
    });
  }
  return tables;
}

void read_statements(Reference& reference, const CsvTable& claims) {
  for (std::size_t row = 0; row < claims.rows.size(); ++row) {
    Statement one{
        .claim = claims.text(row, "claim"),
        .metric = claims.text(row, "metric"),
        .verdict = claims.text(row, "verdict"),
        .is_of_margin = claims.text(row, "expect") == "equivalent",
        .p = claims.number(row, "p"),
        .pairs = static_cast<std::size_t>(std::max(0.0, claims.number(row, "pairs").value_or(0)))};
    const auto low = claims.number(row, "low"), high = claims.number(row, "high");
    if (low && high) one.interval = Interval{*low, *high};
    const auto least = claims.number(row, "ratio_low"), most = claims.number(row, "ratio_high");
    one.is_ratio = claims.number(row, "ratio").has_value();
    if (least && most) one.interval = Interval{std::log(*least), std::log(*most)};
    reference.statements.push_back(std::move(one));
  }
}

void read_tables(Reference& reference) {
  for (auto& table : csv_files(reference, reference.folder)) {
    if (table.file == concat(report::kClaimsFile, ".csv")) {
      read_statements(reference, table);
    } else {
      const bool is_paired = table.file.ends_with(".paired.csv");
      (is_paired ? reference.comparisons : reference.tables).push_back(std::move(table));
    }
  }
  reference.figures = csv_files(reference, reference.folder / "figures");
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
  throw UserError(concat(file.string(), " is damaged: it holds something that is not a run"));
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

void read_archived(Reference& reference) {
  try {
    reference.archive = report::read_archive(reference.folder, reference.folder);
  } catch (const UserError& error) {
    reference.why_no_archive = error.what();
    const auto folder = reference.folder.string() + " ";
    if (reference.why_no_archive.starts_with(folder)) {
      reference.why_no_archive.erase(0, folder.size());
    }
  }
}

void read_confirmations(Reference& reference) {
  attempt(reference, [&] {
    const auto file = reference.folder / "reproduced.json";
    if (!fs::exists(file) || !reference.archive) return;
    reference.confirmed =
        report::confirmations(report::read_object(file), reference.runs, *reference.archive);
  });
}

}  // namespace

std::string Statement::place() const { return concat("claim \"", claim, "\""); }

std::set<std::string> Reference::values(const std::string& key) const {
  std::set<std::string> found;
  if (!archive) return found;
  for (const auto& run : archive->frame.runs()) {
    if (const Json* value = run.config(key)) found.insert(report::text_of(*value));
  }
  return found;
}

std::string Reference::compared_axis() const {
  return archive ? report::compared_axis(archive->study.report, archive->frame.axes()) : "";
}

std::vector<std::string> Reference::arms() const {
  return archive ? archive->frame.values(compared_axis()) : std::vector<std::string>();
}

bool Reference::is_trained() const {
  const auto steps = values("train.steps");
  return std::ranges::any_of(
      steps, [](const std::string& text) { return report::parse_number(text).value_or(2) > 1; });
}

bool Reference::measures(const std::string& metric) const {
  return std::ranges::any_of(
      runs, [&](const Json& run) { return object_at(run, "metrics").contains(metric); });
}

Reference read_reference(const std::string& name, const fs::path& folder) {
  Reference reference;
  reference.name = name;
  reference.folder = folder;
  read_runs(reference);
  read_tables(reference);
  read_archived(reference);
  read_confirmations(reference);
  return reference;
}

}  // namespace difflab::referee
