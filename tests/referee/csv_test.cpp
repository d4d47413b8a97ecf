#include "referee/base/csv.h"

#include "support/catch.h"

namespace difflab::referee {
namespace {

CATCH_TEST_CASE("CSV is read as RFC 4180 has it, and refused where it is torn") {
  const auto table = parse_csv("a,b\n\"1,5\",\"say \"\"x\"\"\nagain\"\n,2\n", "t.csv");
  CATCH_CHECK(table.columns == std::vector<std::string>{"a", "b"});
  CATCH_REQUIRE(table.rows.size() == 2);
  CATCH_CHECK(table.rows[0] == std::vector<std::string>{"1,5", "say \"x\"\nagain"});
  CATCH_CHECK(table.number(1, "b") == 2);
  CATCH_CHECK_FALSE(table.number(1, "a"));
  CATCH_CHECK_THROWS_WITH(parse_csv("a,b\n1\n", "t.csv"), Contains("t.csv:2: 1 cells; expected 2"));
  CATCH_CHECK_THROWS_WITH(parse_csv("a\n\"1\n", "t.csv"), Contains("a quote is not closed"));
  CATCH_CHECK(parse_csv("", "t.csv").rows.empty());
}

}  // namespace
}  // namespace difflab::referee
