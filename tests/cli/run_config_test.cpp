// What the driver hands to the worker: config.yaml must describe the run whose id names its folder.
#include "run/run_config.h"

#include "config/grid/study.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/settings/claim_config.h"
#include "run/identity.h"
#include "study/study_config.h"
#include "support/catch.h"

namespace difflab {
namespace {

/// Calls look(study, problems) for every experiment, composed as it is.
template <class Look>
void for_every_experiment(const Look& look) {
  const config::SearchPath search_path = config::SearchPath::of_project(DIFFLAB_ROOT);
  config::Library library(search_path);
  const auto all = library.options("experiment");
  CATCH_REQUIRE(all.size() >= 29);
  for (const auto& experiment : all) {
    CATCH_INFO(experiment);
    config::Problems problems;
    auto study = config::compose_study({.search_path = search_path,
                                        .experiment = experiment,
                                        .overrides = {},
                                        .run_keys = config::field_names<RunConfig>(),
                                        .study_keys = config::field_names<study::StudyConfig>()},
                                       problems);
    look(study, problems);
  }
}

CATCH_TEST_CASE("every run of every experiment keeps its id through its config.yaml") {
  for_every_experiment([](const config::Study& study, const config::Problems& problems) {
    CATCH_REQUIRE(problems.text() == "");
    CATCH_REQUIRE(!study.points.empty());
    for (const auto& point : study.points) {
      auto tree = point.config;
      complete_stages(tree);
      const auto run = config::read<RunConfig>(tree);
      const std::string text = config::to_yaml(config::write(run));
      const auto again = config::read<RunConfig>(config::parse_yaml(text, "config.yaml"));
      CATCH_INFO(text << config::canonical_json(config::write(run)) << "\n"
                      << config::canonical_json(config::write(again)));
      CATCH_CHECK(run_id(again) == run_id(run));
    }
  });
}

CATCH_TEST_CASE("every claim of every experiment names variants that its sweep has") {
  for_every_experiment([](config::Study& composed, config::Problems& problems) {
    report::expand_claims(composed.settings, problems);
    const auto study = config::read<study::StudyConfig>(composed.settings);
    std::vector<std::string> axes;
    for (const auto& axis : composed.axes) axes.push_back(axis.key);
    const auto compared = report::compared_axis(study.report, axes);
    std::set<std::string> values;
    for (const auto& point : composed.points) {
      for (const auto& [axis, label] : point.axes) {
        if (axis == compared) values.insert(label);
      }
    }
    for (const auto& claim : study.report.claims) {
      CATCH_INFO(claim.text);
      CATCH_CHECK(values.count(claim.variant) == 1);
      auto others = claim.against == report::kBestOpponent ? study.report.opponents
                                                           : std::vector{claim.against};
      if (others == std::vector<std::string>{""}) others = {study.baseline};
      for (const auto& other : others) CATCH_CHECK(values.count(other) == 1);
    }
  });
}

}  // namespace
}  // namespace difflab
