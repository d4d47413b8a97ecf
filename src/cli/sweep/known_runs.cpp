#include "cli/sweep/run_study.h"
#include "config/override/json.h"
#include "config/schema/reader.h"
#include "run/input_files.h"
#include "run/run_config.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {

Study study_without_runs(const std::filesystem::path& results, const std::string& name,
                         const std::string& title) {
  // As a text of the grammar of overrides, whatever characters the path has.
  auto study = load_study("", {concat("results=", config::in_quotes(results.string(), '\''))});
  study.points.clear();
  study.configs.clear();
  study.name = name;
  study.config.title = title;
  study.config.question = "";
  study.output.clear();
  return study;
}

void add_known_run(Study& study, RunConfig config, const std::string& id, const sweep::Axes& axes) {
  // References name files of the project by where they lie in it.
  each_input_file(config, [&](InputFile& file) {
    if (file.given()) file.path = (study.root / file.path).lexically_normal().string();
  });
  study.add(config, axes);
  const auto today = study.points.back().id;
  if (today == id) return;
  study.points.pop_back();
  study.configs.erase(today);
  throw UserError(concat("run ", id, " of ", study.name, " is called ", today,
                         " by this difflab: its configuration means something else today"));
}

void add_known_run(Study& study, const report::PlannedRun& run) {
  const auto config = config::read<RunConfig>(config::from_json(run.config), run.id);
  add_known_run(study, config, run.id, run.axes);
}

}  // namespace difflab::cli
