#include "config/interpolate/expression.h"

#include "config/support.h"
#include "config/value/yaml.h"

namespace difflab::config {
namespace {

using testing::error_of;

Value evaluate(const std::string& text) {
  static const Value kTree = parse_yaml(
      "{model: {name: diff, width: 8}, lr: 0.5, tags: [a, b], seed: 3, flag: true}", "x");
  return evaluate_expression(text, [](const std::string& name) { return kTree.find_path(name); });
}

std::string text_of(const std::string& text) { return to_json(evaluate(text)).dump(); }

// Expected values are Python 3's.
CATCH_TEST_CASE("expressions calculate as Python does") {
  CATCH_CHECK(text_of("1 + 2 * 3 ** 2") == "19");
  CATCH_CHECK(text_of("-2 ** 2") == "-4");
  CATCH_CHECK(text_of("2 ** -1") == "0.5");
  CATCH_CHECK(text_of("(1 + 2) * 3 - 4") == "5");
  CATCH_CHECK(text_of("10 - 4 - 3 + 1") == "4");
  CATCH_CHECK(text_of("24 / 4 / 3 * 2") == "4.0");
  CATCH_CHECK(text_of("2 ** 3 ** 2") == "512");
  CATCH_CHECK(text_of("7 / 2") == "3.5");
  CATCH_CHECK(text_of("4 / 2") == "2.0");
  CATCH_CHECK(text_of("[7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 // -2]") == "[3,-4,1,2,-4]");
  CATCH_CHECK(text_of("[1 // 0.1, 5.5 // 1.1, 6 // 0.1, -7.5 // 2, 7.5 // -2]") ==
              "[9.0,4.0,59.0,-4.0,-4.0]");
  CATCH_CHECK(text_of("[1 % 0.1, -7.5 % 2, 7.5 % -2, 6.0 % 3]") ==
              "[0.09999999999999995,0.5,-0.5,0.0]");
  CATCH_CHECK(text_of("1e-3 * 1_000") == "1.0");
  CATCH_CHECK(text_of("'a' + \"b\"") == "\"ab\"");
  CATCH_CHECK(text_of("1 - - 1") == "2");
  CATCH_CHECK(text_of("9223372036854775807 + 1") == "9.223372036854776e+18");
}

CATCH_TEST_CASE("expressions read keys by their dotted names") {
  CATCH_CHECK(text_of("model.width * seed") == "24");
  CATCH_CHECK(text_of("tags[1] == 'b'") == "true");
  CATCH_CHECK(text_of("model.name in ['diff', 'transformer']") == "true");
  CATCH_CHECK(text_of("seed not in [1, 2]") == "true");
}

CATCH_TEST_CASE("conditions bind as in Python and skip what cannot change them") {
  CATCH_CHECK(text_of("true or false and false") == "true");
  CATCH_CHECK(text_of("not false and false") == "false");
  CATCH_CHECK(text_of("not seed == 3") == "false");
  CATCH_CHECK(text_of("lr <= 0.5 and lr >= 1 / 2 and lr < 1 and 1 > lr and lr != 1") == "true");
  CATCH_CHECK(text_of("[lr < 0.5, 0.5 > lr, 1 <= lr, 0 >= lr, lr != 0.5]") ==
              "[false,false,false,false,false]");
  CATCH_CHECK(text_of("flag or nothing > 1") == "true");
  CATCH_CHECK(text_of("not flag and 1 / 0 > 'x'") == "false");
  CATCH_CHECK(text_of("seed == 3.0") == "true");
  CATCH_CHECK(text_of("'3' == seed") == "false");
}

CATCH_TEST_CASE("what is wrong with an expression is said") {
  const auto error = [](const std::string& text) { return error_of([&] { evaluate(text); }); };
  CATCH_CHECK(error("model.name == diff") == "there is no key diff (a text needs quotes: 'diff')");
  CATCH_CHECK(error("seed < 'a'") == "cannot compare 3 with 'a'");
  CATCH_CHECK(error("seed + 'a'") == "cannot calculate 3 + 'a'");
  CATCH_CHECK(error("0 ** -1") == "cannot calculate 0 ** -1");
  CATCH_CHECK(error("(-1) ** 0.5") == "cannot calculate -1 ** 0.5");
  CATCH_CHECK(error("seed or true") == "a side of and or or is 3; expected true or false");
  CATCH_CHECK(error("1 / 0") == "divides 1 by 0");
  CATCH_CHECK(error("1 % 0") == "divides 1 by 0");
  CATCH_CHECK(error("(1") == "a ( has no closing )");
  CATCH_CHECK(error("[1") == "a [ has no closing ]");
  CATCH_CHECK(error("'a") == "a ' has no closing one");
  CATCH_CHECK(error("1 2") == "unexpected 2");
  CATCH_CHECK(error("1 <") == "expected a value at the end");
  CATCH_CHECK(error("1x") == "1x is not a number");
  CATCH_CHECK(error("seed = 3") == "unexpected = 3");
  CATCH_CHECK(error("") == "expected a value at the end");
  CATCH_CHECK(error("1 in 2") == "2 stands after in; expected a list");
  for (const std::string open : {"(", "[", "-", "not ", "2**"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += open;
    CATCH_CHECK_THAT(error(text), Contains("nested too deeply") || Contains("too many signs"));
  }
  CATCH_CHECK(error_of([] { holds("1", {}); }) == "1 is 1; expected true or false");
}

}  // namespace
}  // namespace difflab::config
