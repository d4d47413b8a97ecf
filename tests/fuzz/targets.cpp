#include "fuzz/targets.h"

#include <cstdio>
#include <cstdlib>

#include "config/interpolate/expression.h"
#include "config/interpolate/interpolate.h"
#include "config/override/override.h"
#include "config/value/yaml.h"
#include "util/error.h"

namespace difflab::fuzz {
namespace {

using namespace config;

void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

}  // namespace

void fuzz_override(std::string_view bytes) {
  try {
    const Override item = parse_override(bytes);
    to_json(item).dump();
    if (item.value && !contains_sweep(*item.value)) item.to_value();
  } catch (const UserError&) {
  }
}

void fuzz_yaml(std::string_view bytes) {
  try {
    const Value tree = parse_yaml(bytes, "fuzz.yaml");
    const std::string text = to_yaml(tree);
    require(parse_yaml(text, "again.yaml") == tree, "a tree is read as it was written");
    require(from_json(Json::parse(to_json(tree).dump())).is_map() == tree.is_map(),
            "a tree is JSON");
  } catch (const UserError&) {
  }
}

void fuzz_interpolation(std::string_view bytes) {
  try {
    if (bytes.find(':') == bytes.npos) {
      const Value three(3);
      evaluate_expression(bytes,
                          [&](const std::string& name) { return name == "x" ? &three : nullptr; });
      return;
    }
    Value tree = parse_yaml(bytes, "fuzz.yaml");
    Problems problems;
    const Facts facts{.start = 0, .job_name = "fuzz", .job_num = 1, .choices = {{"model", "diff"}}};
    interpolate(tree, problems, facts);
    problems.text();
  } catch (const UserError&) {
  }
}

}  // namespace difflab::fuzz
