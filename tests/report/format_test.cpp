#include "report/data/format.h"

#include <limits>

#include "support/catch.h"

namespace difflab::report {
namespace {

CATCH_TEST_CASE("numbers get thousands separators, a true minus and no negative zero") {
  CATCH_CHECK(format_number(1234567.891, 1) == "1,234,567.9");
  CATCH_CHECK(format_number(999, 0) == "999");
  CATCH_CHECK(format_number(1000, 0) == "1,000");
  CATCH_CHECK(format_number(-0.5, 2) == "−0.50");
  CATCH_CHECK(format_number(-0.5, 2, false) == "-0.50");
  CATCH_CHECK(format_number(-HUGE_VAL, 2, false) == "-inf");
  CATCH_CHECK(format_number(-0.0001, 2) == "0.00");
  CATCH_CHECK(format_number(1e300, 0).size() == 401);  // 301 digits and 100 commas
}

CATCH_TEST_CASE("a p is shown on its side of .05") {
  CATCH_CHECK(p_text(206.0 / 4096) == "0.0503");
  CATCH_CHECK(p_text(0.0500001) == "0.0500001");
  CATCH_CHECK(p_text(0.05) == "0.050");
  CATCH_CHECK(p_text(0.0496) == "0.050");
  CATCH_CHECK(p_text(0.123456) == "0.123");
  CATCH_CHECK(p_text(0.0001) == "< 0.001");
}

CATCH_TEST_CASE("plain numbers read back exactly and are empty for what is no number") {
  CATCH_CHECK(plain_number(0.1) == "0.1");
  CATCH_CHECK(plain_number(1600) == "1600");
  CATCH_CHECK(plain_number(std::numeric_limits<double>::quiet_NaN()).empty());
  CATCH_CHECK(plain_number(std::numeric_limits<double>::infinity()).empty());
}

CATCH_TEST_CASE("width counts terminal columns, not bytes") {
  CATCH_CHECK(display_width("DIFF") == 4);
  CATCH_CHECK(display_width("λ ± −") == 5);
  CATCH_CHECK(display_width("e\u0301") == 1);  // combining acute
  CATCH_CHECK(display_width("差分") == 4);
  CATCH_CHECK(pad_left("λ", 3) == "  λ");
  CATCH_CHECK(pad_right("λ", 3) == "λ  ");
  CATCH_CHECK(pad_right("long", 2) == "long");
}

CATCH_TEST_CASE("text is wrapped at spaces and later lines are indented") {
  CATCH_CHECK(wrap("one two three", 7) == "one two\nthree");
  CATCH_CHECK(wrap("one two three", 8, "  ") == "one two\n  three");
  CATCH_CHECK(wrap("unbreakable", 3) == "unbreakable");
  CATCH_CHECK(wrap("", 3).empty());
}

CATCH_TEST_CASE("each format escapes what it would take for markup") {
  CATCH_CHECK(escape_html("<b a=\"1\">&'") == "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
  CATCH_CHECK(escape_markdown("a|b*c_d`[x](y)<z>") == "a\\|b\\*c\\_d\\`\\[x\\](y)&lt;z>");
  CATCH_CHECK(escape_csv("plain") == "plain");
  CATCH_CHECK(escape_csv("a,\"b\"\n") == "\"a,\"\"b\"\"\n\"");
  CATCH_CHECK(escape_tex("50 % of a_b & {c} #1 $2 \\x ~ ^") ==
              "50 \\% of a\\_b \\& \\{c\\} \\#1 \\$2 \\textbackslash{}x \\textasciitilde{} "
              "\\textasciicircum{}");
}

CATCH_TEST_CASE("a dollar sign before a formula stays a dollar sign, and no line ends in LaTeX") {
  CATCH_CHECK(escape_tex("$<") == "\\$$<$");
  CATCH_CHECK(escape_tex("$α_x") == "\\$$\\alpha_{\\mathrm{x}}$");
  CATCH_CHECK(escape_tex("a\rb\fc\nd") == "a b c d");
}

CATCH_TEST_CASE("LaTeX gets Greek, signs and the subscript of λ_init as math") {
  CATCH_CHECK(escape_tex("DIFF, λ_init 0.8") == "DIFF, $\\lambda_{\\mathrm{init}}$ 0.8");
  CATCH_CHECK(escape_tex("0.3 ± 0.1") == "0.3 $\\pm$ 0.1");
  CATCH_CHECK(escape_tex("−0.5 to > 3 ↑") == "$-$0.5 to $>$ 3 $\\uparrow$");
}

CATCH_TEST_CASE("only an index after a Greek letter is a subscript") {
  CATCH_CHECK(subscripts_html("λ_init < x_y") == "λ<sub>init</sub> &lt; x_y");
  CATCH_CHECK(subscripts_html("λ_") == "λ_");
}

}  // namespace
}  // namespace difflab::report
