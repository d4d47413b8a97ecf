// difflab evaluate and difflab needle: what they refuse, each in one line and without a trace. That
// they ask and train nothing is tested with real models by tests/system/chaos/asking.py.
#include "cli/driver.h"
#include "record/safetensors.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

// A finished sweep of fake runs, one of which is said to have diverged and one failed.
struct Trained : Driver {
  Trained() {
    workers.set(R"({"exit": {"seed: 2": 2}})");
    CATCH_REQUIRE(sweep().code == 1);
    for (const auto& entry : fs::directory_iterator(results() / "runs")) {
      const auto config = read_file(entry.path() / "config.yaml");
      const bool has_model = config.find("name: diff") != config.npos;
      const auto is_of = [&](const char* seed) { return config.find(seed) != config.npos; };
      if (has_model && is_of("seed: 0")) run = entry.path().filename();
      if (has_model && is_of("seed: 1")) diverged = entry.path().filename();
      if (has_model && is_of("seed: 2")) failed = entry.path().filename();
    }
    auto result = Json::parse(read_file(results() / "runs" / diverged / "result.json"));
    result["status"] = "diverged";
    write_file_atomically(results() / "runs" / diverged / "result.json", result.dump());
    workers.set("{}");
  }

  std::set<std::string> files() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(project())) {
      found.insert(entry.path().string());
    }
    return found;
  }
  void refuses(const std::vector<std::string>& words, const std::string& expected) const {
    const auto before = files();
    CATCH_INFO(words[0] << ' ' << words[1]);
    const Answer answer = call(words, 2);
    CATCH_INFO(answer.out << answer.err);
    CATCH_CHECK_THAT(answer.err, Contains(expected));
    CATCH_CHECK(std::count(answer.err.begin(), answer.err.end(), '\n') == 1);
    CATCH_CHECK((files() == before));
  }

  std::string run, diverged, failed;
};

CATCH_TEST_CASE("what cannot be asked is refused in one line, and nothing is written") {
  const Trained driver;
  const auto& run = driver.run;
  driver.refuses({"evaluate", "feedbeef"}, "there is no run feedbeef in");
  driver.refuses({"evaluate", "tinny"}, "did you mean tiny?");
  driver.refuses({"evaluate", run, "results=/nowhere"}, "there is no run " + run + " in /nowhere");
  driver.refuses({"evaluate", run, "--results", "/nowhere"}, "in /nowhere");
  driver.refuses({"evaluate", "tiny", "--results", "/nowhere"}, "is trained in /nowhere");
  driver.refuses({"evaluate", "tiny", "results=/nowhere"}, "is trained in /nowhere");
  driver.refuses({"evaluate", driver.failed}, "is not trained to its end");
  driver.refuses({"evaluate", driver.diverged}, "diverged, so there is no trained model");
  const auto checkpoint = driver.results() / "runs" / run / "checkpoint.safetensors";
  fs::rename(checkpoint, checkpoint.string() + ".away");
  driver.refuses({"evaluate", run, "evaluate=[{kind: needle_grid}]"},
                 "or its checkpoint was deleted");
  fs::rename(checkpoint.string() + ".away", checkpoint);
  driver.refuses({"evaluate", "task=needle"}, "is an override; expected an experiment or runs");
  driver.refuses({"evaluate", run, "train.lr=1"}, "or --on task=… to ask");
  driver.refuses({"evaluate", run, "evaluate=[{kind: heldowt}]"}, "did you mean heldout?");
  driver.refuses({"evaluate", run, "evaluate=[{kind: ar_hit}]"}, "expected a task of kind text");
  driver.refuses({"evaluate", run, "--on", "task=nedle"}, "did you mean needle?");
  driver.refuses({"evaluate", run, "--on", "task.needle.keys=64"},
                 "has 162 tokens; the run's own task has 130");
  driver.refuses({"evaluate", run, "--at", "7"},
                 "has step 7; the checkpoints that "
                 "train.keep_checkpoints keeps are none");
  driver.refuses({"needle", run, "--lengths", "64,five"}, "expected numbers such as 64,256");
  driver.refuses({"needle", run, "--lengths", "4"}, "too short for 4 needles");
  driver.refuses({"needle", run, "--lengths", "1024:64:64"}, "goes from 1024 down to 64");
  driver.refuses({"needle", run, "--lengths", "0:1e30:1"}, "too many numbers");
  driver.refuses({"needle", run, "--depths", "0:100:0"}, "expected FROM:TO:STEP");
  driver.refuses({"needle", run, "--needles", "2", "--queries", "3"}, "asks for 3 needles");
  driver.refuses({"needle", run, "evaluate=[]"}, "expected ./difflab evaluate");
  CATCH_CHECK_THAT(driver.call({"needle", "tiny", "launcher=slurm"}, 2).err,
                   Contains("expected launcher=local or ssh"));
}

CATCH_TEST_CASE("an override names models, and --on what they are asked on") {
  const Trained driver;
  driver.call({"evaluate", "tiny", "seed=7"});  // makes the index of trainings
  for (const char* command : {"evaluate", "needle"}) {
    for (const char* typed : {"task.needle.length=32", "task={needle: {length: 32}}", "task=needle",
                              "model.layers=1", "train.steps=900"}) {
      driver.refuses({command, "tiny", typed}, "of tiny is trained in");
      driver.refuses({command, driver.run, typed}, "or --on task=… to ask the run on another task");
    }
    driver.refuses({command, "tiny", "seed=7"}, "none of the 2 runs of tiny is trained");
    driver.refuses({command, "tiny", "--on", "model.layers=1"}, "expected task=NAME or task.KEY");
    driver.refuses({command, "tiny", "task.needle.length=32"},
                   "to evaluate on another task: --on task…");
  }
  // Models that are trained on another task are those that the same words train.
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "task.needle.length=32", "seed=0"}).code == 0);
  const Answer asked = driver.call({"evaluate", "tiny", "task.needle.length=32", "seed=0",
                                    "evaluate=[{kind: heldout, name: x}]", "--json"},
                                   0);
  const auto last = asked.out.substr(asked.out.rfind('\n', asked.out.size() - 2) + 1);
  const auto told = Json::parse(last);
  for (const auto& answered : told.at("runs")) {
    const auto config =
        read_file(driver.results() / "runs" / answered.at("id").get<std::string>() / "config.yaml");
    CATCH_CHECK_THAT(config, Contains("length: 32"));
  }
}

CATCH_TEST_CASE("a results folder may be called whatever a folder may") {
  const Trained driver;
  const auto other = driver.project() / "a,b (1)=x";
  fs::rename(driver.results(), other);
  const Answer asked = driver.call({"evaluate", "tiny", "--results", other.string()});
  CATCH_INFO(asked.out << asked.err);
  CATCH_CHECK_THAT(asked.err, !Contains("override"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

CATCH_TEST_CASE("a sequence beyond the learned positions of a model is refused") {
  const Driver driver;
  CATCH_REQUIRE(
      driver.call({"sweep", "tiny", "model.positions=learned", "model.max_positions=64"}).code ==
      0);
  const Answer answer = driver.call({"needle", "tiny", "model.positions=learned",
                                     "model.max_positions=64", "--lengths", "64,128"},
                                    2);
  CATCH_CHECK_THAT(answer.err, Contains("model.max_positions is 64 for sequences of 128 tokens"));
}

CATCH_TEST_CASE("weights are asked with the configuration beside or inside them") {
  const Trained driver;
  const auto folder = driver.project() / "weights";
  const auto file = (folder / "mine.safetensors").string();
  const std::string bytes(12, '\0');
  const auto write = [&](const std::map<std::string, std::string>& metadata) {
    fs::create_directories(folder);
    write_file_atomically(file, to_safetensors({{"w", "F32", {3}, bytes}}, metadata));
  };
  write({});
  driver.refuses({"evaluate", file}, "has no configuration in it");
  write({{"config", R"({"model": {"d_model": 64}, "task": {"kind": "needle"}})"}});
  driver.refuses({"evaluate", file}, "mine.safetensors has no tensor ");
  write({{"config", R"({"model": {"d_modell": 64}})"}});
  driver.refuses({"evaluate", file}, "did you mean d_model?");
  driver.write("weights/config.yaml", "model: {d_model: 32}\n");
  driver.refuses({"evaluate", folder.string()}, "mine.safetensors has no tensor ");
  driver.write("weights/other.safetensors", "");
  driver.refuses({"evaluate", folder.string()}, "holds 2 files of weights");
}

}  // namespace
}  // namespace difflab
