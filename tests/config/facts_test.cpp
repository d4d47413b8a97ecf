#include <ctime>

#include "config/grid/study.h"
#include "config/interpolate/interpolate.h"
#include "config/support.h"
#include "config/value/yaml.h"

namespace difflab::config {
namespace {

using testing::Folder;

constexpr std::time_t kStart = 1'000'000'000;  // 2001-09-09 01:46:40 UTC

/// What `a: TEXT` resolves to as JSON, or the problem.
std::string a_of(const std::string& text, const Facts& facts) {
  Value tree = parse_yaml("a: '" + text + "'\nb: 3\nc: {d: 4}\n", "x.yaml");
  Problems problems;
  interpolate(tree, problems, facts);
  return problems.empty() ? to_json(*tree.find("a")).dump() : problems.text();
}

CATCH_TEST_CASE("now is the time of the start in any pattern") {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const Facts facts{.start = kStart, .job_name = {}, .job_num = {}, .choices = {}};
  CATCH_CHECK(a_of("${now:%Y-%m-%d_%H-%M-%S}", facts) == "\"2001-09-09_01-46-40\"");
  CATCH_CHECK(a_of("on ${now:%d.%m.}", facts) == "\"on 09.09.\"");
  CATCH_CHECK(a_of("${now:\"\"}", facts) == "\"\"");
  CATCH_CHECK(
      a_of("${now:%Y}", {}) ==
      "x.yaml:1:4: a cannot be resolved: ${now:…} is only available once a sweep has started");
  CATCH_CHECK(a_of("${now:}", facts).find("expected one pattern") != std::string::npos);
}

CATCH_TEST_CASE("hydra: knows the run, the experiment, the choices and the folder") {
  const Facts facts{.start = {},
                    .job_name = "headline",
                    .job_num = 7,
                    .choices = {{"model", "diff"}, {"db/deep@p", "x"}}};
  CATCH_CHECK(a_of("${hydra:job.num}", facts) == "7");
  CATCH_CHECK(a_of("${hydra:job.name}/${hydra:job.num}", facts) == "\"headline/7\"");
  CATCH_CHECK(a_of("${hydra:runtime.choices.model}", facts) == "\"diff\"");
  CATCH_CHECK(a_of("${hydra:runtime.choices.db/deep@p}", facts) == "\"x\"");
  CATCH_CHECK(a_of("${hydra:runtime.choices}", facts) == R"({"db/deep@p":"x","model":"diff"})");
  CATCH_CHECK(a_of("${hydra:runtime.cwd}", facts) ==
              Json(std::filesystem::current_path().string()).dump());
}

CATCH_TEST_CASE("keys of hydra: that mean nothing here are refused with what to use instead") {
  const auto problem = [](const std::string& key) { return a_of("${hydra:" + key + "}", {}); };
  CATCH_CHECK(
      problem("job.num") ==
      "x.yaml:1:4: a cannot be resolved: ${hydra:job.num} is the number of a run, and there "
      "is none here");
  CATCH_CHECK(problem("run.dir") ==
              "x.yaml:1:4: a cannot be resolved: ${hydra:run.dir} does not exist in difflab: runs "
              "are written below the folder that the key results names");
  CATCH_CHECK(problem("help.template").find("there are job.name, job.num, runtime.cwd and") !=
              std::string::npos);
  CATCH_CHECK(problem("runtime.choices.model").find("no option of model is chosen") !=
              std::string::npos);
}

CATCH_TEST_CASE("eval calculates with what is inserted, and with keys") {
  // Right: Python.
  const auto is = [](const std::string& text, const std::string& expected) {
    CATCH_INFO(text);
    CATCH_CHECK(a_of(text, {}) == expected);
  };
  is("${eval:${b} * 2}", "6");
  is("${eval:\"${b} * (2 + ${c.d})\"}", "18");
  is("${eval:\"b / 2\"}", "1.5");
  is("${eval:\"c.d ** 2 // b\"}", "5");
  is("${eval:\"(b > 2) and c.d == 4\"}", "true");
  is("${eval:7}", "7");
  is("${eval:b / 0}", "x.yaml:1:4: a cannot be resolved: divides 3 by 0");
  is("${eval:x}",
     "x.yaml:1:4: a cannot be resolved: there is no key x (a text needs quotes: \'x\')");
  is("${eval:1,2}",
     "x.yaml:1:4: a has ${eval:1,2}; expected one expression, in quotes if it has "
     "brackets or commas");
  is("${eval:\"a + 1\"}", "x.yaml:1:4: a refers to itself: a -> a");
}

struct WithFacts {
  Study study;
  std::string problems;
};

WithFacts compose_facts(const std::string& experiment) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const Folder folder({{"configs/config.yaml", "defaults: [model: small, _self_]\nseed: 0\n"},
                       {"configs/model/small.yaml", "name: small\nwidth: 8\n"},
                       {"configs/model/large.yaml", "name: large\nwidth: 64\n"},
                       {"experiments/e.yaml", experiment}});
  Problems problems;
  WithFacts result;
  result.study = compose_study({.search_path = SearchPath::of_project("."),
                                .experiment = "e",
                                .overrides = {},
                                .run_keys = {"model", "seed"},
                                .study_keys = {"results"},
                                .keys_without_effect = {"model.name"},
                                .start = kStart},
                               problems);
  result.problems = problems.text();
  return result;
}

CATCH_TEST_CASE("all runs of a sweep have the same time, and each its number and choices") {
  const WithFacts composed = compose_facts(
      "results: 'out/${now:%H%M}'\nmodel: {name: '${now:%S} ${hydra:job.num} "
      "${hydra:runtime.choices.model}'}\nsweep: {model: [small, large]}\n");
  CATCH_CHECK(composed.problems == "");
  CATCH_CHECK(composed.study.settings.find("results")->as_string() == "out/0146");
  CATCH_REQUIRE(composed.study.points.size() == 2);
  const auto name = [&](std::size_t i) {
    return composed.study.points[i].config.find_path("model.name")->as_string();
  };
  CATCH_CHECK(name(0) == "40 0 small");
  CATCH_CHECK(name(1) == "40 1 large");
}

CATCH_TEST_CASE("what changes from call to call is refused where a run's id is made of it") {
  const auto refused = [](const std::string& experiment) {
    return compose_facts(experiment)
               .problems.find(
                   " holds the time, the number of the run or the working directory; the id of a "
                   "run is "
                   "made of its keys and would change each time. Expected model.name or a key of "
                   "the "
                   "experiment, such as results") != std::string::npos;
  };
  CATCH_CHECK(refused("seed: '${now:%s}'"));
  CATCH_CHECK(refused("seed: '${hydra:job.num}'"));
  CATCH_CHECK(refused("model: {width: '${eval:2 * ${hydra:job.num}}'}"));
  // By a way around, also if another value asked first.
  CATCH_CHECK(
      refused("vars: {n: '${hydra:job.num}'}\nmodel: {name: '${vars.n}', width: '${vars.n}'}"));
  CATCH_CHECK(refused("vars: {m: {width: 8, name: '${now:%s}'}}\nmodel: '${vars.m}'"));
  CATCH_CHECK(refused("vars: {m: {x: '${now:%s}'}, k: '${vars.m}'}\nseed: '${vars.k.x}'"));
  CATCH_CHECK(!refused("vars: {n: '${hydra:job.num}'}\nmodel: {name: '${vars.n}'}"));
  CATCH_CHECK(!refused("seed: 1\nmodel: {name: '${hydra:job.name}'}"));
}

}  // namespace
}  // namespace difflab::config
