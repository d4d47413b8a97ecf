// The reusable choices in configs/, as a run gets them.
#include "config/compose/library.h"
#include "config/grid/study.h"
#include "config/schema/reader.h"
#include "model/cost.h"
#include "model/language_model.h"
#include "run/run_config.h"
#include "support/catch.h"

namespace difflab {
namespace {

RunConfig run_of_model(const std::string& option) {
  config::Problems problems;
  const auto composed =
      config::compose_study({.search_path = config::SearchPath::of_project(DIFFLAB_ROOT),
                             .experiment = "",
                             .overrides = {config::parse_override("model=" + option)},
                             .run_keys = config::field_names<RunConfig>(),
                             .study_keys = {"launcher"}},
                            problems);
  CATCH_REQUIRE(composed.points.size() == 1);
  auto run = config::read<RunConfig>(composed.points[0].config, "", problems);
  problems.throw_if_any();
  return run;
}

CATCH_TEST_CASE("options with grouped queries have fewer keys, and parameters like the others") {
  const auto count = [](const std::string& option) {
    const auto run = run_of_model(option);
    return static_cast<double>(count_parameters(run.model, vocab_size(run.task)).total());
  };
  const auto cache = [](const std::string& option) {
    return cache_bytes(run_of_model(option).model, 1, 1);
  };
  for (const std::string option : {"transformer", "diff", "diff_v2"}) {
    CATCH_INFO(option);
    CATCH_CHECK(count(option + "_gqa") == Approx(count("transformer")).epsilon(0.004));
    CATCH_CHECK(2 * cache(option + "_gqa") == cache(option));
  }
}

CATCH_TEST_CASE("difflab params counts what is built, for every model in configs/") {
  const auto search_path = config::SearchPath::of_project(DIFFLAB_ROOT);
  config::Library library(search_path);
  const auto options = library.options("model");
  CATCH_CHECK(options.size() >= 11);
  for (const auto& option : options) {
    CATCH_INFO(option);
    const auto run = run_of_model(option);
    const auto vocab = vocab_size(run.task);
    CATCH_CHECK(run.model.name == option);
    CATCH_CHECK(count_parameters(run.model, vocab).total() ==
                LanguageModel(run.model, vocab).parameter_count());
  }
}

}  // namespace
}  // namespace difflab
