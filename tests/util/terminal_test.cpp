#include "util/terminal/terminal.h"

#include <sstream>

#include "support/catch.h"
#include "util/terminal/streams.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("durations show two units and round the rest") {
  CATCH_CHECK(format_duration(0.4) == "0s");
  CATCH_CHECK(format_duration(59.4) == "59s");
  CATCH_CHECK(format_duration(59.6) == "1m 00s");
  CATCH_CHECK(format_duration(185) == "3m 05s");
  CATCH_CHECK(format_duration(3599.6) == "1h 00m");
  CATCH_CHECK(format_duration(7829) == "2h 10m");
  CATCH_CHECK(format_duration(7831) == "2h 11m");
  CATCH_CHECK(format_duration(-3) == "0s");
  CATCH_CHECK(format_duration(1.0 / 0.0) == "?");
}

CATCH_TEST_CASE("counts keep two or three digits and a unit") {
  CATCH_CHECK(format_count(0) == "0");
  CATCH_CHECK(format_count(3.14) == "3.1");
  CATCH_CHECK(format_count(7) == "7");
  CATCH_CHECK(format_count(950) == "950");
  CATCH_CHECK(format_count(999.7) == "1.0k");
  CATCH_CHECK(format_count(12'345) == "12k");
  CATCH_CHECK(format_count(3'400'000) == "3.4M");
}

CATCH_TEST_CASE("a text is cut at characters, not at bytes") {
  CATCH_CHECK(fit_to_width("λ·λ", 3) == "λ·λ");
  CATCH_CHECK(fit_to_width("λ·λ·", 3) == "λ·…");
  CATCH_CHECK(fit_to_width("abcdef", 4) == "abc…");
}

CATCH_TEST_CASE("a status line is rewritten in place, below the lines that stay") {
  std::ostringstream out;
  {
    StatusLine line(out, 12);
    line.show("1 of 2");
    line.show("1 of 2");
    line.print_above("ended");
    line.show("2 of 2 and more");
  }
  CATCH_CHECK(out.str() ==
              "\r\x1b[K1 of 2"
              "\r\x1b[Kended\n1 of 2"
              "\r\x1b[K2 of 2 and…"
              "\r\x1b[K");
}

CATCH_TEST_CASE("what is let through to a terminal obeys nobody but those who draw on it") {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"plain λ_init — 1.2 ×\n\tnext", "plain λ_init — 1.2 ×\n\tnext"},
           {"\x1b]0;title\a\x1b[2J", " ]0;title  [2J"},
           {"a\rb\x7f\b\x0e", "a b   "},
           {"\xC2\x9B"
            "31m \xC2\xB1",
            " 31m ±"},
           {"\xC2\xC2\x9B", "\xC2 "}}) {
    std::ostringstream screen;
    CleanBuffer clean(*screen.rdbuf());
    std::ostream whole(&clean);
    whole << text << std::flush;
    CATCH_CHECK(screen.str() == shown);
    screen.str("");
    for (const char byte : text) whole.put(byte);
    CATCH_CHECK(screen.str() == shown);
    screen.str("");
    write_raw(whole, text);
    CATCH_CHECK(screen.str() == text);
  }
}

}  // namespace
}  // namespace difflab
