// A folder of the user's own (--project) beside the checkout: its files come first, and its results
// and data are there.
#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

struct Lab : Driver {
  Lab() {
    fs::create_directories(lab());
    fs::rename(project() / "experiments/tiny.yaml", lab() / "experiments/tiny.yaml");
    put("../a project/experiments/theirs.yaml",
        "# @package _global_\ntitle: Theirs\nquestion: Whose?\n");
  }
  ~Lab() { ::unsetenv("DIFFLAB_PROJECT"); }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  fs::path lab() const {
    const auto folder = workers.folder() / "a lab";
    fs::create_directories(folder / "experiments");
    return folder;
  }
  void put(const std::string& file, const std::string& text) const {
    const auto place = (lab() / file).lexically_normal();
    fs::create_directories(place.parent_path());
    write_file_atomically(place, text);
  }
};

CATCH_TEST_CASE("a project's experiment runs with the checkout's configurations") {
  const Lab lab;
  lab.call({"--project", lab.lab().string(), "sweep", "tiny"}, 0);
  CATCH_CHECK(fs::exists(lab.lab() / "results/tiny/default/table.md"));
  CATCH_CHECK_FALSE(fs::exists(lab.project() / "results"));
  // The same from the environment: nothing to run.
  ::setenv("DIFFLAB_PROJECT", lab.lab().c_str(), 1);
  CATCH_CHECK_THAT(lab.sweep().out, Contains("nothing to run"));
  CATCH_CHECK_THAT(lab.call({"runs"}).out, Contains("diff"));
}

CATCH_TEST_CASE("a project's files come before the checkout's of the same name") {
  const Lab lab;
  lab.put("configs/model/mine.yaml", "defaults: [diff, _self_]\nlayers: 3\n");
  lab.put("configs/train/short.yaml", "steps: 777\n");
  const auto config = [&](const std::string& override) {
    const Answer answer = lab.call({"config", "tiny", override, "--project=" + lab.lab().string()});
    return answer.out + answer.err;
  };
  CATCH_CHECK_THAT(config("model=mine"), Contains("layers: 3\n"));
  CATCH_CHECK_THAT(config("train=short"), Contains("steps: 777\n"));
  const auto listed = lab.call({"list", "experiments", "--project", lab.lab().string()}).out;
  CATCH_CHECK_THAT(listed, Contains("tiny") && Contains("theirs"));
  const auto path = lab.call({"config", "--search-path", "--project", lab.lab().string()}).out;
  CATCH_CHECK(path.find((lab.lab() / "configs").string()) <
              path.find((lab.project() / "configs").string()));
}

CATCH_TEST_CASE("what an experiment asks anyway is found when more is asked from another folder") {
  const Lab lab;
  lab.put("items.jsonl", R"({"context": "Ada", "choices": ["has", "is"], "answer": 0})"
                         "\n");
  lab.put("experiments/asking.yaml",
          "# @package _global_\ntitle: Asking\nquestion: What?\n"
          "defaults: [override /task: text_short]\ntrain: {steps: 4, warmup_steps: 1}\n"
          "evaluate: [{kind: multiple_choice, file: {path: items.jsonl}}]\n");
  const std::string project = "--project=" + lab.lab().string();
  lab.call({"sweep", "asking", project}, 0);
  lab.call({"evaluate", "asking", "evaluate=[{kind: heldout, name: again}]", project}, 0);
  // A file that is named on the command line lies where that was typed.
  const Answer typed =
      lab.call({"evaluate", "asking",
                "evaluate=[{kind: multiple_choice, file: {path: items.jsonl}}]", project});
  CATCH_CHECK(typed.code == 2);
  CATCH_CHECK_THAT(typed.err, Contains("which does not exist"));
}

CATCH_TEST_CASE("all are the project's own experiments") {
  const Lab lab;
  CATCH_CHECK_THAT(lab.call({"sweep", "all", "--dry-run", "--project", lab.lab().string()}, 0).out,
                   Contains("6 runs") && !Contains("Theirs"));
  CATCH_CHECK_THAT(lab.call({"sweep", "all", "--dry-run"}).out, !Contains("6 runs"));
}

CATCH_TEST_CASE("commands that are written down name the project, and the gallery shows its own") {
  const Lab lab;
  ::setenv("DIFFLAB_PROJECT", lab.lab().c_str(), 1);
  CATCH_REQUIRE(lab.sweep().code == 0);
  const auto record = Json::parse(read_file(lab.lab() / "results/tiny/default/runs.json"));
  CATCH_CHECK(record.at("command") == "difflab --project . sweep tiny");
  CATCH_CHECK(lab.call({"report", "--all"}).code == 0);
  const auto gallery = read_file(lab.lab() / "results/README.md");
  CATCH_CHECK_THAT(gallery, Contains("tiny") && !Contains("theirs"));
}

CATCH_TEST_CASE("a project that looks like a checkout is none") {
  const Lab lab;
  lab.put("configs/model/mine.yaml", "defaults: [diff, _self_]\nlayers: 3\n");
  const auto root = std::string(std::getenv("DIFFLAB_ROOT"));
  ::unsetenv("DIFFLAB_ROOT");
  Process process({"/bin/sh", "-c",
                   "cd '" + lab.lab().string() +
                       "' && exec " DIFFLAB_BUILD "/difflab --project . list experiments"});
  const auto answer = Driver::finish(process, 0);
  ::setenv("DIFFLAB_ROOT", root.c_str(), 1);
  CATCH_CHECK_THAT(answer.out,
                   Contains("tiny") && Contains("headline"));  // of the build's checkout
}

CATCH_TEST_CASE("a folder without experiments has none to sweep") {
  const Lab lab;
  fs::remove(lab.lab() / "experiments/tiny.yaml");
  CATCH_CHECK_THAT(lab.call({"sweep", "all", "--project", lab.lab().string()}, 2).err,
                   Contains("a lab has no experiments; expected experiments/NAME.yaml"));
}

CATCH_TEST_CASE("Tab and hints know a project on the command line") {
  const Lab lab;
  const auto words = lab.call({"complete", "--", "--project", lab.lab().string(), "sweep", "ti"});
  CATCH_CHECK(words.out == "tiny\n");
  const Answer hydras = lab.call({"--project", lab.lab().string(), "sweep", "tiny", "-m"});
  CATCH_CHECK_THAT(hydras.err, Contains("-m is not needed"));
}

CATCH_TEST_CASE("data is looked for in the project") {
  const Lab lab;
  CATCH_CHECK_THAT(lab.call({"data", "--project", lab.lab().string()}, 0).out,
                   Contains((lab.lab() / "data").string()));
}

CATCH_TEST_CASE("what is no project folder is refused with the reason") {
  const Lab lab;
  const auto error = [&](std::vector<std::string> words) {
    const Answer answer = lab.call(words, 2);
    CATCH_CHECK(answer.out.empty());
    return answer.err;
  };
  const auto nowhere = (lab.lab() / "nowhere").string();
  CATCH_CHECK_THAT(
      error({"list", "experiments", "--project", nowhere}),
      Contains("the project folder is " + nowhere + ", which does not exist; expected"));
  const auto empty = (lab.lab() / "experiments").string();
  CATCH_CHECK_THAT(error({"list", "experiments", "--project", empty}),
                   Contains("the project folder is " + empty + "; expected a folder with "));
  CATCH_CHECK_THAT(error({"list", "--project"}), Contains("--project has no folder after it"));
  CATCH_CHECK_THAT(error({"list", "--project", ""}), Contains("--project has no folder after it"));
  CATCH_CHECK_THAT(error({"--project", "a", "list", "--project=b"}),
                   Contains("--project is given twice"));
}

}  // namespace
}  // namespace difflab
