// What the driver hands to the worker: config.yaml must describe the run whose id names its folder.
#include "experiment/run_config.h"

#include "cli/study_config.h"
#include "config/reader.h"
#include "config/study.h"
#include "config/writer.h"
#include "config/yaml.h"
#include "experiment/identity.h"
#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("every run of every experiment keeps its id through its config.yaml") {
  const config::SearchPath search_path = config::SearchPath::of_project(DIFFLAB_ROOT);
  config::Library library(search_path);
  for (const auto& experiment : library.options("experiment")) {
    CATCH_INFO(experiment);
    config::Problems problems;
    const auto study =
        config::compose_study({.search_path = search_path,
                               .experiment = experiment,
                               .overrides = {},
                               .run_keys = config::field_names<RunConfig>(),
                               .study_keys = config::field_names<cli::StudyConfig>()},
                              problems);
    CATCH_REQUIRE(problems.text() == "");
    CATCH_REQUIRE(!study.points.empty());
    for (const auto& point : study.points) {
      const auto run = config::read<RunConfig>(point.config);
      const std::string text = config::to_yaml(config::write(run));
      const auto again = config::read<RunConfig>(config::parse_yaml(text, "config.yaml"));
      CATCH_INFO(text << config::canonical_json(config::write(run)) << "\n"
                      << config::canonical_json(config::write(again)));
      CATCH_CHECK(run_id(again) == run_id(run));
    }
  }
}

}  // namespace
}  // namespace difflab
