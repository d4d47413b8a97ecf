#include "report/page/core_time.h"

#include <fmt/format.h>

#include "record/provenance.h"
#include "util/files.h"
#include "util/json.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

// Nothing if there is none, or something else.
Json list_at(const Json& json, const char* key) {
  if (!json.is_object()) return Json::array();
  const Json list = json.value(key, Json());
  return list.is_array() ? list : Json::array();
}

double core_seconds(const Json& session) {
  if (!session.is_object()) return 0;
  const Json threads = session.value("threads", Json());
  return session_seconds(session).value_or(0) * (threads.is_number() ? threads.get<double>() : 1);
}

void add(const fs::path& record, CoreTime& runs) {
  if (!fs::exists(record)) return;
  const Json json = Json::parse(read_file(record), nullptr, /*allow_exceptions=*/false);
  for (const Json& run : list_at(json, "runs")) {
    if (!run.is_object()) continue;
    const Json id = run.value("id", Json());
    const Json provenance = run.value("provenance", Json());
    if (!id.is_string() || !provenance.is_object()) continue;
    double seconds = core_seconds(provenance);
    for (const Json& earlier : list_at(provenance, "earlier_sessions")) {
      seconds += core_seconds(earlier);
    }
    runs[id.get<std::string>()] = seconds;
  }
}

}  // namespace

CoreTime core_time_of(const fs::path& report) {
  CoreTime runs;
  add(report / "runs.json", runs);
  add(report / "tuning" / "runs.json", runs);
  add(report / "tuning" / "shorter" / "runs.json", runs);
  return runs;
}

double core_hours(const CoreTime& runs) {
  double seconds = 0;
  for (const auto& [id, value] : runs) seconds += value;
  return seconds / 3600;
}

std::string core_hours_text(double hours) {
  return hours < .05 ? "less than 0.1 core-hours" : fmt::format("{:.1f} core-hours", hours);
}

}  // namespace difflab::report
