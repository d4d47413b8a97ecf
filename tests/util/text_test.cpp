#include "util/text.h"

#include <limits>
#include <sstream>

#include "support/catch.h"
#include "util/hash.h"
#include "util/process.h"

namespace difflab {
namespace {

// What a stream makes of a value; the oracle of concat.
template <class T>
std::string streamed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

template <class T>
void check_as_streamed(const T& value) {
  CATCH_CHECK(concat(value) == streamed(value));
}

CATCH_TEST_CASE("concat writes every argument as a stream does") {
  for (const double value :
       {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 1e5, 123456.0, 1234567.0, 1e-5, 1e300,
        std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    check_as_streamed(value);
    check_as_streamed(static_cast<float>(value));
  }
  check_as_streamed(std::numeric_limits<std::int64_t>::min());
  check_as_streamed(std::numeric_limits<std::uint64_t>::max());
  check_as_streamed(-1);
  check_as_streamed(true);
  check_as_streamed('x');
  check_as_streamed("a text");
  check_as_streamed(std::string("with\0 inside", 12));
  enum Code { kSeven = 7 };
  check_as_streamed(kSeven);
}

CATCH_TEST_CASE("concat joins its arguments without anything between") {
  CATCH_CHECK(concat() == "");
  CATCH_CHECK(concat("T = ", 300, ", λ = ", 0.8, '.') == "T = 300, λ = 0.8.");
}

CATCH_TEST_CASE("a character of several bytes starts once") {
  int characters = 0;
  for (const char byte : std::string("aλ→😀")) characters += starts_character(byte);
  CATCH_CHECK(characters == 4);
}

CATCH_TEST_CASE("the nearest candidate within two edits is suggested, else all are listed") {
  CATCH_CHECK(suggestion("heds", {"heads", "layers"}) == "; did you mean heads?");
  CATCH_CHECK(suggestion("x", {"heads", "layers"}) == "; expected one of heads, layers");
  CATCH_CHECK(closest("stops", {"steps", "step"}) == "steps");
  CATCH_CHECK(closest("cat", {"bat", "hat"}) == "bat");  // of equals the first
  CATCH_CHECK_FALSE(closest("abc", {"abcdef"}));         // three letters too many
}

CATCH_TEST_CASE("base64 is that of RFC 4648") {
  CATCH_CHECK(base64("").empty());
  CATCH_CHECK(base64("f") == "Zg==");
  CATCH_CHECK(base64("fo") == "Zm8=");
  CATCH_CHECK(base64("foobar") == "Zm9vYmFy");
  CATCH_CHECK(base64(std::string_view("\0\xff", 2)) == "AP8=");
}

CATCH_TEST_CASE("join keeps empty words, and a shell reads a quoted word as it was") {
  CATCH_CHECK(join({"", "a", "", "b", ""}, "-") == "-a--b-");
  CATCH_CHECK(join({}, "-").empty());
  for (const std::string word : {"'x", "''", "a'b'", "$(id) `id` \"\\", "", "a\nb"}) {
    const auto printed = run_program({"/bin/sh", "-c", "printf '%s\\n' " + quoted_for_shell(word)});
    CATCH_CHECK(printed.output == word + "\n");
  }
}

}  // namespace
}  // namespace difflab
