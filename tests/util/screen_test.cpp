#include <limits>
#include <sstream>

#include "support/catch.h"
#include "util/terminal/terminal.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("a sparkline goes from the smallest value to the largest") {
  CATCH_CHECK(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8) == "▁▂▃▄▅▆▇█");
  CATCH_CHECK(sparkline({5, -5}, 10) == "█▁");
  CATCH_CHECK(sparkline({3, 3, 3}, 10) == "▁▁▁");
  CATCH_CHECK(sparkline({}, 10).empty());
  CATCH_CHECK(sparkline({1, 2}, 0).empty());
}

CATCH_TEST_CASE("a sparkline puts neighbours together and leaves out what is no number") {
  CATCH_CHECK(sparkline({0, 2, 8, 8, 6, 10}, 3) == "▁██");  // means 1, 8, 8
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CATCH_CHECK(sparkline({nan, 0, std::numeric_limits<double>::infinity(), 1}, 8) == "▁█");
  const std::vector<double> many(1000, 1.0);
  CATCH_CHECK(columns_of(sparkline(many, 17)) == 17);
}

CATCH_TEST_CASE("a text that is too long loses its middle, in characters") {
  CATCH_CHECK(shorten("model=diff seed=0", 17) == "model=diff seed=0");
  CATCH_CHECK(shorten("model=diff seed=0", 10) == "mode…eed=0");
  CATCH_CHECK(shorten("λμνξοπ", 4) == "λ…οπ");
  CATCH_CHECK(shorten("abcdef", 2) == "a…");
  CATCH_CHECK(shorten("abcdef", 1) == "…");
}

CATCH_TEST_CASE("what a terminal would obey becomes blanks") {
  CATCH_CHECK(printable("a\x1b[2J\tb\x7f\n") == "a [2J b  ");
  CATCH_CHECK(printable("λ\xC2\x9B"
                        "2Jµ") == "λ  2Jµ");
}

CATCH_TEST_CASE("a screen writes over itself and gives the page back") {
  std::ostringstream out;
  {
    Screen screen(out);
    screen.draw({"one", "a long line", "three"}, {.width = 8, .height = 2});
  }
  CATCH_CHECK(out.str() ==
              "\x1b[?1049h\x1b[?25l\x1b[H\x1b[J"
              "\x1b[Hone\x1b[K\r\na long…\x1b[K\x1b[J"
              "\x1b[?25h\x1b[?1049l");
}

}  // namespace
}  // namespace difflab
