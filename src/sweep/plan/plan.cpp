#include "sweep/plan/plan.h"

#include <algorithm>
#include <set>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kPlanSchema = 1;
constexpr const char* kFile = "plan.json";

Json to_json(const Run& run, const fs::path& folder) {
  return {{"id", run.id},
          {"axes", run.axes},
          {"work", run.work},
          {"training", run.training},
          {"operations", run.operations},
          {"directory", run.directory.path.lexically_relative(folder).string()},
          {"config", run.config},
          {"config_text", run.config_text}};
}

// Where a plan may say that its runs lie: in runs/ID of a folder that it lies in itself. It may
// come from somebody else.
bool is_place_of_run(const fs::path& directory, const std::string& id, const fs::path& folder) {
  const auto results = directory.parent_path().parent_path();
  const auto below = folder.lexically_relative(results);
  return !id.empty() && directory.filename() == id &&
         directory.parent_path().filename() == "runs" && !below.empty() && *below.begin() != "..";
}

Run run_from(const Json& json, const fs::path& folder) {
  const auto directory = (folder / json.at("directory").get<std::string>()).lexically_normal();
  if (!is_place_of_run(directory, json.at("id").get<std::string>(), folder)) {
    throw UserError(concat((folder / kFile).string(), ": has a run in ", directory.string(),
                           "; expected runs/ID of the results folder that the plan lies in"));
  }
  return {.id = json.at("id").get<std::string>(),
          .axes = json.at("axes").get<Axes>(),
          .config = json.at("config"),
          .config_text = json.at("config_text").get<std::string>(),
          .directory = {directory},
          .work = json.at("work").get<std::int64_t>(),
          .training = json.value("training", ""),
          .operations = json.value("operations", 0.0)};
}

}  // namespace

void require_plain_path(const fs::path& folder) {
  const std::string text = folder.string();
  for (std::string_view rest = text; !rest.empty();) {
    const auto length = utf8_length(rest);
    if (length == 0 || is_control(rest.front())) {
      throw UserError(concat(
          "the results would lie in ", dump_readable(Json(text)),
          "; expected a path of UTF-8 text without line breaks and other control characters"));
    }
    rest.remove_prefix(length);
  }
}

int Plan::threads_per_run() const {
  int threads = 1;
  for (const auto& run : runs) threads = std::max(threads, run.config.value("threads", 1));
  return threads;
}

void write_plan(const fs::path& folder, const Plan& plan) {
  make_directories(folder);
  const auto from = fs::absolute(folder).lexically_normal();
  Json runs = Json::array();
  for (const auto& run : plan.runs) runs.push_back(to_json(run, from));
  Json json = {{"schema", kPlanSchema}, {"experiment", plan.experiment}, {"preset", plan.preset},
               {"report", plan.report}, {"launcher", plan.launcher},     {"runs", runs}};
  if (!plan.more.empty()) json["more"] = plan.more;
  write_file_atomically(folder / kFile, json.dump(1) + "\n");
}

Plan read_plan(const fs::path& folder) {
  const auto from = fs::absolute(folder).lexically_normal();
  require_plain_path(from);
  const auto file = from / kFile;
  if (!fs::exists(file)) {
    throw UserError(concat("there is no ", file.string(),
                           "; expected the folder that `difflab sweep NAME --freeze`, or a sweep "
                           "for a batch system, has named as its output"));
  }
  const Json json = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  try {
    if (json.at("schema") != kPlanSchema) {
      throw UserError(concat(file.string(), ": has schema ", json.at("schema").dump(),
                             "; this difflab reads schema ", kPlanSchema));
    }
    Plan plan{.experiment = json.at("experiment").get<std::string>(),
              .preset = json.at("preset").get<std::string>(),
              .report = json.at("report").get<std::vector<std::string>>(),
              .more = json.value("more", std::vector<std::string>{}),
              .launcher = json.at("launcher")};
    for (const auto& run : json.at("runs")) plan.runs.push_back(run_from(run, from));
    return plan;
  } catch (const Json::exception& error) {
    throw UserError(concat(file.string(), ": is damaged (", error.what(),
                           "); the command that wrote it writes it again"));
  }
}

std::vector<Run> share_of(const std::vector<Run>& runs, int index, int count) {
  std::vector<Run> share;
  for (auto i = static_cast<std::size_t>(index); i < runs.size();
       i += static_cast<std::size_t>(count)) {
    share.push_back(runs[i]);
  }
  return share;
}

std::vector<RunState> states_of(const std::vector<Run>& runs) {
  std::vector<RunState> states;
  std::vector<std::string> problems;
  for (const auto& run : runs) {
    try {
      states.push_back(state_of(run.directory));
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  if (!problems.empty()) throw UserError(join(problems, "\n"));
  return states;
}

std::vector<Run> distinct(const std::vector<Run>& points) {
  std::vector<Run> runs;
  std::set<std::string> seen;
  for (const auto& point : points) {
    if (seen.insert(point.id).second) runs.push_back(point);
  }
  return runs;
}

}  // namespace difflab::sweep
