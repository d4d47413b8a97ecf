// `difflab restore`: runs of a committed reference count as finished, without their models.
#include "cli/driver.h"
#include "record/lease.h"
#include "record/run_directory.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

// A project whose experiment has a committed reference, without its runs.
struct Kept : Driver {
  Kept() {
    CATCH_REQUIRE(sweep().code == 0);
    before = tables();
    fs::copy(output(), reference(), fs::copy_options::recursive);
    forget();
    workers.forget();
  }
  fs::path reference() const { return results() / "tiny" / "reference"; }
  void forget() const {
    for (const char* name : {"runs", "trainings", "tiny/default"}) fs::remove_all(results() / name);
  }
  std::string before;
};

CATCH_TEST_CASE("restored runs are finished ones, and the report of them is the same") {
  const Kept project;
  CATCH_CHECK_THAT(project.call({"restore", "tiny"}, 0).out,
                   Contains("tiny: 6 runs restored, 0 existed\n"));
  CATCH_CHECK_THAT(project.call({"restore"}).out, Contains("tiny: 0 runs restored, 6 existed"));
  CATCH_CHECK_THAT(project.sweep().out, Contains("nothing to run: all 6 runs are finished"));
  CATCH_CHECK(project.tables() == project.before);
  CATCH_CHECK(project.workers.starts().empty());
  const RunDirectory run{fs::directory_iterator(project.results() / "runs")->path()};
  CATCH_CHECK(read_provenance(run)->at("restored_from") == "tiny/reference");
}

CATCH_TEST_CASE("beside restored runs only what is new is trained") {
  const Kept project;
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  CATCH_CHECK_THAT(project.call({"sweep", "tiny", "model=transformer,diff,diff_v2"}, 0).out,
                   Contains("9 (6 finished, 3 to run)"));
  CATCH_CHECK(project.workers.starts().size() == 3);
  fs::path table;
  for (const auto& folder : fs::directory_iterator(project.results() / "tiny")) {
    if (folder.path().filename() != "reference") table = folder.path() / "table.md";
  }
  CATCH_CHECK_THAT(
      read_file(table),
      Contains(
          "Not trained here but restored from committed references: 6 runs of tiny/reference."));
  // Whoever has the folder alone reads the same.
  const auto again = project.results() / "again";
  CATCH_REQUIRE(
      project.call({"report", "--from", table.parent_path().string(), "--to", again.string()})
          .code == 0);
  CATCH_CHECK(read_file(again / "table.md") == read_file(table));
}

CATCH_TEST_CASE("of a run that two references hold each sees its own rows") {
  const Kept project;
  // The same runs in a second reference, made on another machine: other numbers.
  const auto second = project.results() / "second" / "reference";
  fs::create_directories(second.parent_path());
  fs::copy(project.reference(), second, fs::copy_options::recursive);
  auto runs = Json::parse(read_file(second / "runs.json"));
  runs["experiment"] = "second";
  for (auto& run : runs["runs"]) {
    run["metrics"]["valid_loss"] = 0.5;
    run["provenance"]["cpu"] = "another one";
  }
  write_file_atomically(second / "runs.json", runs.dump());
  const Answer answer = project.call({"restore"});
  CATCH_CHECK_THAT(answer.out,
                   Contains("second: 6 runs restored") &&
                       Contains("tiny: 0 runs restored, 0 existed, 6 shared by another reference"));
  CATCH_CHECK_THAT(project.call({"restore", "tiny"}).out, Contains("0 runs restored, 6 existed"));
  CATCH_CHECK_THAT(project.sweep().out, Contains("nothing to run: all 6 runs are finished"));
  CATCH_CHECK(project.tables() == project.before);
  const auto written = Json::parse(read_file(project.output() / "runs.json"));
  CATCH_CHECK(written == Json::parse(read_file(project.reference() / "runs.json")));
}

CATCH_TEST_CASE("what a report reads off a curve is read again from a restored run") {
  const Kept project;
  auto runs = Json::parse(read_file(project.reference() / "runs.json"));
  for (auto& run : runs["runs"]) run["metrics"]["learned"] = 1;
  write_file_atomically(project.reference() / "runs.json", runs.dump());
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  for (const auto& run : fs::directory_iterator(project.results() / "runs"))
    CATCH_CHECK_FALSE(read_result({run.path()})->at("metrics").contains("learned"));
}

CATCH_TEST_CASE("a run that is there or begun is left as it is") {
  const Kept project;
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  const RunDirectory own{fs::directory_iterator(project.results() / "runs")->path()};
  write_file_atomically(own.result(), R"({"schema": 1, "status": "finished", "metrics": {}})");
  write_file_atomically(own.provenance(), R"({"commit": "ours"})");  // trained here
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  CATCH_CHECK(read_result(own)->at("metrics").empty());
  fs::remove(own.result());
  write_file_atomically(own.checkpoint(), "begun");
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  CATCH_CHECK_FALSE(fs::exists(own.result()));
}

CATCH_TEST_CASE("a reference that was made anew brings its restored runs up to date") {
  const Kept project;
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  auto runs = Json::parse(read_file(project.reference() / "runs.json"));
  for (auto& run : runs["runs"]) {
    run["metrics"]["valid_loss"] = 0.5;
    run["provenance"]["commit"] = "a later one";
  }
  write_file_atomically(project.reference() / "runs.json", runs.dump());
  const RunDirectory held{fs::directory_iterator(project.results() / "runs")->path()};
  {
    const auto lease = Lease::acquire(held, [] { return false; });
    CATCH_CHECK_THAT(project.call({"restore"}).out,
                     Contains("0 runs restored, 1 existed, 5 brought up to date"));
  }
  CATCH_CHECK_THAT(project.call({"restore"}).out,
                   Contains("0 runs restored, 5 existed, 1 brought up to date"));
  for (const auto& run : fs::directory_iterator(project.results() / "runs")) {
    CATCH_CHECK(read_result({run.path()})->at("metrics").at("valid_loss") == 0.5);
    CATCH_CHECK(read_provenance({run.path()})->at("commit") == "a later one");
  }
}

CATCH_TEST_CASE("a run that somebody has just begun is not restored over") {
  const Kept project;
  CATCH_REQUIRE(project.call({"restore"}).code == 0);
  const RunDirectory run{fs::directory_iterator(project.results() / "runs")->path()};
  for (const auto& file : {run.result(), run.provenance(), run.metrics()}) fs::remove(file);
  const auto lease = Lease::acquire(run, [] { return false; });
  CATCH_CHECK_THAT(project.call({"restore"}).out, Contains("0 runs restored, 6 existed"));
  CATCH_CHECK_FALSE(fs::exists(run.result()));
}

CATCH_TEST_CASE("runs are restored into another results folder, and have no model to ask") {
  const Kept project;
  const auto other = (project.project() / "elsewhere").string();
  CATCH_CHECK(project.call({"restore", "tiny", "--to", other}).code == 0);
  CATCH_CHECK_FALSE(fs::exists(project.results() / "runs"));
  CATCH_CHECK_THAT(project.call({"sweep", "tiny", "results=" + other}).out,
                   Contains("nothing to run: all 6 runs are finished"));
  CATCH_CHECK_THAT(project.call({"evaluate", "tiny", "results=" + other}, 2).err,
                   Contains("none of the 6 runs of tiny is trained in") &&
                       Contains("delete the folders of restored ones"));
  const auto run = fs::directory_iterator(fs::path(other) / "runs")->path().string();
  CATCH_CHECK_THAT(project.call({"needle", run, "--lengths", "64"}, 2).err,
                   Contains("has no model, because it was restored without one"));
  CATCH_CHECK(project.workers.starts().empty());
}

CATCH_TEST_CASE("what cannot be restored is said, and the others still are") {
  const Kept project;
  auto runs = Json::parse(read_file(project.reference() / "runs.json"));
  auto kept = Json::parse(read_file(project.reference() / "observations.json"));
  runs["runs"][0]["id"] = kept["runs"][0]["id"] = "0123456789abcdef";
  write_file_atomically(project.reference() / "runs.json", runs.dump());
  write_file_atomically(project.reference() / "observations.json", kept.dump());
  CATCH_CHECK_THAT(project.call({"restore"}, 0).out,
                   Contains("5 runs restored") &&
                       Contains("1 left out, e.g. run 0123456789abcdef of tiny is") &&
                       Contains("means something else today"));
  fs::create_directories(project.results() / "old" / "reference");
  write_file_atomically(project.results() / "old" / "reference" / "runs.json",
                        R"({"runs": [{"id": "a", "status": "finished"}]})");
  const Answer other = project.call({"restore"}, 0);  // nobody asked for that one
  CATCH_CHECK_THAT(other.out, Contains("tiny: 0 runs restored, 5 existed"));
  CATCH_CHECK_THAT(other.err, Contains("old cannot be restored: "));
  CATCH_CHECK_THAT(
      project.call({"restore", "old", "tiny"}, 2).err,
      Contains("error: old cannot be restored: ") && Contains("1 of 2 references not restored"));
  CATCH_CHECK_THAT(project.call({"restore", "tiny", "--to", ""}).err,
                   Contains("--to has no folder after it"));
  CATCH_CHECK_THAT(project.call({"restore", "tinny"}).err, Contains("did you mean tiny"));
}

CATCH_TEST_CASE("if nothing can be restored, nothing is said to be there") {
  const Kept project;
  write_file_atomically(project.reference() / "observations.json", "");
  const auto elsewhere = project.project() / "elsewhere";
  const Answer answer = project.call({"restore", "--to", elsewhere.string()}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("tiny cannot be restored: ") &&
                                   Contains("1 of 1 references not restored"));
  CATCH_CHECK_THAT(answer.out, !Contains("without their models"));
}

CATCH_TEST_CASE("a folder of results is named as in other commands, and has a name") {
  const Kept project;
  const auto comma = project.project() / "co,mma";
  fs::rename(project.results(), comma);
  CATCH_CHECK(project.call({"restore", "tiny", concat("results='", comma.string(), "'")}).code ==
              0);
  for (const char* none : {"results=", "results=a,b", "results=[a]", "results={a: 1}"}) {
    CATCH_CHECK_THAT(project.call({"restore", "tiny", none}, 2).err,
                     Contains(concat(none, " names no folder")));
  }
}

}  // namespace
}  // namespace difflab
