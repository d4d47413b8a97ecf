#pragma once

#include <functional>
#include <optional>

#include "report/page/summary.h"
#include "study/asked/asked_study.h"

namespace difflab::cli {

/// Asks what is not answered yet, calls `report`, then says how much was asked and trained; with
/// `json` as one object that also holds the metrics and evaluations of every run. Returns the exit
/// code.
int ask_and_report(const Asked& asked, bool json,
                   const std::function<std::optional<report::Summary>()>& report);

}  // namespace difflab::cli
