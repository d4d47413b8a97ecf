#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "referee/base/claim.h"
#include "referee/base/csv.h"
#include "report/archive/confirmation.h"
#include "report/archive/rebuild.h"
#include "util/json.h"

namespace difflab::referee {

struct FigureFile {
  std::string name;
  Json spec;  ///< Vega-Lite; null if it is missing or damaged
  CsvTable data;
};

/// A setting's value as text, without quotation marks.
std::string text_of(const Json& value);

/// A committed report as its files tell of it. Rules see nothing else.
struct Reference {
  std::string name;  ///< experiment
  std::filesystem::path folder;
  Json runs = Json::array();            ///< of runs.json
  std::vector<Statement> statements;    ///< of summary.json
  std::vector<std::string> unreadable;  ///< files that are missing or damaged, with the reason
  std::vector<CsvTable> tables;         ///< NAME.csv
  std::vector<CsvTable> comparisons;    ///< NAME.paired.csv
  std::vector<FigureFile> figures;
  std::optional<report::Archive> archive;  ///< if the report can be made again
  std::string why_no_archive;
  /// Where runs of it were made again and confirm it (reproduced.json).
  std::vector<report::Confirmed> confirmed;

  /// Values of a setting over all runs, as text; empty if the folder does not tell. From the
  /// archive, from the axes, or from the settings under a table.
  std::set<std::string> values(const std::string& key) const;

  /// The axis whose values are compared, "" if there is none, and these values.
  std::string compared_axis() const;
  std::vector<std::string> arms() const;

  /// Whether its runs were trained at all; a benchmark's are not.
  bool is_trained() const;

  /// The metric of a statement; empty if the folder does not tell.
  std::string metric_of(const Statement& statement) const;

  /// Metrics that runs.json has of any run.
  bool measures(const std::string& metric) const;

  std::map<std::string, std::string> shared;  ///< settings that all runs share, as a table prints
  std::map<std::string, std::string> keys;    ///< heading of a column → metric
  std::map<std::string, double> chance;       ///< metric → its highest level that is told

  /// The chance level of a statement's metric in the runs that it is about; its highest level where
  /// these are not known.
  std::optional<double> chance_of(const Statement& statement, const std::string& metric) const;
};

/// Reads what lies in the folder; what cannot be read is noted, never an error.
Reference read_reference(const std::string& name, const std::filesystem::path& folder);

}  // namespace difflab::referee
