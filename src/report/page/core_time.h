#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace difflab::report {

/// Core seconds by run: wall time from start to end, times the threads. A run that several
/// experiments share has one id, so a sum over maps that are merged counts it once.
using CoreTime = std::map<std::string, double>;

/// Core time of the runs of a report and of its tuning, from the runs.json of each folder. A
/// session that was killed has no end time and does not count.
CoreTime core_time_of(const std::filesystem::path& report);

/// Sum over all runs, in hours.
double core_hours(const CoreTime& runs);

/// "1.8 core-hours"; "less than 0.1 core-hours".
std::string core_hours_text(double hours);

}  // namespace difflab::report
