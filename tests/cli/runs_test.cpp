// `difflab runs` and `difflab query`: all runs of a results folder.
#include <cstdlib>
#include <sstream>

#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::Answer;
using testing::Driver;

constexpr auto line_end = std::string::npos;

struct Finished : Driver {
  Finished() {
    workers.set(R"({"exit": {"seed: 2": 2}})");
    CATCH_REQUIRE(sweep().code == 1);  // four finished, two failed
  }
  Json runs(std::vector<std::string> words) const {
    words.insert(words.begin(), {"runs", "--json"});
    const Answer answer = call(words);
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == 0);
    return Json::parse(answer.out);
  }
  Json query(const std::string& sql) const {
    const Answer answer = call({"query", "--json", sql});
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == 0);
    return Json::parse(answer.out);
  }
};

CATCH_TEST_CASE("runs filters by state, configuration and figures") {
  const Finished driver;
  CATCH_CHECK(driver.runs({}).size() == 6);
  CATCH_CHECK(driver.runs({"state=finished"}).size() == 4);
  CATCH_CHECK(driver.runs({"state!=finished"}).size() == 2);
  CATCH_CHECK(driver.runs({"seed>=1"}).size() == 4);
  CATCH_CHECK(driver.runs({"seed<1", "model.name=diff"}).size() == 1);
  CATCH_CHECK(driver.runs({"metrics.steps=5"}).size() == 4);
  CATCH_CHECK(driver.runs({"seed=7"}).empty());
  const Answer table = driver.call({"runs", "state=failed", "--columns=seed,message"});
  CATCH_CHECK(table.out ==
              "seed  message\n2     the fake task is impossible\n2     the fake task is "
              "impossible\n");
}

CATCH_TEST_CASE("runs says of each what a person asks first, in lines that fit") {
  const Finished driver;
  const Answer answer = driver.call({"runs", "--sort", "seed"});
  std::istringstream out(answer.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  CATCH_INFO(answer.out);
  CATCH_REQUIRE(lines.size() == 7);
  CATCH_CHECK(lines[0] ==
              "id        experiment    varies       seed  state     age  accuracy  loss");
  for (const auto& line : lines) CATCH_CHECK(line.size() <= 80);
  CATCH_CHECK_THAT(lines[1], Contains("tiny/default") && Contains("finished") && Contains("  0  "));
  CATCH_CHECK((lines[1].find("transformer") != line_end || lines[1].find("diff") != line_end));
  CATCH_CHECK_THAT(lines[6], Contains("failed") && Contains("  2  "));
  // A name that is too long is cut, not the line.
  fs::rename(driver.output(), driver.results() / "tiny" / std::string(60, 'x'));
  const Answer cut = driver.call({"runs", "seed=0"});
  CATCH_INFO(cut.out);
  CATCH_CHECK_THAT(cut.out, Contains("tiny/xxx") && Contains("…"));
}

CATCH_TEST_CASE("runs are sorted by size, largest first if asked, those without the key last") {
  const Finished driver;
  for (const std::string key : {"metrics.valid_loss", "-metrics.valid_loss"}) {
    const auto runs = driver.runs({"--sort", key});
    CATCH_REQUIRE(runs.size() == 6);
    for (int i = 0; i < 3; ++i) {
      const double a = runs[i]["metrics.valid_loss"], b = runs[i + 1]["metrics.valid_loss"];
      CATCH_CHECK((key[0] == '-' ? a >= b : a <= b));
    }
    CATCH_CHECK(runs[5]["state"] == "failed");
  }
}

CATCH_TEST_CASE("a key that no run has, and a filter that is none, are refused") {
  const Finished driver;
  const Answer typo = driver.call({"runs", "sede=1"});
  CATCH_CHECK(typo.code == 2);
  CATCH_CHECK_THAT(typo.err, Contains("no run has sede; did you mean seed?"));
  for (const std::string bad : {"seed", "=1", "seed==1", "seed=!1"}) {
    CATCH_CHECK_THAT(driver.call({"runs", bad}).err, Contains("expected KEY=VALUE"));
  }
  CATCH_CHECK_THAT(driver.call({"runs", "--results", "/nowhere"}).err,
                   Contains("there are no runs in /nowhere"));
}

CATCH_TEST_CASE("query answers SQL, and follows what happens to the runs") {
  const Finished driver;
  CATCH_CHECK(driver.query("SELECT state, count(*) AS n FROM runs GROUP BY state ORDER BY n") ==
              Json::parse(R"([{"state": "failed", "n": 2}, {"state": "finished", "n": 4}])"));
  const auto best = driver.query(
      "SELECT c.value AS model, min(m.value) AS loss FROM metrics m JOIN config c ON c.run = m.run "
      "WHERE m.name = 'valid_loss' AND c.key = 'model.name' GROUP BY model ORDER BY model");
  CATCH_REQUIRE(best.size() == 2);
  CATCH_CHECK(best[0]["model"] == "diff");
  CATCH_CHECK(best[0]["loss"].get<double>() > 1);

  fs::remove_all(driver.runs({"state=failed"})[0]["directory"].get<std::string>());
  CATCH_CHECK(driver.query("SELECT count(*) AS n FROM runs")[0]["n"] == 5);

  // Also when nothing but a run's result has changed.
  const auto metrics = [&] {
    return driver.query("SELECT count(*) AS n FROM metrics")[0]["n"].get<int>();
  };
  const int before = metrics();
  fs::remove(fs::path(driver.runs({"state=finished"})[0]["directory"].get<std::string>()) /
             "result.json");
  CATCH_CHECK(metrics() < before);
}

CATCH_TEST_CASE("query reads the index and nothing else") {
  const Finished driver;
  const auto other = (driver.project() / "other.sqlite").string();
  for (const auto& bad : std::vector<std::string>{
           "DELETE FROM runs", "ATTACH '" + other + "' AS x", "PRAGMA user_version = 7",
           "SELECT 1; SELECT 2", "CREATE TABLE t(a)", "SELECT nothing FROM runs", "", "hello"}) {
    const Answer answer = driver.call({"query", bad});
    CATCH_INFO(bad);
    CATCH_CHECK(answer.code == 2);
    CATCH_CHECK_THAT(answer.err, Contains("the tables are runs(id, state"));
  }
  CATCH_CHECK_FALSE(fs::exists(other));
  CATCH_CHECK(driver.query("SELECT count(*) AS n FROM runs")[0]["n"] == 6);
}

CATCH_TEST_CASE("an index that is damaged anywhere, cut or gone is written again") {
  const Finished driver;
  const std::string sql = "SELECT run, key, value FROM config ORDER BY run, key";
  const auto expected = driver.query(sql);
  const auto index = driver.results() / "index.sqlite";
  const auto whole = read_file(index);
  const char* dose = std::getenv("DIFFLAB_CHAOS");  // as in tests/system/chaos
  const std::size_t times = dose != nullptr && std::string(dose) == "full" ? 1'000 : 20;
  for (std::size_t i = 0; i < times; ++i) {
    auto bytes = whole;
    if (i % 4 == 3) {
      bytes.resize(bytes.size() * i / times);
    } else {
      const auto at = bytes.size() * i / times;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
    }
    write_file_atomically(index, bytes);
    CATCH_INFO("damage " << i);
    CATCH_CHECK(driver.query(sql) == expected);
  }
  fs::remove(index);
  CATCH_CHECK(driver.query(sql) == expected);
}

}  // namespace
}  // namespace difflab
