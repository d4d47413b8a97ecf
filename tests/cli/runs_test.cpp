// `difflab runs`: all runs of a results folder.

#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

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
  CATCH_CHECK_THAT(driver.call({"runs", "sede=1"}, 2).err,
                   Contains("no run has sede; did you mean seed?"));
  for (const std::string bad : {"seed", "=1", "seed==1", "seed=!1"}) {
    CATCH_CHECK_THAT(driver.call({"runs", bad}).err, Contains("expected KEY=VALUE"));
  }
  CATCH_CHECK_THAT(driver.call({"runs", "--results", "/nowhere"}).err,
                   Contains("there are no runs in /nowhere"));
}

// 4 of the 6 runs have these metrics; their losses lie between 1 and 2, their accuracies below 1.
CATCH_TEST_CASE(
    "a filter reads numbers as overrides do, and blanks around the operator do not count") {
  const Finished driver;
  const auto losses = driver.runs({"--sort=valid_loss", "state=finished"});
  const double third = losses[2]["metrics.valid_loss"];
  for (const auto& [filter, runs] : std::vector<std::pair<std::string, std::size_t>>{
           {"metrics.valid_loss<2e0", 4},
           {"metrics.valid_loss < 2", 4},
           {"valid_loss>.5", 4},
           {"valid_loss\t>= 5e-1", 4},
           {"valid_loss<10", 4},  // as text it is above "10"
           {"valid_loss<1_0.0", 4},
           {"valid_loss > -5.0e+1", 4},
           {"metrics.steps = 5.0", 4},
           {"metrics.steps=05", 0},  // no number, as in an override
           {"metrics.steps!=5", 2},
           {concat("valid_loss<", Json(third).dump()), 2},
           {"model.name = 'diff'", 3}}) {
    CATCH_INFO(filter);
    CATCH_CHECK(driver.runs({filter}).size() == runs);
  }
  for (const std::string word : {"half", "50%", "'0.5'", "+.5", "", "0,5", "1e", "0.5 0.6"}) {
    CATCH_CHECK_THAT(driver.call({"runs", "metrics.valid_loss<" + word}, 2).err,
                     Contains("is not a number; expected one, as in"));
  }
}

CATCH_TEST_CASE("a result of another run counts as damaged, alone or with its whole folder") {
  const Finished driver;
  const auto runs = driver.runs({"state=finished"});
  const fs::path one = runs[0]["directory"].get<std::string>(),
                 other = runs[1]["directory"].get<std::string>();
  const auto tables = driver.tables();
  const auto own = read_file(one / "result.json");
  for (const bool is_whole : {false, true}) {
    write_file_atomically(one / "result.json", read_file(other / "result.json"));
    if (is_whole)
      fs::copy(other, one, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    CATCH_CHECK_THAT(driver.sweep(2).err,
                     Contains("is the result of run " + other.filename().string() + ", not of " +
                              one.filename().string()));
    CATCH_CHECK(driver.runs({"state=failed"}).size() == 3);
    CATCH_CHECK(driver.call({"plot", "tiny"}).code == 2);
  }
  auto moved = Json::parse(own);
  for (const Json& id : {Json("0123456789abcdef"), Json(5), Json(nullptr), Json("")}) {
    moved["id"] = id;
    write_file_atomically(one / "result.json", moved.dump());
    CATCH_CHECK(driver.sweep().code == 2);
  }
  fs::remove_all(one);
  CATCH_CHECK(driver.sweep().code == 1);  // two fail as before
  CATCH_CHECK(driver.tables() == tables);
}

CATCH_TEST_CASE("runs --page writes a page of files, and again only what has changed") {
  const Finished driver;
  driver.write("src/report/page/runs.html", "the page");
  const auto folder = driver.results().parent_path() / "page";
  const auto page = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"runs", "--page", folder.string()});
    return driver.call(words);
  };
  CATCH_CHECK_THAT(page({}).out, Contains("page/index.html"));
  const auto script = read_file(folder / "runs.js");
  const auto cell_of = [](const Json& data, const char* key) {
    const auto keys = data["keys"].get<std::vector<std::string>>();
    const auto at = std::ranges::find(keys, key) - keys.begin();
    return data["rows"][0][static_cast<std::size_t>(at)].get<std::string>();
  };
  CATCH_REQUIRE((script.starts_with("runs(") && script.ends_with(")\n")));
  const Json json = Json::parse(script.substr(5, script.size() - 7));
  CATCH_CHECK(json["rows"].size() == 6);
  CATCH_CHECK_THAT(json["keys"].dump(), Contains("\"id\"") && Contains("\"config.seed\"") &&
                                            Contains("\"metrics.valid_loss\""));
  CATCH_CHECK(json["common"]["experiment"] == "tiny/default");
  CATCH_CHECK(json["common"]["config.task.kind"] == "needle_recall");
  const auto curves = read_file(folder / "curves/0.js");
  CATCH_CHECK(Json::parse(curves.substr(6, curves.size() - 8)).size() == 4);
  CATCH_CHECK(page({"seed=1"}).code == 0);
  CATCH_CHECK_THAT(read_file(folder / "runs.js"), !Contains("\"failed\""));
  const auto damaged = driver.results() / "runs" / cell_of(json, "id") / "metrics.jsonl";
  write_file_atomically(damaged, "x\n{}\n");
  CATCH_CHECK(page({}).code == 0);
  CATCH_CHECK_THAT(page({"--json"}).err, Contains("--page has every key"));
  fs::remove(folder / "runs.js");
  CATCH_CHECK_THAT(page({}).err, Contains("index.html is not difflab's"));
  CATCH_CHECK_THAT(driver.call({"runs", "--live"}).err, Contains("--live is for --page"));
}

}  // namespace
}  // namespace difflab
