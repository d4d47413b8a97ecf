#include "config/schema/reader.h"

#include "config/schema/writer.h"
#include "config/support.h"
#include "config/value/yaml.h"

namespace difflab::config {
namespace {

enum class Norm { kNone, kRms };

/// "all" or a number.
struct Depth {
  std::int64_t value = -1;
  static std::optional<Depth> from_value(const Value& tree) {
    if (tree.is_string() && tree.as_string() == "all") return Depth{};
    return tree.is_int() ? std::optional(Depth{tree.as_int()}) : std::nullopt;
  }
  Value to_value() const { return value < 0 ? Value("all") : Value(value); }
  static std::string expected() { return "all or a whole number"; }
};

struct Linear {
  static constexpr std::string_view kKind = "linear";
  double slope = 1.5;
  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("slope", slope, "steepness", between(0, 2));
  }
};

struct Needle {
  static constexpr std::string_view kKind = "needle";
  std::int64_t needles = 4;
  std::int64_t queries = 2;
  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("needles", needles, "how many", at_least(1));
    visit("queries", queries, "how many of them are asked", at_least(1));
  }
  void validate(Check& check) const {
    if (queries > needles) {
      check.problem("queries", concat("is ", queries, "; expected at most needles, ", needles));
    }
  }
};

struct Empty {
  template <class Visitor>
  void visit_fields(Visitor&) {}
};

struct Root {
  std::string name = "x";
  bool flag = true;
  std::optional<std::int64_t> heads;
  Norm norm = Norm::kRms;
  Depth depth;
  std::vector<double> betas{0.9, 0.95};
  std::variant<Linear, Needle> task;
  std::vector<std::variant<Linear, Needle>> list;
  Empty nothing;
  Value vars;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "a label");
    visit("flag", flag, "a switch");
    visit("heads", heads, "how many heads", at_least(1));
    visit("norm", norm, "which norm");
    visit("depth", depth, "how deep");
    visit("betas", betas, "two shares", between(0, 1));
    visit("task", task, "the task");
    visit("list", list, "many tasks");
    visit("nothing", nothing, "no keys");
    visit("vars", vars, "anything");
  }
};

}  // namespace

template <>
inline constexpr auto kNames<Norm> = names("none", "rms");

namespace {

Root read_root(const std::string& text) { return read<Root>(parse_yaml(text, "x.yaml")); }
std::string problems_of(const std::string& text) {
  return testing::error_of([&] { read_root(text); });
}

CATCH_TEST_CASE("absent keys keep the struct's defaults") {
  const Root root = read_root("{name: y, betas: []}");
  CATCH_CHECK(root.name == "y");
  CATCH_CHECK(root.betas.empty());
  CATCH_CHECK(root.norm == Norm::kRms);
  CATCH_CHECK(std::get<Linear>(root.task).slope == 1.5);
}

CATCH_TEST_CASE("every type of field is read") {
  const Root root = read_root(
      "{name: 20, flag: no, heads: 4, norm: none, depth: 3, betas: [1, 0.5], vars: {a: [1]},\n"
      " task: {kind: needle, needles: 1_0, queries: 1e1}, list: [linear, {kind: linear, slope: "
      "2}]}");
  CATCH_CHECK(root.name == "20");
  CATCH_CHECK_FALSE(root.flag);
  CATCH_CHECK(root.heads == 4);
  CATCH_CHECK(root.norm == Norm::kNone);
  CATCH_CHECK(root.depth.value == 3);
  CATCH_CHECK(root.betas == std::vector<double>{1, 0.5});
  CATCH_CHECK(std::get<Needle>(root.task).needles == 10);
  CATCH_CHECK(std::get<Needle>(root.task).queries == 10);
  CATCH_CHECK(std::get<Linear>(root.list.at(0)).slope == 1.5);
  CATCH_CHECK(std::get<Linear>(root.list.at(1)).slope == 2);
  CATCH_CHECK(root.vars.find_path("a[0]")->as_int() == 1);
}

CATCH_TEST_CASE("all problems come at once, each with its place") {
  CATCH_CHECK(problems_of("nmae: y\n"
                          "flag: 1\n"
                          "heads: 0\n"
                          "norm: rmss\n"
                          "depth: x\n"
                          "betas: [0.5, 2, x]\n"
                          "task: {kind: needel}\n"
                          "list: [{kind: linear, slop: 1}, 5, {}]\n") ==
              "x.yaml:2:7: flag is 1; expected true or false\n"
              "x.yaml:3:8: heads is 0; expected a whole number of at least 1\n"
              "x.yaml:4:7: norm is 'rmss'; did you mean rms?\n"
              "x.yaml:5:8: depth is 'x'; expected all or a whole number\n"
              "x.yaml:6:14: betas[1] is 2; expected a number from 0 to 1\n"
              "x.yaml:6:17: betas[2] is 'x'; expected a number from 0 to 1\n"
              "x.yaml:7:14: task.kind is 'needel'; did you mean needle?\n"
              "x.yaml:8:23: unknown key list[0].slop of linear; did you mean slope?\n"
              "x.yaml:8:33: list[1] is 5; expected a map with kind: linear | needle\n"
              "x.yaml:8:36: list[2] has no kind; expected kind: linear | needle\n"
              "x.yaml:1:1: unknown key nmae; did you mean name?");
}

CATCH_TEST_CASE("a value of another shape is named as what it is") {
  CATCH_CHECK(problems_of("name: [a]") == "x.yaml:1:7: name is a list; expected text");
  CATCH_CHECK(problems_of("name: null") == "x.yaml:1:7: name is null; expected text");
  CATCH_CHECK(problems_of("betas: 1") == "x.yaml:1:8: betas is 1; expected a list");
  CATCH_CHECK(problems_of("heads: 1.5") ==
              "x.yaml:1:8: heads is 1.5; expected a whole number of at least 1");
  CATCH_CHECK(problems_of("heads: {a: 1}") ==
              "x.yaml:1:8: heads is a map; expected a whole number of at least 1");
  CATCH_CHECK(problems_of("betas: [.nan]") ==
              "x.yaml:1:9: betas[0] is nan; expected a number from 0 to 1");
  CATCH_CHECK(problems_of("nothing: {a: 1}") ==
              "x.yaml:1:11: unknown key nothing.a; expected no keys here");
  CATCH_CHECK(problems_of("heads: ???") ==
              "x.yaml:1:8: heads is ???, which must be given: a whole number of at least 1");
  CATCH_CHECK(problems_of("[1]").find("x.yaml:1:1: the configuration is a list; expected a map") ==
              0);
}

CATCH_TEST_CASE("a rule across fields is reported at the key it names") {
  CATCH_CHECK(problems_of("task:\n  kind: needle\n  queries: 9") ==
              "x.yaml:3:12: task.queries is 9; expected at most needles, 4");
  // queries is a default here: the place is the struct.
  CATCH_CHECK(problems_of("task:\n  kind: needle\n  needles: 1") ==
              "x.yaml:2:3: task.queries is 2; expected at most needles, 1");
}

CATCH_TEST_CASE("rules across fields wait until the fields themselves are right") {
  CATCH_CHECK(problems_of("task: {kind: needle, queries: 9, needles: x}") ==
              "x.yaml:1:43: task.needles is 'x'; expected a whole number of at least 1");
}

CATCH_TEST_CASE(
    "a mistake that every run of a sweep shares is reported once, without consequences") {
  // The unreadable number of needles keeps its type's zero; the rule across fields must not speak.
  const Value tree = parse_yaml("needles: many\nqueries: 3\n", "x.yaml");
  Problems problems;
  for (int run = 0; run < 3; ++run) read<Needle>(tree, "task", problems);
  CATCH_CHECK(problems.text() ==
              "x.yaml:1:10: task.needles is 'many'; expected a whole number of at least 1");
}

CATCH_TEST_CASE("a written struct has every field, kind first, and reads back") {
  Root root = read_root("{task: {kind: needle, queries: 3}, list: [needle], heads: 2, norm: none}");
  const Value tree = write(root);
  CATCH_CHECK(tree.keys() == field_names<Root>());
  CATCH_CHECK(tree.find("task")->keys() == std::vector<std::string>{"kind", "needles", "queries"});
  CATCH_CHECK(write(read<Root>(parse_yaml(to_yaml(tree), "y.yaml"))) == tree);
}

CATCH_TEST_CASE("equal problems are reported once") {
  Problems problems;
  for (int i = 0; i < 3; ++i) read<Root>(parse_yaml("heads: 0", "x.yaml"), "", problems);
  CATCH_CHECK(problems.size() == 1);
}

}  // namespace
}  // namespace difflab::config
