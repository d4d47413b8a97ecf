#include "config/value/yaml.h"

#include <limits>

#include "config/support.h"

namespace difflab::config {
namespace {

using testing::error_of;

Value yaml(const std::string& text) { return parse_yaml(text, "x.yaml"); }
std::string parse_error(const std::string& text) {
  return error_of([&] { yaml(text); });
}

CATCH_TEST_CASE("plain scalars are typed as Hydra types them") {
  // Left: what OmegaConf 2.3 answers for `a: TEXT`.
  const auto is = [](const std::string& text, const Value& expected) {
    CATCH_INFO(text);
    CATCH_CHECK(*yaml("a: " + text).find("a") == expected);
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const auto* text : {"", "~", "null", "Null", "NULL"}) is(text, Value());
  for (const auto* text : {"true", "True", "TRUE"}) is(text, Value(true));
  for (const auto* text : {"1_000", "1000", "+1000", "0x3E8", "0b1111101000"})
    is(text, Value(1000));
  for (const auto* text : {"3e-3", "0.003", "3E-3", ".3e-2", "0.00_3"}) is(text, Value(0.003));
  is("1.", Value(1.0));
  is("1e3", Value(1000.0));
  is("-0", Value(0));
  is(".inf", Value(kInf));
  is("-.INF", Value(-kInf));
  is(".nan", Value(std::nan("")));
  for (const auto* text : {"y", "n", "nULL", "tRue", "08", "0o17", "1e", "+.5", ".5e3", "inf",
                           "nan", "0x", "_1", "2020-01-01", "'1'", "\"null\""}) {
    const std::string plain(text);
    is(text, Value(plain.find_first_of("'\"") == 0 ? plain.substr(1, plain.size() - 2) : plain));
  }
}

CATCH_TEST_CASE("??? may stand in brackets, and in quotes it is the same text") {
  const Value tree = yaml("a: {b: ???, c: [???,???], d: é ???}\ne: \"x ??? y\"\nf: '\?\?\?'\n");
  CATCH_CHECK(tree.find_path("a.b")->is_missing());
  CATCH_CHECK(tree.find_path("a.c[1]")->source.text() == "x.yaml:1:21");
  CATCH_CHECK(tree.find_path("a.d")->as_string() == "é ???");
  CATCH_CHECK(tree.find("e")->as_string() == "x ??? y");
  CATCH_CHECK(tree.find("f")->is_missing());
}

CATCH_TEST_CASE("words and numbers that YAML 1.1 surprises with stay text") {
  // Differences to Hydra, on purpose: there these are true, false, 15 and 630.
  for (const auto* text : {"yes", "No", "on", "OFF", "017", "10:30"}) {
    CATCH_CHECK(*yaml(std::string("a: ") + text).find("a") == Value(text));
  }
}

CATCH_TEST_CASE("every value knows its line and column, counted in characters") {
  const Value tree = yaml("# é\na:\n  - {ü: 1, b: 'ö'}\n  - x\n");
  CATCH_CHECK(tree.find_path("a")->source.text() == "x.yaml:3:3");
  CATCH_CHECK(tree.find_entry("a")->source.text() == "x.yaml:2:1");
  CATCH_CHECK(tree.find_path("a[0].ü")->source.text() == "x.yaml:3:9");
  CATCH_CHECK(tree.find_path("a[0].b")->source.text() == "x.yaml:3:15");
  CATCH_CHECK(tree.find_path("a[1]")->source.text() == "x.yaml:4:5");
}

CATCH_TEST_CASE("a duplicate key is refused with both places") {
  CATCH_CHECK(parse_error("train:\n  lr: 1\n  steps: 2\n  lr: 3\n") ==
              "x.yaml:4:3: key lr appears twice; it is already at x.yaml:2:3");
}

CATCH_TEST_CASE("malformed YAML is refused with its place") {
  CATCH_CHECK(parse_error("a: [1, 2\n") == "x.yaml:2:1: end of sequence flow not found");
  CATCH_CHECK(parse_error("a: b: c") == "x.yaml:1:5: illegal map value");
  CATCH_CHECK(parse_error("a: 1\n b: 2").find("x.yaml:2:") == 0);
  CATCH_CHECK(parse_error("a: *nothing").find("x.yaml:1:4: ") == 0);
  CATCH_CHECK(parse_error("a: &a [*a]") == "x.yaml:1:8: an alias refers to the value it stands in");
  CATCH_CHECK(parse_error("a: 1\n---\nb: 2") ==
              "x.yaml:2:1: a second document starts here; expected one per file");
  CATCH_CHECK(parse_error("a: !Thing 1").find("x.yaml:1:4: unknown tag !Thing") == 0);
  CATCH_CHECK(parse_error("[1]: 2") == "x.yaml:1:1: a key is a list or map; expected a name");
  CATCH_CHECK(parse_error("a: 99999999999999999999") ==
              "x.yaml:1:4: 99999999999999999999 does not fit into 64 bits");
}

// Left: with an open quote, right: where it opens.
CATCH_TEST_CASE("a quote that is not closed is refused where it opens") {
  const std::vector<std::pair<std::string, std::string>> documents{
      {"title: \"x\nsweep: {seed: range(8)}\n", "1:8"},
      {"name: 'mine\nwidth: 8", "1:7"},
      {"a: \"x", "1:4"},
      {"a: 'it''s", "1:4"},
      {"a: \"x\\\"\nb: 1\n", "1:4"},
      {"title: \"x\nfoo: \"bar\"\nz: 1\n", "1:8"},  // closed by the quote of another key
      {"title: \"x\nfoo: \"\nz: 1\n", "1:8"},
      {"title: 'x\nfoo: 1  # don't\nz: 1\n", "1:8"},
      {"train:\n  note: \"x\n  lr: 1  # \"fast\"\n", "2:9"},
      {"train:\n  note: \"x\ntask: \"y\"\n", "2:9"},
      {"tags:\n  - \"a\n  - b\"\n", "2:5"},
      {"tags:\n- a: 'x\n- b: 'y'\n", "2:6"},
      {"sweep: {model: [a, \"b], seed: 1}\ntitle: \"y\"\n", "1:20"},
      {"sweep: {\n  model: 'b,\n  seed: 1\n}\ntitle: 'y'\n", "2:10"},
      {"a: &x \"b\nc: \"d\"\n", "1:4"},
      {"a: !!str \"b\nc: 1\n", "1:4"},
      {"é: 'ü\nb: 1\n", "1:4"},
      {"\"name: x\nfoo: \"bar\"\n", "1:1"},  // of a key
      {"a: {b: \"x\nc: ???\n", "1:8"}};
  for (const auto& [text, place] : documents) {
    CATCH_INFO(text);
    CATCH_CHECK(parse_error(text).find("x.yaml:" + place + ": the quote that opens here") == 0);
    CATCH_CHECK(parse_error(text).find('\n') == std::string::npos);
  }
}

CATCH_TEST_CASE("a quoted text may have several lines") {
  // Right: what PyYAML 6.0 reads.
  const std::vector<std::pair<std::string, std::string>> documents{
      {"a: \"one\n  two: three\n  - four\"\nb: 1\n", "one two: three - four"},
      {"a:\n  'one\n  Note: two'\n", "one Note: two"},
      {"a: \"one\ntwo\"\n", "one two"},
      {"a: 'one\n\n  two''s'\n", "one\ntwo's"},
      {"a: \"one \\\n  two:\"\n", "one two:"},
      {"{a: 'one\n  b: two'}\n", "one b: two"},
      {"a: >\n  \"one\n  b: two\n", "\"one b: two\n"},
      {"a: x \"y\nb: 1\n", "x \"y"},
      {"a: it's  # \"\nb: 1\n", "it's"}};
  for (const auto& [text, expected] : documents) {
    CATCH_INFO(text);
    CATCH_CHECK(*yaml(text).find("a") == Value(expected));
  }
}

CATCH_TEST_CASE("a tab in the indentation is named") {
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"train:\n\tlr: 1\n", "2"},
           {"train:\n  a: 1\n\tlr: 1\n", "3"},
           {"\ttrain: 1\n", "1"},
           {"a:\n  - x\n\t- y\n", "3"},
           {"a:\n \tb: 1\n", "2"},
           {"presets:\n  smoke:\n\ttrain: {steps: 20}\n", "3"},
           {"a:\n  b: 1\n  \tc: 2\n", "3"}}) {
    CATCH_INFO(text);
    CATCH_CHECK(parse_error(text) ==
                "x.yaml:" + place + ":1: a tab indents this line; expected blanks");
  }
  CATCH_CHECK(*yaml("a: |\n  x\n  \ty\n").find("a") == Value("x\n\ty\n"));
  CATCH_CHECK(parse_error("a: b: c\n").find("illegal map value") != std::string::npos);
}

CATCH_TEST_CASE("bytes that are no text are refused with their place") {
  CATCH_CHECK(parse_error(std::string("a: 1\nb: \0x", 10)) ==
              "x.yaml:2:4: control character 0x00; expected text (in double quotes it can be "
              "written as an escape)");
  CATCH_CHECK(parse_error("a: é\xFF").find("x.yaml:1:5: the byte 0xFF is not UTF-8") == 0);
  CATCH_CHECK(parse_error("a: \xC0\x80").find("x.yaml:1:4: ") == 0);      // overlong
  CATCH_CHECK(parse_error("a: \xED\xA0\x80").find("x.yaml:1:4: ") == 0);  // surrogate
}

CATCH_TEST_CASE("byte order marks and Windows line ends change nothing") {
  CATCH_CHECK(yaml("\xEF\xBB\xBF"
                   "a: 1\r\nb:\r\n  - x\r\n") == yaml("a: 1\nb:\n  - x\n"));
  CATCH_CHECK(yaml("a: |\r\n  x\r\n  y\r\n").find("a")->as_string() == "x\ny\n");
}

CATCH_TEST_CASE("aliases and merge keys are expanded") {
  const Value tree = yaml("base: &b {x: 1, y: 2}\nsame: *b\nmore: {y: 3, <<: *b, z: 4}\n");
  CATCH_CHECK(*tree.find("same") == yaml("{x: 1, y: 2}"));
  CATCH_CHECK(*tree.find("more") == yaml("{x: 1, y: 3, z: 4}"));
  CATCH_CHECK(*yaml("{a: &a {k: 1}, b: &b {k: 2}, c: {<<: [*a, *b]}}").find("c") == yaml("{k: 1}"));
}

CATCH_TEST_CASE("the package header is read from the comments at the top") {
  const auto package = [](const std::string& text) { return parse_document(text, "x").package; };
  CATCH_CHECK(package("# @package _global_\na: 1") == "_global_");
  CATCH_CHECK(package("# a comment\n\n#@package  a.b \na: 1") == "a.b");
  CATCH_CHECK_FALSE(package("a: 1\n# @package _global_").has_value());
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string alias_bomb() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    text += repeat(", " + last, 9) + "]\n";
  }
  return text;
}

CATCH_TEST_CASE("hostile documents are refused") {
  std::string indented, many_keys;
  for (int i = 0; i < 1000; ++i) indented += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  for (int i = 0; i < 50'000; ++i) many_keys += "k" + std::to_string(i) + ": 1\n";
  const std::vector<std::pair<const char*, std::string>> documents{
      {"alias bomb", alias_bomb()},
      {"long aliased text",
       "a: &a " + std::string(1 << 19, 'x') + "\nb: [*a" + repeat(", *a", 1000) + "]"},
      {"brackets", std::string(1'000'000, '[')},
      {"braces", std::string(1'000'000, '{')},
      {"dashes", repeat("- ", 500'000)},
      {"questions", repeat("? ", 500'000)},
      {"indentation", indented},
      {"open quote", "a: '" + std::string(1'000'000, 'x')},
      {"empty lists", "[" + repeat("[],", 300'000) + "]"},
      {"nested aliases",
       [] {
         std::string text = "a0: &a0 " + repeat("[", 60) + repeat("]", 60);
         return text + "\na1: &a1 " + repeat("[", 60) + "*a0" + repeat("]", 60) + "\n";
       }()},
      {"nested anchors",
       [] {
         std::string text;
         for (int i = 0; i < 90; ++i) text += "&a" + std::to_string(i) + " [";
         return text + repeat("1,", 150'000) + repeat("]", 90);
       }()},
      {"many keys", many_keys},
      {"too large", std::string(2 << 20, '#')},
  };
  for (const auto& [name, text] : documents) {
    CATCH_INFO(name);
    CATCH_CHECK(parse_error(text) != "");
  }
}

CATCH_TEST_CASE("a written tree is laid out in blocks with short lists in one line") {
  CATCH_CHECK(to_yaml(yaml("{a: {b: [1, 2], c: 'x: y'}, d: [{e: 1, f: []}, {}], g: null}")) ==
              "a:\n  b: [1, 2]\n  c: 'x: y'\nd:\n  - e: 1\n    f: []\n  - {}\ng: null\n");
}

// Texts that a careless writer gets wrong.
const std::vector<std::string> kTexts{"",
                                      " ",
                                      "a",
                                      "a b",
                                      " a",
                                      "a ",
                                      "null",
                                      "~",
                                      "true",
                                      "yes",
                                      "n",
                                      "1",
                                      "1_0",
                                      "0x1",
                                      "1e3",
                                      ".5",
                                      ".inf",
                                      "-",
                                      "- a",
                                      "-a",
                                      "?",
                                      "? a",
                                      ":",
                                      "a: b",
                                      "a:",
                                      "a #b",
                                      "#a",
                                      "[",
                                      "]",
                                      "{a}",
                                      ",",
                                      "&a",
                                      "*a",
                                      "!a",
                                      "|",
                                      ">",
                                      "'",
                                      "''",
                                      "\"",
                                      "%",
                                      "@",
                                      "`",
                                      "a\nb",
                                      "\n",
                                      "a\n",
                                      "\t",
                                      "\x01",
                                      "\x7F",
                                      "\\",
                                      "\\n",
                                      "é",
                                      "日本",
                                      "\xEF\xBB\xBF",
                                      "\xC2\x85",
                                      "\xE2\x80\xA8",
                                      "<<",
                                      "=",
                                      "...",
                                      "---",
                                      "--- a",
                                      "${a.b}",
                                      "10:30",
                                      "017",
                                      "a'b\"c",
                                      "😀",
                                      "a,b",
                                      "x=y",
                                      "range(3)"};

CATCH_TEST_CASE("reading what was written gives the same tree") {
  std::uint64_t state = 1;
  const auto below = [&](std::uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  const std::function<Value(int)> random = [&](int depth) -> Value {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return Value();
      case 1:
        return Value(below(2) == 1);
      case 2:
        return Value(static_cast<std::int64_t>(below(1000)) - 500);
      case 3:
        return Value(std::ldexp(static_cast<double>(below(1u << 31)) - 1e9,
                                static_cast<int>(below(200)) - 100));
      case 4:
      case 5:
        return Value(kTexts[below(kTexts.size())]);
      case 6: {
        Value list = Value::list();
        for (std::uint64_t i = below(5); i > 0; --i) list.push_back(random(depth - 1));
        return list;
      }
      default: {
        Value map = Value::map();
        for (std::uint64_t i = below(5); i > 0; --i) {
          map.set(kTexts[below(kTexts.size())], random(depth - 1));
        }
        return map;
      }
    }
  };
  for (int i = 0; i < 5'000; ++i) {
    const Value tree = random(4);
    const std::string text = to_yaml(tree);
    CATCH_INFO(text);
    CATCH_REQUIRE(yaml(text) == tree);
  }
  Value long_key = Value::map();
  long_key.set(std::string(5000, 'k'), yaml("{a: [1, {b: 2}]}"));
  CATCH_CHECK(yaml(to_yaml(long_key)) == long_key);
}

CATCH_TEST_CASE("a file that cannot be read is named") {
  CATCH_CHECK(error_of([] { load_yaml("no/such.yaml"); }).find("no/such.yaml") !=
              std::string::npos);
  CATCH_CHECK(error_of([] { load_yaml("/"); }).find("cannot read /") == 0);
}

CATCH_TEST_CASE("paths inside the working directory are shown relative to it") {
  const auto here = std::filesystem::current_path();
  CATCH_CHECK(shown_path(here / "configs" / "x.yaml") == "configs/x.yaml");
  CATCH_CHECK(shown_path("./configs/../configs/x.yaml") == "configs/x.yaml");
  CATCH_CHECK(shown_path("/elsewhere/x.yaml") == "/elsewhere/x.yaml");
}

}  // namespace
}  // namespace difflab::config
