#include "config/override/override.h"

#include "config/support.h"

namespace difflab::config {
namespace {

using testing::error_of;

Json hydra_answers() {
  return Json::parse(read_file(DIFFLAB_ROOT "/tests/config/fixtures/hydra/parse.json"));
}

/// What differs from Hydra 1.3 on purpose; docs/configuration.md gives the reasons.
bool differs_on_purpose(const std::string& text) {
  static const std::vector<std::string> kTexts{
      "key=é",
      "key=日本",              // text beyond ASCII needs no quotes
      "key=shuffle([1,2,3])",  // a fixed order instead of a random one
  };
  return std::find(kTexts.begin(), kTexts.end(), text) != kTexts.end();
}

CATCH_TEST_CASE("overrides are parsed as Hydra parses them") {
  int compared = 0;
  for (const Json& answer : hydra_answers()) {
    const std::string text = answer["input"];
    if (differs_on_purpose(text)) continue;
    CATCH_INFO(text);
    ++compared;
    if (!answer["ok"].get<bool>()) {
      CATCH_CHECK(error_of([&] { parse_override(text); }) != "");
      continue;
    }
    Json expected = answer;
    expected.erase("input");
    expected.erase("ok");
    // range(1,2,0) is parsed, and refused when it is expanded; both are null here.
    Json found;
    CATCH_CHECK(error_of([&] { found = to_json(parse_override(text)); }) == "");
    CATCH_CHECK(found.dump() == expected.dump());
  }
  CATCH_CHECK(compared == 112);
}

CATCH_TEST_CASE("an override that cannot be parsed is shown with a caret under the column") {
  CATCH_CHECK(error_of([] { parse_override("a=[1,2"); }) ==
              "override 'a=[1,2': expected , or ] here\n"
              "  a=[1,2\n"
              "        ^");
  CATCH_CHECK(error_of([] { parse_override("ü=é#x"); }) ==
              "override 'ü=é#x': unexpected #; put the text in quotes\n"
              "  ü=é#x\n"
              "     ^");
  CATCH_CHECK(error_of([] { parse_override("lr=rnage(3)"); }) ==
              "override 'lr=rnage(3)': unknown function rnage; did you mean range? (a text with "
              "brackets needs quotes)\n"
              "  lr=rnage(3)\n"
              "     ^");
  CATCH_CHECK(error_of([] { parse_override("train.lr"); }).find("expected = and a value here") !=
              std::string::npos);
}

// From here on: answers of hydra-core 1.3.8 that are not among the fixtures.
Json value_of(const std::string& text) { return to_json(parse_override(text))["value"]; }

CATCH_TEST_CASE("several tokens in a row are one text") {
  for (const auto* text :
       {"1-2", "1.5.3", "01", "1_", "1__0", "- 1", "1 2", "null x", "++1", "."}) {
    CATCH_INFO(text);
    CATCH_CHECK(value_of(std::string("a=") + text) == Json(text));
  }
}

CATCH_TEST_CASE("quotes in quoted texts are escaped with a backslash") {
  CATCH_CHECK(value_of(R"(a='it\'s')")["quoted"] == R"(it's)");
  CATCH_CHECK(value_of(R"(a='x\\')")["quoted"] == R"(x\)");
  CATCH_CHECK(value_of(R"(a='x\\\\y')")["quoted"] == R"(x\\\\y)");
  CATCH_CHECK(value_of(R"(a="x'y")")["quoted"] == R"(x'y)");
}

CATCH_TEST_CASE("what an override is written as reads back as the same value") {
  for (const auto* text :
       {"x", "a b", R"(it's)", R"(\)", R"(x\\)", R"(a\'b)", R"(\\')", "'", "''"}) {
    CATCH_INFO(text);
    const std::string quoted = override_text({Quoted{text, '\''}});
    CATCH_CHECK(value_of("a=" + quoted)["quoted"] == text);
  }
}

CATCH_TEST_CASE("lists inside keys, and nested interpolations, go beyond Hydra 1.3") {
  CATCH_CHECK(parse_override("a[0].b=1").key == "a[0].b");
  CATCH_CHECK(value_of("a=${a.${b}}/x") == "${a.${b}}/x");
}

CATCH_TEST_CASE("a sorted range runs the other way") {
  CATCH_CHECK(value_of("a=sort(range(3,0,-1))")["range"] == Json::array({1, 4, 1}));
}

CATCH_TEST_CASE("wrong calls are refused with a reason") {
  const auto reason = [](const std::string& text) {
    const std::string error = error_of([&] { parse_override("a=" + text); });
    return error.substr(error.find("': ") + 3, error.find('\n') - error.find("': ") - 3);
  };
  CATCH_CHECK(reason("range(x)") == "start is not a number");
  CATCH_CHECK(reason("range(1,2,3,4)") == "range() takes at most 3 arguments: start, stop, step");
  CATCH_CHECK(reason("range(1,stpo=2)") == "range() has no argument stpo; did you mean stop?");
  CATCH_CHECK(reason("range(stop=3)") == "range() needs start");
  CATCH_CHECK(reason("choice()") == "choice() needs an argument");
  CATCH_CHECK(reason("choice(choice(choice(1)))") == "choice() cannot hold another sweep");
  CATCH_CHECK(reason("int(x)") == "'x' cannot become a whole number");
  for (const auto* text :
       {"interval(0,1)", "interval(1)", "tag(x,interval(0,1))", "[interval(0,1)]"}) {
    CATCH_CHECK(reason(text) ==
                "interval() gives a grid no values; write range(0,1,0.1) or 0.1,0.5");
  }
  for (const auto* text : {"[extend_list(1)]", "extend_list(1),2", "1,extend_list(2)",
                           "choice(extend_list(1))", "extend_list(a=1)"}) {
    CATCH_CHECK(reason(text) == "extend_list(a,b) takes values, and stands alone after KEY=");
  }
  CATCH_CHECK(reason("99999999999999999999") == "this number does not fit into 64 bits");
}

// Found by tests/system/hydra/random_overrides.py; expected are hydra-core 1.3.8's answers.
CATCH_TEST_CASE("a key is a path or a group, and these do not mix") {
  for (const auto* key :
       {"", "0.a", "1_0.x", "a.12.b", "$v.a$b", "a/x-y/_b", "a@", "@p", "a@p.0"}) {
    CATCH_INFO(key);
    CATCH_CHECK(error_of([&] { parse_override(std::string(key) + "=1"); }) == "");
  }
  for (const auto* key :
       {"0", "a.01", "$v.0__1", "a.1b", "a.b/c", "a/b.c", "$a/b", "a/b$", "a@b/c"}) {
    CATCH_INFO(key);
    CATCH_CHECK(error_of([&] { parse_override(std::string(key) + "=1"); }) != "");
  }
}

CATCH_TEST_CASE("a key that comes twice in a map keeps its place and takes the later value") {
  CATCH_CHECK(value_of("a={x:1,1:a,y:2,1.0:b,true:c}")["dict"].dump() ==
              R"([["x",1],[1,"c"],["y",2]])");
  CATCH_CHECK(value_of("a={nan:1,nan:2}")["dict"].size() == 2);
}

CATCH_TEST_CASE("casts read texts as Python does") {
  CATCH_CHECK(value_of("a=int(' 1_0 ')") == Json(10));
  CATCH_CHECK(value_of("a=int('007')") == Json(7));
  CATCH_CHECK(value_of("a=int('-5',+6)")["choice"] == Json::array({-5, 6}));
  CATCH_CHECK(value_of("a=float('007.5e0')")["float"] == Json(7.5));
  CATCH_CHECK(value_of("a=float('-Infinity')")["float"] == Json("-inf"));
  CATCH_CHECK(value_of("a=bool([null,{a:null}])").dump() == R"([false,{"dict":[["a",false]]}])");
  for (const auto* text : {"int('1__0')", "int('_1')", "int('+-1')", "int('')", "int(inf)",
                           "int(null)", "float('0x1')", "float('1e')", "float('nan(1)')",
                           "float('.')", "str(1,choice(2,3))", "bool(range(3))"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of([&] { parse_override(std::string("a=") + text); }) != "");
  }
}

CATCH_TEST_CASE("functions take null and named sweeps where Hydra does") {
  CATCH_CHECK(value_of("a=tag(x,sweep=choice(1,2))")["tags"] == Json::array({"x"}));
  CATCH_CHECK(value_of("a=range(3,null)")["range"] == Json::array({0, 3, 1}));
  CATCH_CHECK(value_of("a=glob(['x*',y],exclude=null)")["glob"]["include"] ==
              Json::array({"x*", "y"}));
  for (const auto* text :
       {"sort(null)", "shuffle(null,1)", "shuffle(range(2),1)", "shuffle(glob(a))", "sort(sweep=1)",
        "shuffle(list=1)", "tag(sweep=choice(1))", "glob(null)", "glob([{a:1}])"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of([&] { parse_override(std::string("a=") + text); }) != "");
  }
}

CATCH_TEST_CASE("hostile overrides are refused") {
  const auto refused = [](const std::string& text) {
    return error_of([&] { parse_override(text); }) != "";
  };
  CATCH_CHECK(refused(std::string("a=\0", 3)));
  CATCH_CHECK(refused("a=\xFF"));
  CATCH_CHECK(refused("a=" + std::string(100'000, '[')));
  CATCH_CHECK(refused("a=" + std::string(10'000, '(')));
  std::string open;
  for (int i = 0; i < 10'000; ++i) open += "${";
  CATCH_CHECK(refused("a=" + open));
}

}  // namespace
}  // namespace difflab::config
