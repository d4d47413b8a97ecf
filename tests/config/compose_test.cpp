#include "config/compose.h"

#include "config/interpolate.h"
#include "support/catch.h"
#include "util/files.h"

namespace difflab::config {
namespace {

constexpr const char* kHydra = DIFFLAB_ROOT "/tests/config/fixtures/hydra";

struct Composed {
  Value tree;
  Problems problems;
};

Composed compose_hydra(const std::vector<std::string>& overrides) {
  Library library({{std::string(kHydra) + "/conf"}, {}});
  std::vector<Override> parsed;
  for (const std::string& text : overrides) parsed.push_back(parse_override(text));
  Composed result;
  result.tree = compose(library, "config", parsed, result.problems).tree;
  return result;
}

/// Keys under hydra. belong to Hydra itself.
bool is_about_hydra(const Json& overrides) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [](const Json& text) { return text.get<std::string>().starts_with("hydra"); });
}

CATCH_TEST_CASE("configs are composed and resolved as Hydra does") {
  int compared = 0;
  for (const Json& answer : Json::parse(read_file(std::string(kHydra) + "/compose.json"))) {
    if (is_about_hydra(answer["overrides"])) continue;
    CATCH_INFO(answer["overrides"].dump());
    ++compared;
    Composed found = compose_hydra(answer["overrides"].get<std::vector<std::string>>());
    CATCH_INFO(found.problems.text());
    CATCH_CHECK(found.problems.empty() == answer["ok"].get<bool>());
    if (!answer["ok"].get<bool>()) continue;
    CATCH_CHECK(to_json(found.tree).dump() == answer["config"].dump());
    interpolate(found.tree, found.problems);
    CATCH_CHECK(found.problems.empty() == answer.contains("resolved"));
    if (answer.contains("resolved")) {
      CATCH_CHECK(to_json(found.tree).dump() == answer["resolved"].dump());
    }
  }
  CATCH_CHECK(compared == 50);
}

}  // namespace
}  // namespace difflab::config
