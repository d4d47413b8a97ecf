#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "referee/base/csv.h"
#include "report/archive/reproduction.h"
#include "statistics/describe.h"
#include "util/json.h"

namespace difflab::referee {

/// A line of claims.csv.
struct Statement {
  std::string claim, metric, verdict;
  bool is_of_margin = false;  ///< it expects equivalence
  bool is_ratio = false;
  std::optional<Interval> interval = {};  ///< of a ratio in logarithms
  std::optional<double> p;                ///< adjusted
  std::size_t pairs = 0;

  /// True if the verdict says something of the world, even if only that it cannot tell: neither "no
  /// verdict" nor "not measured".
  bool judges() const { return verdict != "no verdict" && verdict != "not measured"; }
  bool takes_sides() const { return verdict == "supported" || verdict == "opposite"; }
  /// How an objection names it.
  std::string place() const;
};

/// A committed report as its files tell of it. Rules see nothing else.
struct Reference {
  std::string name;  ///< experiment
  std::filesystem::path folder;
  Json runs = Json::array();            ///< of runs.json
  std::vector<Statement> statements;    ///< of claims.csv
  std::vector<std::string> unreadable;  ///< files that are missing or damaged, with the reason
  std::vector<CsvTable> tables;         ///< NAME.csv
  std::vector<CsvTable> comparisons;    ///< NAME.paired.csv
  std::vector<CsvTable> figures;        ///< figures/NAME.csv
  /// The report as it can be made again. Without it the rule "recomputable" objects, and the others
  /// judge what the files alone tell.
  std::optional<report::Archive> archive;
  std::string why_no_archive;
  /// Where runs of it were made again and confirm it (reproduced.json).
  std::vector<report::Confirmed> confirmed;

  /// Values of a setting over all runs, as text; empty without an archive.
  std::set<std::string> values(const std::string& key) const;

  /// The axis whose values are compared, "" if there is none, and these values.
  std::string compared_axis() const;
  std::vector<std::string> arms() const;

  /// True if any run was trained, for more than one step; a benchmark's runs are not.
  bool is_trained() const;

  /// True if any run in runs.json has the metric.
  bool measures(const std::string& metric) const;
};

/// Reads what lies in the folder; what cannot be read is noted, never an error.
Reference read_reference(const std::string& name, const std::filesystem::path& folder);

}  // namespace difflab::referee
