#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "study/run_rows.h"

namespace difflab::cli {

using namespace study;

/// A page of runs that a browser opens from its folder, without a server: index.html, runs.js with
/// every key and metric of every run, curves/N.js with the curves of a hundred runs each.
class RunsPage {
 public:
  RunsPage(std::filesystem::path results, std::filesystem::path folder)
      : results_(std::move(results)), folder_(std::move(folder)) {}

  /// The runs of the results folder. A finished one is read again only if its files have changed.
  std::vector<RunRow> look();

  /// Writes what has changed. @param live the page looks for a new runs.js every two seconds
  /// @throws UserError if the folder holds something else, or cannot be written
  void write(std::vector<RunRow> rows, bool live);

 private:
  struct Seen {
    std::filesystem::file_time_type changed;
    RunRow row;
    std::string curve;  ///< as JSON; "" if it has none
  };

  void write_changed(const std::string& name, const std::string& text);

  std::filesystem::path results_, folder_;
  std::map<std::string, Seen> seen_;            ///< by id
  std::map<std::string, std::string> written_;  ///< by file
};

}  // namespace difflab::cli
