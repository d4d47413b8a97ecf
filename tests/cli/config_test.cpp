#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

constexpr const char* kHydra = DIFFLAB_ROOT "/tests/config/fixtures/hydra";

std::vector<std::string> call_of(std::vector<std::string> call, const Json& arguments) {
  for (const Json& argument : arguments) call.push_back(argument.get<std::string>());
  return call;
}

CATCH_TEST_CASE("config prints what a run gets, defaults included") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"config", "tiny", "train.steps=700", "--run", "4"}, 0).out,
                   Contains("model=diff seed=1") && Contains("steps: 700") &&
                       Contains("kind: diff_v1") && Contains("weight_decay: 0.1") &&
                       Contains("workers: auto"));
  const Json json = Json::parse(driver.call({"config", "tiny", "--run", "4", "--json"}).out);
  CATCH_CHECK(json["run"]["config"]["model"]["attention"]["kind"] == "diff_v1");
  CATCH_CHECK(json["run"]["of"] == 6);
  CATCH_CHECK(json["settings"]["baseline"] == "transformer");
  CATCH_CHECK_THAT(driver.call({"config", "seed=3"}).out,
                   Contains("# the baseline") && Contains("seed: 3"));
}

CATCH_TEST_CASE("config --package prints one part, --unresolved leaves interpolations alone") {
  const Driver driver;
  driver.write("experiments/e.yaml", "vars: {lr: 0.125}\ntrain: {lr: '${vars.lr}'}\n");
  CATCH_CHECK(driver.call({"config", "e", "--package", "train.lr"}).out == "0.125\n");
  CATCH_CHECK(driver.call({"config", "e", "--package", "train.lr", "--resolve", "--json"}).out ==
              "0.125\n");
  CATCH_CHECK(driver.call({"config", "e", "--package", "train.lr", "--unresolved"}).out ==
              "'${vars.lr}'\n");
  CATCH_CHECK_THAT(driver.call({"config", "e", "--package", "train.rl"}).err,
                   Contains("there is no key train.rl; did you mean lr?"));
}

CATCH_TEST_CASE("config --why names where a value was written and what it overrode") {
  const Driver driver;
  driver.write("configs/train/odd.yaml", "steps: 300\nlr: 0.5\nwarmup_steps: 1\n");
  driver.write("experiments/e.yaml",
               "defaults: [override /train: odd, _self_]\n"
               "vars: {lr: 0.125}\n"
               "train: {lr: '${vars.lr}'}\n");
  const auto why = [&](const std::string& key) {
    return driver.call({"config", "e", "train.steps=70", "--why", key}).out;
  };
  const auto folder = driver.project().string();
  CATCH_CHECK(why("train.lr") == "train.lr: 0.125\n  from " + folder +
                                     "/experiments/e.yaml:3:13: ${vars.lr}, which is at " + folder +
                                     "/experiments/e.yaml:2:12\n  over " + folder +
                                     "/configs/train/odd.yaml:2:5: 0.5\n");
  CATCH_CHECK(why("train.steps") == "train.steps: 70\n  from override train.steps=70\n  over " +
                                        folder + "/configs/train/odd.yaml:1:8: 300\n");
  CATCH_CHECK(why("train.weight_decay") == "train.weight_decay: 0.1\n  the program's default\n");
  CATCH_CHECK_THAT(why("train"),
                   Contains("train: odd\n  from " + folder + "/experiments/e.yaml:1:29\n  over " +
                            folder + "/configs/config.yaml:4:12: short\n"));
  CATCH_CHECK(why("launcher.kind") == "launcher.kind: local\n  from " + folder +
                                          "/configs/launcher/local.yaml:2:7 (chosen by " + folder +
                                          "/configs/config.yaml:8:15)\n");
  CATCH_CHECK_THAT(driver.call({"config", "tiny", "--run", "5", "--why", "seed", "--json"}).out,
                   Contains("\"value\": 2") && Contains("tiny.yaml:7:"));
}

CATCH_TEST_CASE("config --defaults-tree and --search-path show what is composed, and from where") {
  const Driver driver;
  const Answer tree = driver.call({"config", "tiny", "--run", "3", "--defaults-tree"});
  CATCH_CHECK_THAT(tree.out, Contains("config\n  task: needle_recall  # ") &&
                                 Contains("\n  model: diff  # ") && Contains("instead of") &&
                                 Contains("  _self_\n  experiment/tiny\n"));
  CATCH_CHECK(Json::parse(driver.call({"config", "tiny", "--defaults-tree", "--json"}).out)
                  .back()["config"] == "preset of the experiment");
  CATCH_CHECK(driver.call({"config", "--search-path"}).out ==
              driver.project().string() + "/experiments  (group experiment)\n" +
                  driver.project().string() + "/configs\n");
}

CATCH_TEST_CASE("config --config-dir composes a Hydra tree without our schema, as Hydra does") {
  const Driver driver;
  const std::string folder = std::string(kHydra) + "/conf";
  int compared = 0;
  for (const Json& answer : Json::parse(read_file(std::string(kHydra) + "/compose.json"))) {
    const auto& overrides = answer["overrides"];
    if (std::any_of(overrides.begin(), overrides.end(), [](const Json& text) {
          return text.get<std::string>().find("hydra") != std::string::npos;
        })) {
      continue;
    }
    if (++compared > 12) break;  // all of them are compared in tests/config
    CATCH_INFO(overrides.dump());
    const bool ok = answer["ok"], resolves = answer.contains("resolved");
    const auto composed = [&](std::vector<std::string> words, bool succeeds) {
      words.insert(words.begin(), {"config", "--config-dir", folder, "--json"});
      return driver.call(call_of(words, overrides), succeeds ? 0 : 2).out;
    };
    const auto found = composed({}, ok);
    if (!ok) continue;
    CATCH_CHECK(Json::parse(found).dump() == answer["config"].dump());
    const auto resolved = composed({"--resolve"}, resolves);
    if (resolves) CATCH_CHECK(Json::parse(resolved).dump() == answer["resolved"].dump());
  }
}

CATCH_TEST_CASE("a Hydra tree is composed without what configures Hydra itself") {
  const Driver driver;
  driver.write("conf/top.yaml",
               "defaults:\n  - _self_\n  - db: pg\n  - override hydra/launcher: joblib\n"
               "hydra: {run: {dir: x}}\nname: ${db.name}\n");
  driver.write("conf/db/pg.yaml", "name: pg\n");
  const std::string folder = (driver.project() / "conf").string();
  Answer answer = driver.call(
      {"config", "--config-dir", folder, "--config-name", "top", "hydra.job.name=y", "+db.port=5"});
  CATCH_CHECK(answer.err == "");
  CATCH_CHECK(answer.out == "name: '${db.name}'\ndb:\n  name: pg\n  port: 5\n");
  answer =
      driver.call({"config", "--config-dir", folder, "--config-name", "top.yaml", "--why", "name"});
  CATCH_CHECK_THAT(answer.out, Contains("/conf/top.yaml:6:7"));
  CATCH_CHECK_THAT(driver.call({"config", "--config-dir", folder + "x"}).err,
                   Contains("there is no folder"));
  CATCH_CHECK_THAT(driver.call({"config", "--config-dir", folder, "--config-name", "tpo"}).err,
                   Contains("did you mean top?"));
}

CATCH_TEST_CASE("config parse --json answers as the recorded Hydra does") {
  const Driver driver;
  std::vector<std::string> call{"config", "parse", "--json"};
  Json expected = Json::array();
  for (const Json& answer : Json::parse(read_file(std::string(kHydra) + "/parse.json"))) {
    const std::string text = answer["input"];
    const bool ours = text == "key=é" || text == "key=日本" || text == "key=shuffle([1,2,3])";
    if (ours || text.empty() || text[0] == '-') continue;
    call.push_back(text);
    expected.push_back(answer);
  }
  const Json found = Json::parse(driver.call(call, 0).out);
  CATCH_REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    Json ours = found[i], theirs = expected[i];
    ours.erase("error");
    theirs.erase("error");
    CATCH_CHECK(ours.dump() == theirs.dump());
  }
  CATCH_CHECK_THAT(driver.call({"config", "parse", "a=1,2"}).out,
                   Contains("value_type: SIMPLE_CHOICE_SWEEP"));
  CATCH_CHECK(driver.call({"config", "parse", "a=[1"}).code == 2);
}

CATCH_TEST_CASE("config parse --lines answers each line of its input with one line") {
  Process bash({"/bin/bash", "-c",
                "printf 'a=1\\nb=[\\n\\n\\xff\\nc=é' | '" DIFFLAB_BUILD
                "/difflab' config parse --lines"});
  std::vector<Json> lines;
  std::istringstream text(Driver::finish(bash, 0).out);
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  CATCH_REQUIRE(lines.size() == 5);
  CATCH_CHECK(lines[0]["value"] == Json(1));
  CATCH_CHECK(lines[1]["ok"] == Json(false));
  CATCH_CHECK(lines[2]["ok"] == Json(false));
  CATCH_CHECK(lines[3]["input"] == Json("\uFFFD"));
  CATCH_CHECK(lines[4]["value"] == Json("é"));
  const Driver driver;
  CATCH_CHECK(driver.call({"config", "parse"}).code == 2);
}

CATCH_TEST_CASE("a Hydra tree knows its choices and the time, and no run") {
  const Driver driver;
  driver.write("conf/config.yaml",
               "defaults: [db: pg, db@x.y: my, _self_]\n"
               "a: ${hydra:runtime.choices.db}-${hydra:runtime.choices.db@x.y}\n"
               "t: ${now:%%}\n");
  driver.write("conf/db/pg.yaml", "p: 1\n");
  driver.write("conf/db/my.yaml", "m: 1\n");
  const std::string folder = (driver.project() / "conf").string();
  const Answer answer =
      driver.call({"config", "--config-dir", folder, "--resolve", "--json", "--package", "a"});
  CATCH_CHECK(answer.out == "\"pg-my\"\n");
  CATCH_CHECK(
      driver.call({"config", "--config-dir", folder, "--resolve", "--json", "-p", "t"}).out ==
      "\"%\"\n");
  CATCH_CHECK_THAT(
      driver.call({"config", "--config-dir", folder, "--resolve", "+n=${hydra:job.num}"}).err,
      Contains("is the number of a run, and there is none here"));
}

}  // namespace
}  // namespace difflab
