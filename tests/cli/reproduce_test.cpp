// `difflab reproduce`: runs of a committed reference are made again and compared.
#include "cli/driver.h"
#include "record/run_directory.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

// A project whose experiment has a committed reference, without its runs.
struct Committed : Driver {
  Committed() {
    CATCH_REQUIRE(sweep().code == 0);
    fs::rename(output(), results() / "tiny" / "reference");
    fs::remove_all(results() / "runs");
    fs::remove_all(results() / "trainings");
    fs::remove(project() / "experiments" / "tiny.yaml");
  }
  fs::path reference() const { return results() / "tiny" / "reference"; }
  void edit(const std::function<void(Json&)>& change) const {
    auto json = Json::parse(read_file(reference() / "runs.json"));
    change(json);
    write_file_atomically(reference() / "runs.json", json.dump());
  }
  Json record() const { return Json::parse(read_file(reference() / "reproduced.json")); }
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

CATCH_TEST_CASE("runs of a reference are made again without its experiment, and are the same") {
  const Committed project;
  const Answer answer = project.call({"reproduce", "tiny", "--runs", "3"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("tiny: 3 of 6 runs made again"));
  CATCH_CHECK(times(answer.out, "numbers, all the same") == 3);
  CATCH_CHECK_FALSE(fs::exists(project.results() / "runs"));
  CATCH_CHECK_FALSE(fs::exists(project.reference() / "reproduced.json"));

  CATCH_CHECK_THAT(project.call({"reproduce"}).out, Contains("6 of 6 runs"));
  CATCH_CHECK(project.call({"reproduce", "--record", "--runs", "3"}).code == 0);
  const auto record = project.record();
  CATCH_REQUIRE(record.at("sessions").size() == 1);
  const auto& session = record.at("sessions")[0];
  CATCH_CHECK(session.at("runs").size() == 3);
  CATCH_CHECK(session.at("runs")[0].at("metrics").contains("valid_loss"));
  CATCH_CHECK_FALSE(session.at("runs")[0].at("metrics").contains("train_seconds"));

  // Once more here: in its place. What was made elsewhere stays.
  auto elsewhere = record;
  elsewhere["sessions"][0]["cpu"] = "another";
  auto of_old_runs = elsewhere["sessions"][0];
  of_old_runs["cpu"] = "a third";
  of_old_runs["runs"][0]["id"] = "nobody";
  elsewhere["sessions"].push_back(of_old_runs);
  write_file_atomically(project.reference() / "reproduced.json", elsewhere.dump());
  CATCH_CHECK(project.call({"reproduce", "--record"}).code == 0);
  CATCH_CHECK(project.call({"reproduce", "--record", "--draw", "again"}).code == 0);
  const auto both = project.record();
  CATCH_REQUIRE(both.at("sessions").size() == 2);
  CATCH_CHECK(both.at("sessions")[0] == elsewhere.at("sessions")[0]);
  // Fewer runs than can confirm anything do not take the place of enough, of committed code.
  auto clean = both;
  clean["sessions"][1]["dirty"] = false;  // which this worker does not tell, either
  write_file_atomically(project.reference() / "reproduced.json", clean.dump());
  CATCH_CHECK(project.call({"reproduce", "--record", "--runs", "1"}).code == 0);
  const auto more = project.record();
  CATCH_REQUIRE(more.at("sessions").size() == 3);
  CATCH_CHECK(more.at("sessions")[1] == clean.at("sessions")[1]);
  CATCH_CHECK_FALSE(both.at("sessions")[1].contains("cpu"));  // which this worker does not tell
  // Enough runs of another commit link the two.
  clean["sessions"][1]["commit"] = "another";
  write_file_atomically(project.reference() / "reproduced.json", clean.dump());
  CATCH_CHECK(project.call({"reproduce", "--record"}).code == 0);
  CATCH_CHECK(project.record().at("sessions")[1] == clean.at("sessions")[1]);
}

CATCH_TEST_CASE("a run of a reference is made again by its id, also where nobody trained it") {
  const Committed project;
  const auto record = Json::parse(read_file(project.reference() / "runs.json"));
  const auto id = record.at("runs")[4].at("id").get<std::string>();
  for (const bool restored : {false, true}) {
    CATCH_INFO(restored);
    if (restored) CATCH_REQUIRE(project.call({"restore", "tiny"}).code == 0);
    CATCH_CHECK_THAT(project.call({"reproduce", id.substr(0, 8)}, 0).out,
                     Contains("tiny: 1 of 6 runs made again") && Contains(id));
  }
  CATCH_CHECK_THAT(project.call({"reproduce", "feedbeef"}).err,
                   Contains("there is no run feedbeef"));
}

CATCH_TEST_CASE("a run of one's own is made again by its id or folder") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const RunDirectory run{fs::directory_iterator(driver.results() / "runs")->path()};
  const auto id = run.path.filename().string();
  CATCH_CHECK_THAT(driver.call({"reproduce", id.substr(0, 8)}, 0).out,
                   Contains(id) && Contains("numbers, all the same"));

  auto result = Json::parse(read_file(run.result()));
  result["metrics"]["valid_loss"] = 0.125;
  write_file_atomically(run.result(), result.dump());
  CATCH_CHECK_THAT(driver.call({"reproduce", run.path.string()}, 1).out,
                   Contains("valid_loss is ") && Contains(" instead of 0.125"));
  CATCH_CHECK_THAT(driver.call({"reproduce", "0000000000000000"}).err, Contains("no run"));

  driver.workers.forget();
  CATCH_CHECK_THAT(driver.call({"reproduce", id, "--record"}, 2).err,
                   Contains("--record is for references"));
  CATCH_CHECK(driver.workers.starts().empty());  // said before the run is made
}

CATCH_TEST_CASE("a number that is not the same is named, and the exit code says so") {
  const Committed project;
  project.edit([](Json& json) {
    for (auto& run : json["runs"]) run["metrics"]["valid_loss"] = 0.125;
  });
  CATCH_CHECK_THAT(project.call({"reproduce", "tiny", "--runs", "1"}, 1).out,
                   Contains("numbers differ: valid_loss is ") && Contains(" instead of 0.125") &&
                       !Contains("conditions"));
  // On another machine that is no fault, as far as it lies among other seeds.
  project.edit([](Json& json) {
    for (auto& run : json["runs"]) run["provenance"]["cpu"] = "another";
  });
  CATCH_CHECK_THAT(project.call({"reproduce", "tiny", "--runs", "1"}, 1).out,
                   Contains("Made under other conditions: processor ") && Contains("another") &&
                       Contains("1 run was made under other conditions: outside the other seeds' "
                                "range: valid_loss lies "));
  project.edit([](Json& json) {
    double loss = 0;
    for (auto& run : json["runs"]) run["metrics"]["valid_loss"] = loss += 0.7;
  });
  const Answer among = project.call({"reproduce", "tiny", "--record"}, 0);
  CATCH_CHECK_THAT(among.out,
                   Contains("6 runs were made under other conditions: what they are reported "
                            "for lies among other seeds, in 2 metrics"));
  CATCH_CHECK(project.record().at("sessions").size() == 1);
}

CATCH_TEST_CASE("what cannot be reproduced is said, and the others still are") {
  const Committed project;
  fs::create_directories(project.results() / "old" / "reference");
  const Answer answer = project.call({"reproduce", "--runs", "1"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("old cannot be reproduced: ") && Contains("runs.json"));
  CATCH_CHECK_THAT(answer.out, Contains("tiny: 1 of 6 runs made again"));
  CATCH_CHECK_THAT(project.call({"reproduce", "tinny"}).err, Contains("did you mean tiny"));
  CATCH_CHECK(project.call({"reproduce", "tiny", "--runs", "0"}).code == 2);
  write_file_atomically(project.results() / "old" / "reference" / "runs.json",
                        R"({"runs": [{"status": 3}]})");
  CATCH_CHECK_THAT(project.call({"reproduce", "old"}).err, Contains("runs.json is damaged"));

  // A configuration that means something else today is another run.
  auto observations = Json::parse(read_file(project.reference() / "observations.json"));
  for (auto& train : observations["settings"]["train"]) train["beta1"] = 0.5;
  write_file_atomically(project.reference() / "observations.json", observations.dump());
  CATCH_CHECK_THAT(project.call({"reproduce", "tiny"}, 2).err,
                   Contains("its configuration means something else today"));
}

}  // namespace
}  // namespace difflab
