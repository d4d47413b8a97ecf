#include <algorithm>

#include "report/archive/rebuild.h"
#include "report/archive/rows_in_use.h"
#include "util/text.h"

namespace difflab::report {
namespace {

Json study_json(const Study& study) {
  Json report = config::to_json(config::write(study.report));
  // Folders from before these keys stay as they are.
  if (study.report.times.compare == Compared::kDifferences) report.erase("times");
  if (study.report.opponents.empty()) report.erase("opponents");
  if (study.report.style == StyleConfig{}) report.erase("style");
  for (Json& figure : report["figures"]) {
    if (figure.value("opponents", Json::array()).empty()) figure.erase("opponents");
    if (!figure.value("shared", false)) figure.erase("shared");
  }
  return {{"title", study.title},
          {"question", study.question},
          {"prediction", study.prediction},
          {"notes", study.notes},
          {"baseline", study.baseline},
          {"unmatched", study.unmatched},
          {"tuned", study.tuned ? study.tuned->json() : Json()},
          {"settings", study.settings},
          {"report", std::move(report)}};
}

// The configuration as places in `settings`, which gets what it does not have yet.
Json shared(const Json& config, Json& settings) {
  Json places = Json::object();
  for (const auto& [key, value] : config.items()) {
    Json& known = settings[key];
    if (known.is_null()) known = Json::array();
    auto found = std::find(known.begin(), known.end(), value);
    if (found == known.end()) found = known.insert(known.end(), value);
    places[key] = found - known.begin();
  }
  return places;
}

Json run_json(const FrameRun& run, const RowsInUse& rows, Json& settings) {
  Json one = {
      {"id", run.plan.id}, {"axes", run.plan.axes}, {"config", shared(run.plan.config, settings)}};
  if (!run.has_result()) return one;
  if (Json curve = rows.curve_of(run); !curve.is_null()) one["curve"] = std::move(curve);
  one["evaluations"] = rows.evaluations_of(run);
  return one;
}

}  // namespace

std::string observations_text(const Study& study, const Frame& frame) {
  const RowsInUse rows(study.report);
  Json settings = Json::object();
  std::vector<std::string> runs;
  for (const FrameRun& run : frame.runs()) runs.push_back(run_json(run, rows, settings).dump());
  return concat("{\"format\": ", kObservationsFormat, ",\n\"study\": ", study_json(study).dump(),
                ",\n\"settings\": ", settings.dump(), ",\n\"runs\": [\n", join(runs, ",\n"),
                "\n]}\n");
}

}  // namespace difflab::report
