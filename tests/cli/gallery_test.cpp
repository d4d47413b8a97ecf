// `difflab report --all`: the gallery shows what was measured and nothing else.
#include <regex>

#include "cli/driver.h"
#include "util/hash.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

constexpr const char* kClaiming = R"(# @package _global_
title: Is DIFF <better>?
topic: Loss | here
question: Does DIFF have a lower loss | or not?
baseline: transformer
sweep: {model: [transformer, diff], seed: range(3)}
claims:
  - {text: DIFF has a lower loss, metric: valid_loss, variant: diff, expect: lower, paper: 3.062 against 3.088}
  - {text: DIFF has more parameters, metric: parameters, variant: diff, expect: higher}
tables:
  - {name: table, rows: model, columns: [parameters, valid_loss]}
figures:
  - {name: loss, mark: interval, y: model, x: valid_loss}
)";

std::string row_of(const std::string& markdown, const std::string& begin) {
  const auto at = markdown.find(begin);
  CATCH_INFO(markdown);
  CATCH_REQUIRE(at != std::string::npos);
  return markdown.substr(at, markdown.find('\n', at) - at);
}

CATCH_TEST_CASE("an experiment without results is shown as not run, without any number") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"report", "--all"}, 0).out,
                   Contains("0 of 1 experiments have results"));
  const auto readme = read_file(driver.results() / "README.md");
  CATCH_CHECK_THAT(row_of(readme, "<br>`tiny`"), Contains("<br>`tiny`, not run yet |  |  |  |  |"));
  CATCH_CHECK_THAT(read_file(driver.results() / "index.html"),
                   Contains("<code>tiny</code>, not run yet</td><td></td><td></td>"));
}

CATCH_TEST_CASE(
    "the gallery shows question, answer, figures, source and report of each experiment") {
  const Driver driver;
  driver.write("experiments/claiming.yaml", kClaiming);
  CATCH_REQUIRE(driver.call({"sweep", "claiming"}).code == 0);
  const Answer answer = driver.call({"report", "--all"}, 0);
  // tiny has the same runs.
  CATCH_CHECK_THAT(answer.out, Contains("2 of 2 experiments have results"));
  const auto readme = read_file(driver.results() / "README.md");
  const auto row =
      row_of(readme, "| [Is DIFF &lt;better>?](claiming/default/table.md)<br>`claiming`");
  CATCH_CHECK_THAT(row, Contains("preset default, 6 of 6 runs"));
  CATCH_CHECK_THAT(row, Contains("**: DIFF has a lower loss<br>1 more claim: 1 "));
  CATCH_CHECK_THAT(row, Contains("]<br>validation loss "));
  CATCH_CHECK_THAT(row, Contains(" against ") && !Contains("Holm"));
  CATCH_CHECK_THAT(row, Contains("| 3.062 against 3.088 |"));
  // Under its topic, before those that have none.
  const auto at = [&](const char* words) { return readme.find(words); };
  CATCH_CHECK((at("## Loss \\| here") < at("`claiming`") && at("`claiming`") < at("## Others") &&
               at("## Others") < at("`tiny`")));
  CATCH_CHECK_THAT(row, Contains("6 of 6 runs, less than 0.1 core-hours"));
  const auto page = read_file(driver.results() / "index.html");
  CATCH_CHECK_THAT(page, Contains("Is DIFF &lt;better&gt;?") &&
                             Contains("href=\"claiming/default/report.html\"") &&
                             Contains("<h2>Loss | here</h2>") && Contains("DIFF has a lower loss"));
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "<script"}) {
    CATCH_CHECK_THAT(page, !Contains(remote));
  }

  // In a fresh clone the runs are not there; what was committed stands.
  fs::remove_all(driver.results() / "runs");
  CATCH_CHECK(driver.call({"report", "--all"}).code == 0);
  CATCH_CHECK(read_file(driver.results() / "README.md") == readme);
  CATCH_CHECK(read_file(driver.results() / "index.html") == page);

  // So does a report from before there were summaries.
  fs::remove(driver.results() / "claiming" / "default" / "summary.json");
  CATCH_CHECK(driver.call({"report", "--all"}).code == 0);
  CATCH_CHECK_THAT(
      read_file(driver.results() / "README.md"),
      Contains("](claiming/default/table.md)<br>`claiming`, preset default, 6 of 6 runs"));
}

CATCH_TEST_CASE("a bundle has everything inside that its report links to, but for the runs") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"report", "tiny", "--bundle"}, 2).err, Contains("is finished"));
  CATCH_REQUIRE(driver.sweep().code == 0);
  const Answer answer = driver.call({"report", "tiny", "--bundle"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("tiny.bundle.html"));
  const auto page = read_file(driver.output() / "report.html");
  const auto bundle = read_file(driver.output() / "tiny.bundle.html");
  for (const char* name : {"table.csv", "table.tex", "runs.json"}) {
    CATCH_CHECK_THAT(bundle, Contains(concat("download=\"", name, "\"")) &&
                                 Contains(base64(read_file(driver.output() / name))));
  }
  static const std::regex kLink(" (?:href|src)=\"([^\"]{0,5})");
  CATCH_CHECK(std::regex_search(page, std::regex(" href=\"\\.\\./\\.\\./runs")));
  for (std::sregex_iterator link(bundle.begin(), bundle.end(), kLink), none; link != none; ++link) {
    CATCH_CHECK((*link)[1].str() == "data:");
  }
  const auto id = page.substr(page.find("runs/") + 5, 16);
  CATCH_CHECK_THAT(bundle, Contains(concat("<code>", id, "</code>")));

  // A reference without its runs is bundled as it is.
  fs::remove_all(driver.results() / "runs");
  fs::remove(driver.output() / "tiny.bundle.html");
  CATCH_CHECK(driver.call({"report", "tiny", "--bundle"}).code == 0);
  CATCH_CHECK(read_file(driver.output() / "tiny.bundle.html") == bundle);
}

CATCH_TEST_CASE("what is called NAME.yaml and is no file is passed over, and named") {
  const Driver driver;
  const auto folder = driver.project() / "experiments";
  fs::create_symlink("nowhere", folder / "dangling.yaml");
  fs::create_symlink("loop.yaml", folder / "loop.yaml");
  fs::create_directory(folder / "folder.yaml");
  fs::create_symlink("user@host.123:4", folder / ".#tiny.yaml");  // an editor's lock
  driver.write("experiments/._tiny.yaml", "\x01\x02");
  const Answer answer = driver.call({"report", "--all"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("0 of 1 experiments have results"));
  for (const char* name : {"dangling.yaml", "loop.yaml", "folder.yaml"}) {
    CATCH_CHECK_THAT(answer.err, Contains(concat(name, " is skipped")));
  }
  CATCH_CHECK_THAT(answer.err, !Contains("._tiny") && !Contains(".#tiny"));
  CATCH_CHECK(driver.call({"list", "experiments"}).out.find("dangling") == std::string::npos);
  CATCH_CHECK_THAT(driver.call({"sweep", "all", "--dry-run"}, 0).err,
                   Contains("folder.yaml is skipped"));
}

CATCH_TEST_CASE("the smoke preset is no result") {
  const Driver driver;
  driver.write("experiments/claiming.yaml",
               std::string(kClaiming) + "presets: {default: {}, smoke: {sweep: {seed: [0, 1]}}}\n");
  CATCH_REQUIRE(driver.call({"sweep", "claiming", "preset=smoke"}).code == 0);
  fs::remove_all(driver.results() / "runs");
  CATCH_CHECK_THAT(driver.call({"report", "--all"}).out,
                   Contains("0 of 2 experiments have results"));
}

CATCH_TEST_CASE("a damaged summary or record is named") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  fs::remove_all(driver.results() / "runs");
  const auto summary = driver.output() / "summary.json";
  for (const char* damaged :
       {"{}", R"({"runs": 3, "answers": []})",
        R"({"runs": {"planned": 6, "finished": 6}, "answers": [3]})",
        R"({"runs": {"planned": 6, "finished": 6}, "answers": [], "best": 3})"}) {
    write_file_atomically(summary, damaged);
    CATCH_CHECK_THAT(driver.call({"report", "--all"}, 2).err, Contains("summary.json is damaged"));
  }
  fs::remove(summary);
  write_file_atomically(driver.output() / "runs.json", R"({"runs": [{"status": 3}]})");
  CATCH_CHECK_THAT(driver.call({"report", "--all"}, 2).err, Contains("runs.json is damaged"));
}

CATCH_TEST_CASE("report writes one experiment's report as plot does") {
  const Driver driver;
  CATCH_CHECK(driver.call({"report", "tiny"}).code == 2);
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto tables = driver.tables();
  fs::remove_all(driver.output());
  CATCH_CHECK(driver.call({"report", "tiny"}).code == 0);
  CATCH_CHECK(driver.tables() == tables);
  CATCH_CHECK_THAT(driver.call({"report"}).err, Contains("expected an experiment"));
  CATCH_CHECK_THAT(driver.call({"report", "tiny", "--all"}).err, Contains("expected one of them"));
  const auto elsewhere = (driver.project() / "elsewhere").string();
  CATCH_CHECK(driver.call({"report", "--all", "results=" + elsewhere}).code == 0);
  CATCH_CHECK(fs::exists(elsewhere + "/README.md"));
}

}  // namespace
}  // namespace difflab
