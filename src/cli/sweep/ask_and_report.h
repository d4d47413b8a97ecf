#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"
#include "study/asked/asked_study.h"

namespace difflab::cli {

using namespace study;

/// The arguments of a command that asks trained models (find_asked).
struct AskOptions {
  std::vector<std::string> words;
  std::string results;
  std::vector<std::string> on;
  std::vector<std::int64_t> at;
  bool json = false;

  /// @param what says what the words are
  void add_to(CLI::App& command, const char* what);
};

/// Asks what is not answered yet, calls `report`, then says how much was asked and trained; with
/// `json` as one object that also holds the metrics and evaluations of every run. Returns the exit
/// code.
int ask_and_report(const Asked& asked, bool json,
                   const std::function<std::optional<report::Summary>()>& report);

}  // namespace difflab::cli
