// Whatever a run may be configured to, its config.yaml describes it completely.
#include "support/random_config.h"

#include "config/schema/writer.h"
#include "config/value/value.h"
#include "config/value/yaml.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "support/catch.h"
#include "support/dose.h"

namespace difflab {
namespace {

std::string content(const RunConfig& config) {
  return config::canonical_json(config::write(config));
}

CATCH_TEST_CASE("thousands of random configurations survive their config.yaml, with the same id") {
  const std::uint64_t configurations = testing::dose(1'000, 10'000) / testing::kEvery;
  std::set<std::string> ids;
  for (std::uint64_t seed = 0; seed < configurations; ++seed) {
    const auto config = testing::RandomConfig(seed).make<RunConfig>();
    const std::string text = config::to_yaml(config::write(config));
    config::Problems broken_rules;  // across fields; each field alone is valid
    const auto again =
        config::read<RunConfig>(config::parse_yaml(text, "config.yaml"), "", broken_rules);
    const std::string id = run_id(config);
    ids.insert(id);
    if (content(again) == content(config) && run_id(again) == id) continue;
    CATCH_FAIL("seed " << seed << "\n" << text << broken_rules.text() << "\n" << content(again));
  }
  CATCH_CHECK(ids.size() > configurations - 10);  // they are really different
}

}  // namespace
}  // namespace difflab
