#include "report/archive/rebuild.h"

#include "config/value/value.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

RunState state_named(const std::string& name) {
  if (name == shown(RunState::kNew)) return RunState::kNew;
  if (const auto state = run_state_of(name)) return *state;
  throw UserError(concat("a run has the unknown status '", name, "'"));
}

// Throws one UserError that lists all that a report of an older difflab lacks.
void require_archived(const fs::path& folder, const Json& runs) {
  std::vector<std::string> missing;
  for (const Json& run : runs.at("runs")) {
    if (!is_complete(state_named(run.at("status"))) || run.contains("metrics")) continue;
    missing.emplace_back("runs.json has no metrics of its runs");
    break;
  }
  if (!fs::exists(folder / kObservationsFile)) {
    missing.push_back(
        concat(kObservationsFile, " is missing (settings, configurations, cells and curves)"));
  }
  if (missing.empty()) return;
  throw UserError(concat(folder.string(), " cannot be rebuilt: ", join(missing, "; "),
                         ". An older difflab made it; expected one rewritten by ./difflab report"));
}

PlannedRun plan_of(const Json& known, const Json& observed, const Json& settings,
                   const fs::path& output) {
  PlannedRun plan;
  plan.id = known.at("id").get<std::string>();
  if (observed.at("id") != plan.id) {
    throw UserError(concat("run ", plan.id, " of runs.json is ",
                           observed.at("id").get<std::string>(), " in ", kObservationsFile));
  }
  for (const Json& axis : observed.at("axes")) {
    plan.axes.emplace_back(axis.at(0).get<std::string>(), axis.at(1).get<std::string>());
  }
  plan.config = Json::object();
  for (const auto& [key, place] : observed.at("config").items()) {
    plan.config[key] = settings.at(key).at(place.get<std::size_t>());
  }
  plan.directory = {output / known.at("directory").get<std::string>()};
  return plan;
}

// The result as far as it was kept.
Json result_of(const Json& known, const Json& observed) {
  Json result = {{"metrics", known.at("metrics")}};
  for (const char* key : {"censored", "looks"}) {
    if (const auto found = known.find(key); found != known.end()) result[key] = *found;
  }
  result["evaluations"] = Json::object();
  for (const auto& [source, kept] : observed.at("evaluations").items()) {
    const bool packed = kept.contains("rows");
    result["evaluations"][source] = packed ? Json{{"cells", unpack(kept)}} : kept;
    if (packed && kept.contains("cut_contexts")) {
      result["evaluations"][source]["cut_contexts"] = kept["cut_contexts"];
    }
  }
  return result;
}

FrameRun run_of(const Json& known, const Json& observed, PlannedRun plan) {
  FrameRun run;
  run.plan = std::move(plan);
  run.state = state_named(known.at("status"));
  run.message = known.value("message", "");
  run.provenance = known.at("provenance");
  if (const auto step = known.find("diverged_at_step"); step != known.end()) {
    run.diverged_at = step->get<double>();
  }
  if (!run.has_result()) return run;
  run.result = result_of(known, observed);
  if (const auto curve = observed.find("curve"); curve != observed.end()) {
    run.curve = unpack(*curve);
  }
  return run;
}

Study study_of(const Json& known, const Json& asked, const fs::path& output) {
  const Json tuned = asked.value("tuned", Json());
  return {.name = known.at("experiment"),
          .preset = known.at("preset"),
          .title = asked.at("title"),
          .question = asked.at("question"),
          .prediction = asked.at("prediction"),
          .notes = asked.at("notes"),
          .baseline = asked.at("baseline"),
          .unmatched = asked.at("unmatched"),
          .tuned = tuned.is_null() ? std::nullopt : std::optional(Tuned::of(tuned)),
          .command = known.at("command"),
          .settings = asked.at("settings"),
          .report = config::read<ReportConfig>(config::from_json(asked.at("report"))),
          .output = output};
}

Archive archive_of(const Json& known, const Json& observed, const fs::path& output) {
  if (observed.at("format") != kObservationsFormat) {
    throw UserError(
        concat("format is ", observed.at("format").dump(), "; expected ", kObservationsFormat));
  }
  Study study = study_of(known, observed.at("study"), output);
  const Json& runs = known.at("runs");
  if (runs.size() != observed.at("runs").size()) {
    throw UserError(
        concat("it has ", observed.at("runs").size(), " runs, runs.json ", runs.size()));
  }
  std::vector<FrameRun> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json& kept = observed.at("runs").at(i);
    study.runs.push_back(plan_of(runs[i], kept, observed.at("settings"), output));
    found.push_back(run_of(runs[i], kept, study.runs.back()));
  }
  Frame frame = frame_of(study, std::move(found));
  return {std::move(study), std::move(frame)};
}

}  // namespace

Json read_object(const fs::path& file) {
  try {
    Json json = Json::parse(read_file(file));
    if (json.is_object()) return json;
  } catch (const Json::exception& error) {
    throw UserError(concat(file.string(), " is damaged: ", error.what()));
  }
  throw UserError(file.string() + " is damaged: it holds no JSON object");
}

Archive read_archive(const fs::path& folder, const fs::path& output) {
  if (!fs::exists(folder / "runs.json")) {
    throw UserError(concat(folder.string(),
                           " holds no report: runs.json is missing; expected "
                           "e.g. results/headline/reference"));
  }
  const Json known = read_object(folder / "runs.json");
  try {
    require_archived(folder, known);
  } catch (const Json::exception& error) {
    throw UserError(concat((folder / "runs.json").string(), " is damaged: ", error.what()));
  }
  const auto file = folder / kObservationsFile;
  const Json observed = read_object(file);
  try {
    auto archive = archive_of(known, observed, output);
    // A tuning lies in the folder of the study that it is for.
    archive.study.is_tuning = fs::exists(folder.parent_path() / "runs.json");
    return archive;
  } catch (const Json::exception& error) {
    throw UserError(concat(file.string(), " does not fit runs.json: ", error.what()));
  } catch (const UserError& error) {
    throw UserError(concat(file.string(), ": ", error.what()));
  }
}

}  // namespace difflab::report
