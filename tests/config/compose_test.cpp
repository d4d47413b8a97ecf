#include "config/compose/compose.h"

#include "config/interpolate/interpolate.h"
#include "config/support.h"

namespace difflab::config {
namespace {

constexpr const char* kHydra = DIFFLAB_ROOT "/tests/config/fixtures/hydra";

/// config.yaml, composed with the overrides.
Value compose_in(const SearchPath& path, const std::vector<std::string>& overrides,
                 Problems& problems, const ComposeOptions& options = {}) {
  Library library(path);
  std::vector<Override> parsed;
  for (const std::string& text : overrides) parsed.push_back(parse_override(text));
  return compose(library, "config", parsed, problems, options).tree;
}

/// Keys under hydra. belong to Hydra itself.
bool is_about_hydra(const Json& overrides) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [](const Json& text) { return text.get<std::string>().starts_with("hydra"); });
}

CATCH_TEST_CASE("configs are composed and resolved as Hydra does") {
  int compared = 0;
  for (const Json& answer : Json::parse(read_file(std::string(kHydra) + "/compose.json"))) {
    if (is_about_hydra(answer["overrides"])) continue;
    CATCH_INFO(answer["overrides"].dump());
    ++compared;
    Problems problems;
    Value found = compose_in({{std::string(kHydra) + "/conf"}, {}}, answer["overrides"], problems);
    CATCH_INFO(problems.text());
    CATCH_CHECK(problems.empty() == answer["ok"].get<bool>());
    if (!answer["ok"].get<bool>()) continue;
    CATCH_CHECK(to_json(found).dump() == answer["config"].dump());
    interpolate(found, problems);
    CATCH_CHECK(problems.empty() == answer.contains("resolved"));
    if (answer.contains("resolved")) {
      CATCH_CHECK(to_json(found).dump() == answer["resolved"].dump());
    }
  }
  CATCH_CHECK(compared == 50);
}

using testing::Folder;
using Files = std::vector<std::pair<std::string, std::string>>;

/// The composed tree as JSON, or the problems.
std::string compose_text(const std::vector<std::string>& overrides = {}, bool strict = true) {
  Problems problems;
  const Value tree = compose_in({{"configs", "more"}, {{"experiment", "experiments"}}}, overrides,
                                problems, {.strict = strict});
  return problems.empty() ? to_json(tree).dump() : problems.text();
}

// Expected trees here are hydra-core 1.3.8's answers to the same files.
CATCH_TEST_CASE("options are looked up relative to their group, or from the root with a slash") {
  const Folder folder({{"configs/config.yaml", "defaults: [db: pg, _self_]\na: 1\n"},
                       {"configs/db/pg.yaml", "defaults: [base, engine: x, /log: l]\np: 1\n"},
                       {"configs/db/base.yaml", "b: 1\n"},
                       {"configs/db/engine/x.yaml", "e: 1\n"},
                       {"configs/log/l.yaml", "l: 1\n"}});
  CATCH_CHECK(compose_text() == R"({"db":{"b":1,"engine":{"e":1},"log":{"l":1},"p":1},"a":1})");
}

// Right: hydra-core 1.3.8's answers to the same files, but for what refuses.
CATCH_TEST_CASE("an option has the same name with .yaml behind it") {
  const Folder folder({{"configs/config.yaml",
                        "defaults: [base.yaml, g: a.yaml, h: [a.yaml, b], g@z: '${i}.yaml', i: a, "
                        "_self_, override i: b.yaml]\n"},
                       {"configs/base.yaml", "base: 1\n"},
                       {"configs/g/a.yaml", "g: a\n"},
                       {"configs/g/b.yaml", "g: b\n"},
                       {"configs/h/a.yaml", "h: a\n"},
                       {"configs/h/b.yaml", "k: b\n"},
                       {"configs/i/a.yaml", "i: a\n"},
                       {"configs/i/b.yaml", "i: b\n"}});
  const std::string rest = R"("h":{"h":"a","k":"b"},"z":{"g":"b"},"i":{"i":"b"}})";
  CATCH_CHECK(compose_text() == R"({"base":1,"g":{"g":"a"},)" + rest);
  CATCH_CHECK(compose_text({"g=b.yaml"}) == R"({"base":1,"g":{"g":"b"},)" + rest);
  CATCH_CHECK(compose_text({"~g=a.yaml"}) == R"({"base":1,)" + rest);
  CATCH_CHECK(compose_text({"~g=a", "h=[b.yaml]", "+g@p=a.yaml"}) ==
              R"({"base":1,"h":{"k":"b"},"z":{"g":"b"},"i":{"i":"b"},"p":{"g":"a"}})");
}

CATCH_TEST_CASE("a file that ends in .yml is named, wherever it is asked for") {
  const Folder folder({{"configs/config.yaml", "defaults: [g: a, optional g@h: a]\n"},
                       {"configs/g/a.yml", "g: a\n"},
                       {"configs/g/b.yaml", "g: b\n"},
                       {"experiments/e.yml", "x: 1\n"}});
  const std::string problem = "configs/g/a.yml: is not read; expected the name configs/g/a.yaml";
  CATCH_CHECK(compose_text() == problem);
  CATCH_CHECK(compose_text({"g=b"}) == problem);
  CATCH_CHECK_THAT(compose_text({"+experiment=e"}), Contains("experiments/e.yml: is not"));
}

CATCH_TEST_CASE("a path may lead up, if the file has a package") {
  const auto composed = [](const std::string& item, const std::string& base) {
    const Folder folder({{"configs/config.yaml", "defaults: [m/sub: a]\n"},
                         {"configs/m/sub/a.yaml", concat("defaults: [", item, "]\nk: 1\n")},
                         {"configs/m/opt/z.yaml", "z: 1\n"},
                         {"configs/m/base.yaml", base}});
    return compose_text();
  };
  CATCH_CHECK(composed("../base@_here_", "b: 1\n") == R"({"m":{"sub":{"b":1,"k":1}}})");
  CATCH_CHECK(composed("../base", "# @package _global_\nb: 1\n") ==
              R"({"b":1,"m":{"sub":{"k":1}}})");
  CATCH_CHECK(composed("../base", "# @package __global__\ndefaults: [/m/opt@o: z]\nb: 1\n") ==
              R"({"o":{"z":1},"b":1,"m":{"sub":{"k":1}}})");
  CATCH_CHECK(composed("../opt@_global_.p: z", "") == R"({"p":{"z":1},"m":{"sub":{"k":1}}})");
  CATCH_CHECK(composed("/m/opt@_global_.p: ../opt/z", "") ==
              R"({"p":{"z":1},"m":{"sub":{"k":1}}})");
  CATCH_CHECK(composed("../base", "b: 1\n") ==
              "configs/m/sub/a.yaml:1:12: ../base gives its keys no name to lie under; expected "
              "../base@_here_, or `# @package` in m/base");
  CATCH_CHECK_THAT(composed("./../sub/a", ""), Contains("lead back to it"));
  CATCH_CHECK_THAT(composed("../../../secret@_here_", ""), Contains("there is no config"));
}

CATCH_TEST_CASE("a file under a key may hold a list") {
  const auto composed = [](const std::string& item, const std::vector<std::string>& overrides) {
    const Folder folder({{"configs/config.yaml", concat("defaults: [", item, "]\nx: 1\n")},
                         {"configs/g/a.yaml", "- 1\n- {y: 2}\n"},
                         {"configs/g/b.yaml", "# @package p\n- 3\n"},
                         {"configs/g/c.yaml", "text\n"}});
    return compose_text(overrides);
  };
  CATCH_CHECK(composed("g: a", {}) == R"({"g":[1,{"y":2}],"x":1})");
  CATCH_CHECK(composed("g@a.b: a", {"a.b.0=5"}) == R"({"a":{"b":[5,{"y":2}]},"x":1})");
  CATCH_CHECK(composed("g: b", {"p=extend_list(4,[5])"}) == R"({"p":[3,4,[5]],"x":1})");
  CATCH_CHECK(composed("g: a, g@g: [b]", {}) == R"({"g":[3],"x":1})");
  CATCH_CHECK(composed("g@_global_: a", {}) ==
              "configs/g/a.yaml:1:1: the file holds a list; expected a map of keys");
  CATCH_CHECK_THAT(composed("g: c", {}), Contains("the file holds 'text'"));
}

CATCH_TEST_CASE("extend_list adds to a list that is there") {
  const Folder folder(
      {{"configs/config.yaml", "defaults: [g: a]\nl: [a]\ne: []\nn: null\nr: ${l}\n"},
       {"configs/g/a.yaml", "x: 1\n"}});
  const auto list_of = [](const std::string& override) {
    return Json::parse(compose_text({override}))["l"].dump();
  };
  CATCH_CHECK(list_of("l=extend_list(b,2,[c],{d: 1})") == R"(["a","b",2,["c"],{"d":1}])");
  CATCH_CHECK(list_of("l=extend_list()") == R"(["a"])");
  CATCH_CHECK(list_of("++l=extend_list('b,c')") == R"(["a","b,c"])");
  CATCH_CHECK(Json::parse(compose_text({"e=extend_list(1)", "e=extend_list(2)"}))["e"].dump() ==
              "[1,2]");
  for (const auto* key : {"n", "r", "g.x"}) {
    CATCH_CHECK_THAT(compose_text({concat(key, "=extend_list(1)")}),
                     Contains("extend_list() needs a list"));
  }
  CATCH_CHECK_THAT(compose_text({"g=extend_list(b)"}), Contains("expected all of them"));
  CATCH_CHECK_THAT(compose_text({"l=extend_list(range(3))"}), Contains("has a sweep inside"));
}

CATCH_TEST_CASE("choices of Hydra itself are passed over in a tree that was written for it") {
  const auto composed = [](const std::string& hydra, bool foreign) {
    const Folder folder({{"configs/config.yaml", "defaults: [hydra: d.yaml, _self_]\nx: 1\n"},
                         {"configs/hydra/d.yaml", concat("defaults: [", hydra, "]\nk: 1\n")}});
    Problems problems;
    const auto tree = compose_in({{"configs"}, {}}, {}, problems, {.foreign = foreign});
    return problems.empty() ? to_json(tree).dump() : problems.text();
  };
  for (const auto* item :
       {"override hydra_logging: colorlog", "override job_logging: colorlog.yaml",
        "override /hydra/launcher: joblib", "override hydra_logging: null",
        "job_logging: disabled"}) {
    CATCH_INFO(item);
    CATCH_CHECK(composed(item, true) == R"({"hydra":{"k":1},"x":1})");
    CATCH_CHECK_THAT(composed(item, false), Contains("there is no hydra to configure: launcher=…"));
  }
}

CATCH_TEST_CASE("a key or package of very many names is refused, and takes no time") {
  std::string deep = "a", brackets = "a";
  for (int i = 0; i < 20'000; ++i) {
    deep += ".a";
    brackets += "[0]";
  }
  const Folder folder({{"configs/config.yaml", "defaults: [g: a]\na: {a: [1]}\n"},
                       {"configs/g/a.yaml", "x: 1\n"},
                       {"configs/g/b.yaml", concat("# @package ", deep, "\nx: 1\n")}});
  for (const auto& text : {deep + "=1", "+" + deep + "=1", "++b." + deep + "=1", "~" + deep,
                           brackets + "=1", "++" + brackets + "=1"}) {
    for (const bool strict : {true, false}) {
      CATCH_CHECK_THAT(compose_text({text}, strict), Contains("a key has at most 100 names"));
    }
  }
  for (const auto& text : {std::string("g=b"), "+g@" + deep + "=a"}) {
    CATCH_CHECK_THAT(compose_text({text}), Contains("has more than 100 names"));
  }
}

CATCH_TEST_CASE("packages place content elsewhere") {
  const Folder folder({{"configs/config.yaml",
                        "defaults: [g: a, g@x.y: b, g@_global_: c, h: header, h@z: header]\n"},
                       {"configs/g/a.yaml", "# @package _group_\na: 1\n"},
                       {"configs/g/b.yaml", "b: 1\n"},
                       {"configs/g/c.yaml", "c: 1\n"},
                       {"configs/h/header.yaml", "# @package p.q\nd: 1\n"}});
  CATCH_CHECK(compose_text() ==
              R"({"g":{"a":1},"x":{"y":{"b":1}},"c":1,"p":{"q":{"d":1}},"z":{"d":1}})");
}

CATCH_TEST_CASE("one place is chosen once") {
  const Folder folder({{"configs/config.yaml", "defaults: [g: a, g@_here_: b, g@_global_: c]\n"},
                       {"configs/g/a.yaml", "a: 1\n"},
                       {"configs/g/b.yaml", "b: 1\n"},
                       {"configs/g/c.yaml", "c: 1\n"}});
  CATCH_CHECK(compose_text() ==
              "configs/config.yaml:1:28: g@_global_ is chosen twice, as c and as b; to change a "
              "choice write `override g@_global_: c`");
}

CATCH_TEST_CASE("a list picks several options, null none, optional may be absent") {
  const Folder folder({{"configs/config.yaml",
                        "defaults: [g: [a, b], n: null, optional o: nothing, g@z: '${h}', h: b]\n"},
                       {"configs/g/a.yaml", "x: 1\ny: 1\n"},
                       {"configs/g/b.yaml", "y: 2\n"},
                       {"configs/h/b.yaml", "z: 1\n"},
                       {"configs/n/a.yaml", "x: 1\n"},
                       {"configs/o/a.yaml", "x: 1\n"}});
  CATCH_CHECK(compose_text() == R"({"g":{"x":1,"y":2},"z":{"y":2},"h":{"z":1}})");
  CATCH_CHECK(compose_text({"n=a", "o=a"}) ==
              R"({"g":{"x":1,"y":2},"n":{"x":1},"o":{"x":1},"z":{"y":2},"h":{"z":1}})");
}

CATCH_TEST_CASE("the first folder of the search path that has a file wins") {
  const Folder folder({{"configs/config.yaml", "defaults: [g: a, g@h: b]\n"},
                       {"configs/g/a.yaml", "x: 1\n"},
                       {"more/g/a.yaml", "x: 2\n"},
                       {"more/g/b.yaml", "x: 3\n"},
                       {"experiments/e.yaml", "# @package _global_\ny: 1\n"}});
  CATCH_CHECK(compose_text() == R"({"g":{"x":1},"h":{"x":3}})");
  CATCH_CHECK(compose_text({"+experiment=e"}) == R"({"g":{"x":1},"h":{"x":3},"y":1})");
}

CATCH_TEST_CASE("??? never replaces a value and must be replaced itself") {
  const Folder folder({{"configs/config.yaml", "defaults: [g: a, _self_]\ng: {x: ???, y: ???}\n"},
                       {"configs/g/a.yaml", "x: 1\n"}});
  CATCH_CHECK(compose_text({"g.y=2"}) == R"({"g":{"x":1,"y":2}})");
}

CATCH_TEST_CASE("what is wrong with a defaults list is named with its place") {
  const auto problem = [](const std::string& defaults, const std::vector<std::string>& overrides) {
    const Folder folder({{"configs/config.yaml", "defaults: " + defaults + "\nx: 1\n"},
                         {"configs/g/apple.yaml", "x: 1\n"},
                         {"configs/g/loop.yaml", "defaults: [loop]\n"}});
    return compose_text(overrides);
  };
  CATCH_CHECK(problem("[g: appel]", {}) ==
              "configs/config.yaml:1:15: config group g has no option appel; did you mean apple?");
  CATCH_CHECK(problem("[g: ???]", {}) ==
              "configs/config.yaml:1:15: a choice is needed: g=apple | loop");
  CATCH_CHECK(problem("[f: a]", {}) == "configs/config.yaml:1:15: there is no config group f");
  CATCH_CHECK(problem("[confg]", {}) ==
              "configs/config.yaml:1:12: there is no config confg; did you mean config?");
  CATCH_CHECK(problem("{g: a}", {}) ==
              "configs/config.yaml:1:11: defaults is a map; expected a list");
  CATCH_CHECK(
      problem("[override g: apple]", {}) ==
      "configs/config.yaml:1:24: cannot override g: nothing in the defaults list chooses it");
  CATCH_CHECK(problem("[override g: apple, g: apple]", {}) ==
              "configs/config.yaml:1:34: `override g` stands before this item; overrides come last "
              "in a defaults list");
  CATCH_CHECK(problem("[g: loop]", {}) ==
              "configs/g/loop.yaml:1:12: the defaults of g/loop lead back to it: g/loop -> g/loop");
  CATCH_CHECK(problem("[g: ../../g/apple]", {}).find("has no option apple") != std::string::npos);
  CATCH_CHECK(
      problem("[_self_]", {"g=apple"}) ==
      "override g=apple: cannot override g: nothing in the defaults list chooses it; to add "
      "it write +g=apple");
  CATCH_CHECK(
      problem("[g: apple]", {"g@p=apple"}) ==
      "override g@p=apple: cannot override g@p: nothing in the defaults list chooses it; did "
      "you mean g?");
  CATCH_CHECK(problem("[g: apple]", {"g={a:1}"}) ==
              "override g={a:1}: there is no key g.a; did you mean x?; to add it write +g={a:1}");
}

CATCH_TEST_CASE("overrides that do not fit the tree are refused with a hint") {
  const Folder folder(Files{{"configs/config.yaml", "train: {lr: 1}\nseed: 0\ntags: [a, b]\n"}});
  CATCH_CHECK(compose_text({"train.rl=2"}) ==
              "override train.rl=2: there is no key train.rl; did you mean lr?; to add it write "
              "+train.rl=2");
  CATCH_CHECK(compose_text({"+seed=2"}) ==
              "override +seed=2: seed is already 0; to change it write seed=2, to add or change it "
              "++seed=2");
  CATCH_CHECK(compose_text({"seed.x=2"}) == "override seed.x=2: seed is 0, so it has no x");
  CATCH_CHECK(compose_text({"tags.2=c"}) ==
              "override tags.2=c: tags.2 does not exist: the list has 2 items");
  CATCH_CHECK(compose_text({"~seed=1"}) ==
              "override ~seed=1: seed is 0, not 1, so it is not deleted");
  CATCH_CHECK(compose_text({"seed=1,2"}) ==
              "override seed=1,2: seed is given a sweep where one value is expected; for a list "
              "write [a,b], for a text quote it");
  CATCH_CHECK(
      compose_text({"train={lr: range(2)}"}) ==
      "override train={lr: range(2)}: train has a sweep inside [ ] or { }; put the sweep in "
      "quotes to pass it on as a text, or give it to its key: train.KEY=…");
  CATCH_CHECK(compose_text({"a/b=c"}) == "override a/b=c: there is no config group a/b");
  CATCH_CHECK(compose_text({"train.rl=2", "tags[0]=z", "~seed"}, /*strict=*/false) ==
              R"({"train":{"lr":1,"rl":2},"tags":["z","b"]})");
}

CATCH_TEST_CASE("keys inside a map that is given at once must be there, however deep") {
  const Folder folder(Files{{"configs/config.yaml", "train: {adam: {beta: 1}, lr: 1}\n"}});
  CATCH_CHECK(compose_text({"train={adam:{beta:2}}"}) == R"({"train":{"adam":{"beta":2},"lr":1}})");
  CATCH_CHECK_THAT(compose_text({"train={adam:{bet:2}}"}),
                   Contains("there is no key train.adam.bet; did you mean beta?"));
}

CATCH_TEST_CASE("options that look like numbers are chosen, listed and deleted by their names") {
  const testing::Folder folder({{"configs/config.yaml", "defaults:\n  - model: 2\n  - more: [1]\n"},
                                {"configs/model/2.yaml", "two: true\n"},
                                {"configs/model/3.yaml", "three: true\n"},
                                {"configs/more/1.yaml", "one: true\n"}});
  CATCH_CHECK(compose_text() == R"({"model":{"two":true},"more":{"one":true}})");
  CATCH_CHECK(compose_text({"model=3"}) == R"({"model":{"three":true},"more":{"one":true}})");
  CATCH_CHECK(compose_text({"model=[3]"}) == R"({"model":{"three":true},"more":{"one":true}})");
  CATCH_CHECK(compose_text({"~model=2"}) == R"({"more":{"one":true}})");
}

}  // namespace
}  // namespace difflab::config
