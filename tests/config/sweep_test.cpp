#include "config/override/override_value.h"
#include "config/support.h"
#include "config/value/yaml.h"

namespace difflab::config {
namespace {

using testing::error_of;

std::vector<std::string> texts(const std::vector<Value>& values) {
  std::vector<std::string> result;
  for (const Value& value : values) result.push_back(value.as_string());
  return result;
}

std::vector<std::string> expand(const std::string& spec, Problems& problems,
                                const std::vector<std::string>& options = {}) {
  const Value tree = parse_yaml("k: " + spec, "x.yaml");
  return texts(expand_axis("k", *tree.find("k"), options, problems));
}

std::vector<std::string> expand(const std::string& spec,
                                const std::vector<std::string>& options = {}) {
  Problems problems;
  auto values = expand(spec, problems, options);
  CATCH_CHECK(problems.text() == "");
  return values;
}

using Texts = std::vector<std::string>;

CATCH_TEST_CASE("an axis is a list, a,b, choice, range, glob or one value") {
  CATCH_CHECK(expand("[1, a, 0.5, null]") == Texts{"1", "a", "0.5", "null"});
  CATCH_CHECK(expand("a, b,1e-3") == Texts{"a", "b", "0.001"});
  CATCH_CHECK(expand("choice(a,2)") == Texts{"a", "2"});
  CATCH_CHECK(expand("range(3)") == Texts{"0", "1", "2"});
  CATCH_CHECK(expand("range(5,1,-2)") == Texts{"5", "3"});
  CATCH_CHECK(expand("glob('d*',exclude=dx)", {"a", "da", "db", "dx"}) == Texts{"da", "db"});
  CATCH_CHECK(expand("7") == Texts{"7"});
  CATCH_CHECK(expand("diff_lambda_0.8") == Texts{"diff_lambda_0.8"});
}

CATCH_TEST_CASE("ranges of fractions have no rounding debris") {
  CATCH_CHECK(expand("range(0,1,0.1)") ==
              Texts{"0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"});
  CATCH_CHECK(expand("range(1.1,0.8,-0.1)") == Texts{"1.1", "1.0", "0.9"});
  CATCH_CHECK(expand("range(1e-5,4e-5,1e-5)") == Texts{"1e-05", "2e-05", "3e-05"});
  CATCH_CHECK(expand("range(0,1e7,2.5e6)") == Texts{"0.0", "2500000.0", "5000000.0", "7500000.0"});
}

CATCH_TEST_CASE("a shuffled sweep has the same values in an order that never changes") {
  auto first = expand("shuffle(range(20))");
  CATCH_CHECK(first == expand("shuffle(range(20))"));
  CATCH_CHECK(first != expand("range(20)"));
  std::sort(first.begin(), first.end(),
            [](auto& a, auto& b) { return std::stoi(a) < std::stoi(b); });
  CATCH_CHECK(first == expand("range(20)"));
}

CATCH_TEST_CASE("an axis that stands for no values is refused with its place") {
  const auto problem = [](const std::string& spec) {
    Problems problems;
    expand(spec, problems);
    return problems.text();
  };
  CATCH_CHECK(problem("[]") == "x.yaml:1:4: sweep.k has no values; expected at least one");
  CATCH_CHECK(problem("range(3,1)") == "x.yaml:1:4: sweep.k has no values; expected at least one");
  CATCH_CHECK(
      problem("{a: 1}") ==
      "x.yaml:1:4: sweep.k is a map; expected a list of values, a,b, choice(…) or range(…)");
  CATCH_CHECK(problem("range(1,2,0)") == "x.yaml:1:4: sweep.k: range() has step 0");
  CATCH_CHECK(problem("range(1e9)") ==
              "x.yaml:1:4: sweep.k: range() has more than 100,000 numbers");
  CATCH_CHECK(problem("range(1,2,.nan)").find("x.yaml:1:4: sweep.k: ") == 0);
  CATCH_CHECK(problem("interval(0,1)").find("write range(0,1,0.1) or 0.1,0.5") !=
              std::string::npos);
  CATCH_CHECK(problem("range(3") ==
              "x.yaml:1:4: sweep.k: expected , or ) here in 'range(3', column 8 (inside { } or [ ] "
              "YAML ends a text at a comma: put it in quotes)");
  CATCH_CHECK(problem("glob(*)").find("works only on a config group") != std::string::npos);
}

CATCH_TEST_CASE("a sorted range has the same numbers") {
  // Also where the limit of a range is none of them by a whole step.
  CATCH_CHECK(expand("sort(range(10,1,-4))") == Texts{"2", "6", "10"});
  CATCH_CHECK(expand("sort(range(0,10,4),reverse=true)") == Texts{"8", "4", "0"});
  CATCH_CHECK(expand("sort(range(0,1,0.3),reverse=true)") == Texts{"0.9", "0.6", "0.3", "0.0"});
  CATCH_CHECK(expand("sort(range(1.1,0,-0.3))") == Texts{"0.2", "0.5", "0.8", "1.1"});
  CATCH_CHECK(expand("sort(range(0,10,4))") == Texts{"0", "4", "8"});
}

}  // namespace
}  // namespace difflab::config
