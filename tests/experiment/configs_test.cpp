// The reusable choices in configs/, as a run gets them.
#include <filesystem>

#include "config/compose/library.h"
#include "config/grid/study.h"
#include "config/schema/reader.h"
#include "model/cost.h"
#include "model/language_model.h"
#include "run/run_config.h"
#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("difflab params counts what is built, for every model in configs/") {
  const auto search_path = config::SearchPath::of_project(DIFFLAB_ROOT);
  config::Library library(search_path);
  const auto options = library.options("model");
  CATCH_CHECK(options.size() >= 11);
  for (const auto& option : options) {
    CATCH_INFO(option);
    config::Problems problems;
    const auto composed = config::compose_study({.search_path = search_path,
                                                 .experiment = "",
                                                 .overrides = {"model=" + option},
                                                 .run_keys = config::field_names<RunConfig>(),
                                                 .study_keys = {"launcher"}},
                                                problems);
    CATCH_REQUIRE(composed.points.size() == 1);
    const auto run = config::read<RunConfig>(composed.points[0].config, "", problems);
    problems.throw_if_any();
    const auto vocab = vocab_size(run.task);
    CATCH_CHECK(run.model.name == option);
    CATCH_CHECK(count_parameters(run.model, vocab).total() ==
                LanguageModel(run.model, vocab).parameter_count());
  }
}

}  // namespace
}  // namespace difflab
