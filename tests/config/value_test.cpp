#include "config/value/value.h"

#include <limits>

#include "config/value/yaml.h"
#include "support/catch.h"

namespace difflab::config {
namespace {

Value parsed(const std::string& text) { return parse_yaml(text, "x.yaml"); }

CATCH_TEST_CASE("maps merge key by key and lists are replaced") {
  Value base = parsed("{a: {x: 1, y: [1, 2]}, b: 2}");
  merge(base, parsed("{c: 3, a: {y: [9], z: 4}}"));
  CATCH_CHECK(base == parsed("{a: {x: 1, y: [9], z: 4}, b: 2, c: 3}"));
  CATCH_CHECK(base.keys() == std::vector<std::string>{"a", "b", "c"});
}

CATCH_TEST_CASE("a merged value keeps the place where it was written last") {
  Value base = parse_yaml("a: 1\nb: 2", "base.yaml");
  merge(base, parse_yaml("\n  b: 3", "over.yaml"));
  CATCH_CHECK(base.find("a")->source.text() == "base.yaml:1:4");
  CATCH_CHECK(base.find("b")->source.text() == "over.yaml:2:6");
  CATCH_CHECK(base.find_entry("b")->source.text() == "over.yaml:2:3");
}

CATCH_TEST_CASE("a path finds keys, list items in brackets and list items by number") {
  const Value tree = parsed("{a: {b: [1, {c: 7}]}}");
  CATCH_CHECK(tree.find_path("a.b[1].c")->as_int() == 7);
  CATCH_CHECK(tree.find_path("a.b.0")->as_int() == 1);
  CATCH_CHECK(tree.find_path("") == &tree);
  for (const auto* path : {"a.x", "a.b[2]", "a.b[-1]", "a.b[x]", "a.b[", "a..b", "a.b[0].c"}) {
    CATCH_INFO(path);
    CATCH_CHECK(tree.find_path(path) == nullptr);
  }
}

CATCH_TEST_CASE("setting at a path enters lists where they have the item") {
  Value tree = parsed("{a: {b: [1, {c: 7}]}}");
  tree.set_path("a.b[1].c", Value(8));
  tree.set_path("a.b.0", Value(2));
  CATCH_CHECK(tree == parsed("{a: {b: [2, {c: 8}]}}"));
  tree.set_path("a.b.x", Value(1));  // no item: what is set says what it is
  CATCH_CHECK(tree == parsed("{a: {b: {x: 1}}}"));
}

CATCH_TEST_CASE("numbers print as the shortest text that reads back, in Python's form") {
  // Right-hand sides: Python's repr.
  CATCH_CHECK(number_text(0.1) == "0.1");
  CATCH_CHECK(number_text(0.1 + 0.2) == "0.30000000000000004");
  CATCH_CHECK(number_text(1) == "1.0");
  CATCH_CHECK(number_text(1e-5) == "1e-05");
  CATCH_CHECK(number_text(1e-4) == "0.0001");
  CATCH_CHECK(number_text(1e15) == "1000000000000000.0");
  CATCH_CHECK(number_text(1e16) == "1e+16");
  CATCH_CHECK(number_text(-1.5e-7) == "-1.5e-07");
  CATCH_CHECK(number_text(-std::numeric_limits<double>::infinity()) == "-inf");
}

CATCH_TEST_CASE("whole numbers and numbers differ, two NaN are equal") {
  CATCH_CHECK_FALSE(Value(1) == Value(1.0));
  CATCH_CHECK(Value(std::nan("")) == Value(std::nan("")));
  CATCH_CHECK_FALSE(Value() == Value(""));
}

CATCH_TEST_CASE("the canonical text does not depend on the order of keys") {
  CATCH_CHECK(canonical_json(parsed("{b: 1, a: {d: [1.0, null], c: 'x\"y'}}")) ==
              R"({"a":{"c":"x\"y","d":[1.0,null]},"b":1})");
  CATCH_CHECK(canonical_json(parsed("{a: .inf, b: -.inf, c: .nan, d: 'NaN'}")) ==
              R"({"a":Infinity,"b":-Infinity,"c":NaN,"d":"NaN"})");
}

CATCH_TEST_CASE("a tree survives JSON") {
  const Value tree = parsed("{a: [1, 2.5, x, null, true], b: {c: {}}, d: []}");
  CATCH_CHECK(to_json(tree).dump() == R"({"a":[1,2.5,"x",null,true],"b":{"c":{}},"d":[]})");
  CATCH_CHECK(from_json(to_json(tree)) == tree);
}

}  // namespace
}  // namespace difflab::config
