#include "config/interpolate/interpolate.h"

#include "config/value/yaml.h"
#include "support/catch.h"

namespace difflab::config {
namespace {

struct Resolved {
  Value tree;
  std::string problems;
};

Resolved resolve(const std::string& text) {
  Resolved result{parse_yaml(text, "x.yaml"), ""};
  Problems problems;
  interpolate(result.tree, problems);
  result.problems = problems.text();
  return result;
}

/// The value of `a` beside a few others.
Value a_of(const std::string& yaml_text) {
  const Resolved resolved =
      resolve("a: " + yaml_text +
              "\nb: 5\nc: {d: D, e: '${.d}', f: '${..b}', g: {h: '${...b}', i: '${..d}'}}\n"
              "l: [p, q, '${.[0]}']\nf: true\nn: null\nfl: 1e-5\nk: d\nx-y: 3\n'dot.ted': {v: 1}\n"
              "dk: dot.ted\n'1': one\n");
  CATCH_CHECK(resolved.problems == "");
  return *resolved.tree.find("a");
}

CATCH_TEST_CASE("interpolations resolve as OmegaConf resolves them") {
  // Right: OmegaConf 2.3.1 for the same tree.
  const auto is = [](const std::string& text, const Value& expected) {
    CATCH_INFO(text);
    CATCH_CHECK(a_of("'" + text + "'") == expected);
  };
  is("${b}", Value(5));
  is("${ b }", Value(5));
  is("${.b}", Value(5));
  is("${c.d}", Value("D"));
  is("${c[d]}", Value("D"));
  is("${c.${k}}", Value("D"));
  is("${c.e}", Value("D"));
  is("${c.f}", Value(5));
  is("${c.g.h}", Value(5));
  is("${c.g.i}", Value("D"));
  is("${l[1]}", Value("q"));
  is("${l.0}x", Value("px"));
  is("${l[2]}", Value("p"));
  is("${x-y}", Value(3));
  is("${1}", Value("one"));
  is("${b}${b}", Value("55"));
  is("${b}}", Value("5}"));
  is("x{${b}", Value("x{5"));
  is("${f}-${n}-${fl}", Value("True-None-1e-05"));
  is("$b", Value("$b"));
  is("$ {b}", Value("$ {b}"));
  is(R"(\${b})", Value("${b}"));
  is(R"(x\${b}y)", Value("x${b}y"));
  is(R"(\\${b})", Value(R"(\5)"));
  is(R"(\\\${b})", Value(R"(\${b})"));
  is(R"(${b}\${b}\\)", Value(R"(5${b}\\)"));
  is(R"(a\b)", Value(R"(a\b)"));
  is("${oc.select:b}", Value(5));
  is("${oc.select:zz,7}", Value(7));
  is("${oc.select:zz}", Value());
  is("${oc.select:c.d}", Value("D"));
  is("${oc.select:\"c[d]\"}", Value("D"));
  is("${oc.select:\"l[1]\",7}", Value("q"));
  is("${oc.select:\"[${dk}].v\",7}", Value(1));
  is("${oc.select:\"[${dk}].w\",7}", Value(7));
  is("${oc.select:\"c[${dk}]\",7}", Value(7));
  is("${oc.select:${dk}.v,7}", Value(7));
  is("${oc.decode:\"[1,2]\"}", parse_yaml("[1, 2]", "y"));
  is("${oc.env:DIFFLAB_NOT_SET,3}", Value("3"));
  is("${oc.env:DIFFLAB_NOT_SET,null}", Value());
  is("${oc.env:DIFFLAB_NOT_SET,\"a b\"}", Value("a b"));
  is("${oc.env:DIFFLAB_NOT_SET, a b }", Value("a b"));
  is("${oc.env:DIFFLAB_NOT_SET,a:b}", Value("a:b"));
  is("${oc.env:DIFFLAB_NOT_SET,${b}}", Value("5"));
}

CATCH_TEST_CASE("resolvers of maps give what OmegaConf gives") {
  const auto is = [](const std::string& text, const std::string& expected) {
    CATCH_INFO(text);
    CATCH_CHECK(a_of("'" + text + "'") == parse_yaml(expected, "y"));
  };
  is("${oc.dict.keys:c}", "[d, e, f, g]");
  is("${oc.dict.values:c}", "[D, D, 5, {h: 5, i: D}]");
  is("${oc.dict.keys:\"c.g\"}", "[h, i]");
  is("${oc.dict.values:\"[${dk}]\"}", "[1]");
  is("${oc.dict.keys:.}", "[a, b, c, l, f, n, fl, k, x-y, dot.ted, dk, '1']");
  is("${oc.create:\"q: ${b}\"}", "{q: 5}");
  is("${oc.create:\"[1, {x: y}]\"}", "[1, {x: y}]");
  is("${oc.create:\"\"}", "{}");
  is("${oc.create:word}", "{word: null}");
  is("${oc.create:null}", "null");
  is("${oc.create:{x: 1, y: [1, ${b}], z: {}}}", "{x: 1, y: [1, 5], z: {}}");
  is("${oc.create:${c.g}}", "{h: 5, i: D}");
  is("${oc.select:zz,{x: 1}}", "{x: 1}");
  is("${oc.deprecated:c.g.h}", "5");
  is("${oc.deprecated:c.g,\"$OLD_KEY is $NEW_KEY\"}", "{h: 5, i: D}");
  is("${oc.deprecated:.l}", "[p, q, p]");
}

CATCH_TEST_CASE("resolvers of maps say what they cannot use") {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"${oc.dict.keys:b}", "a has ${oc.dict.keys:b} of 5; expected a map"},
           {"${oc.dict.keys:c}", "a has ${oc.dict.keys:c} of a list; expected a map"},
           {"${oc.dict.values:z}", "a refers to ${oc.dict.values:z}, but the configuration has no"},
           {"${oc.dict.keys:${c}}", "expected the path of a map"},
           {"${oc.dict.values:}", "expected the path of a map"},
           {"${oc.deprecated:z}", "a refers to ${oc.deprecated:z}, but the configuration has no"},
           {"${oc.deprecated:b,c,d}", "expected the path of the new key"},
           {"${oc.create:5}", "expected a list or a map, or YAML of one"},
           {"${oc.create:}", "expected a list, a map or one text of YAML"},
           {"${oc.create:\"a: [\"}", "a cannot be resolved: ${oc.create:"},
           {"${oc.create:{x}}", "has a map without a key: value"},
           {"${oc.create:{x: 1}", "has no closing }"}}) {
    CATCH_INFO(text);
    CATCH_CHECK_THAT(resolve("a: '" + text + "'\nb: 5\nc: [1]\n").problems, Contains(message));
  }
}

CATCH_TEST_CASE("keys with dots can be reached by a nested interpolation") {
  // OmegaConf splits dot.ted at its dot and fails.
  CATCH_CHECK(a_of("${${dk}.v}") == Value(1));
}

CATCH_TEST_CASE("an interpolation of a map copies it with its own references resolved") {
  CATCH_CHECK(a_of("${c}") == parse_yaml("{d: D, e: D, f: 5, g: {h: 5, i: D}}", "y"));
}

CATCH_TEST_CASE("environment variables are texts") {
  ::setenv("DIFFLAB_TEST_NUMBER", "12", 1);
  CATCH_CHECK(a_of("${oc.env:DIFFLAB_TEST_NUMBER}") == Value("12"));
  CATCH_CHECK(a_of("${oc.decode:${oc.env:DIFFLAB_TEST_NUMBER}}") == Value(12));
  ::unsetenv("DIFFLAB_TEST_NUMBER");
}

CATCH_TEST_CASE("a resolved value keeps the place it comes from") {
  const Resolved resolved = resolve("a: ${c}\nb: x${c}\nc: 5\n");
  CATCH_CHECK(resolved.tree.find("a")->source.text() == "x.yaml:3:4");
  CATCH_CHECK(resolved.tree.find("b")->source.text() == "x.yaml:2:4");
}

CATCH_TEST_CASE("what cannot be resolved is reported with its place and a suggestion") {
  CATCH_CHECK(resolve("a: {b: '${vars.lr.dif}'}\nvars: {lr: {diff: 1}}").problems ==
              "x.yaml:1:8: a.b refers to ${vars.lr.dif}, but vars.lr has no key dif; did you mean "
              "diff?");
  CATCH_CHECK(resolve("a: ${b.c}\nb: 5").problems ==
              "x.yaml:1:4: a refers to ${b.c}, but b is 5; expected a map");
  CATCH_CHECK(resolve("a: ${b[2]}\nb: [1]").problems ==
              "x.yaml:1:4: a refers to ${b[2]}, but b has 1 items");
  CATCH_CHECK(resolve("a: ${..b}").problems ==
              "x.yaml:1:4: a refers to ${..b}, but there are not that many maps around it");
  CATCH_CHECK(resolve("a: ${b}\nb: ???").problems ==
              "x.yaml:1:4: a refers to ${b}, which is ??? and must be given");
  CATCH_CHECK(resolve("a: x${b}\nb: [1]").problems ==
              "x.yaml:1:4: a has ${b} inside a text, but that is a list; expected a scalar");
  CATCH_CHECK(resolve("a: ${oc.env:DIFFLAB_NOT_SET}").problems ==
              "x.yaml:1:4: a needs the environment variable DIFFLAB_NOT_SET, which is not set; "
              "set it or give a default: ${oc.env:DIFFLAB_NOT_SET,DEFAULT}");
  CATCH_CHECK(resolve("a: ${oc.evn:X}").problems ==
              "x.yaml:1:4: a has ${oc.evn:X} with unknown resolver oc.evn; did you mean oc.env?");
  CATCH_CHECK(resolve("a: ${b").problems ==
              "x.yaml:1:4: a cannot be resolved: ${b has no closing }");
  CATCH_CHECK(resolve("a: ${b.${c}}\nb: {x: 1}\nc: [x]").problems ==
              "x.yaml:1:4: a has ${b.${c}}, where a key is a list; expected a name");
  CATCH_CHECK(resolve("a: ${oc.decode:${b}}\nb: true").problems ==
              "x.yaml:1:4: a decodes true; expected a text");
  CATCH_CHECK(resolve("a: ${}").problems.find("names no key") != std::string::npos);
  CATCH_CHECK(resolve("a: ${a b}").problems.find("cannot be understood") != std::string::npos);
}

CATCH_TEST_CASE("circles are reported once, with the way around") {
  CATCH_CHECK(resolve("a: ${b}\nb: ${c}\nc: ${a}").problems ==
              "x.yaml:3:4: c refers to itself: a -> b -> c -> a");
  CATCH_CHECK(resolve("a: ${a}").problems == "x.yaml:1:4: a refers to itself: a -> a");
  CATCH_CHECK(resolve("m: {x: '${m}'}").problems == "x.yaml:1:8: m.x refers to itself: m.x -> m.x");
}

CATCH_TEST_CASE("what depends on a broken value is not reported again") {
  CATCH_CHECK(resolve("a: ${b}\nb: ${nothing}\nc: ['${a}']").problems ==
              "x.yaml:2:4: b refers to ${nothing}, but the configuration has no key nothing; "
              "expected one of a, b, c");
}

CATCH_TEST_CASE("hostile interpolations are refused") {
  std::string copies = "a0: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", texts = "a0: xxxxxxxxxx\n";
  std::string chain = "a0: 1\n", open = "a: \"";
  for (int i = 1; i < 60; ++i) {
    const std::string last = "${a" + std::to_string(i - 1) + "}";
    const std::string key = "a" + std::to_string(i) + ": ";
    copies += key + "['" + last + "', '" + last + "', '" + last + "']\n";
    texts += key + last + last + last + "\n";
  }
  for (int i = 1; i < 4000; ++i) {
    chain += "a" + std::to_string(i) + ": ${a" + std::to_string(i - 1) + "}\n";
  }
  chain = "z: ${a3999}\n" + chain;
  for (int i = 0; i < 20'000; ++i) open += "${";
  std::string deep = "d0: 1\n", around = "a: ", key = "a: ${b";
  for (int i = 0; i < 90; ++i) around += "{x: ";
  for (int i = 1; i < 100; ++i) {
    deep += "d" + std::to_string(i) + around.substr(1) + "'${d" + std::to_string(i - 1) + "}'" +
            std::string(90, '}') + "\n";
  }
  std::string maps = "a: '${oc.create:";
  for (int i = 0; i < 20'000; ++i) {
    key += ".a";
    maps += "{a:";
  }
  for (const std::string& text :
       {copies, texts, chain, open + "\"", deep, key + "}", maps + "}'"}) {
    CATCH_CHECK(resolve(text).problems != "");
  }
}

}  // namespace
}  // namespace difflab::config
