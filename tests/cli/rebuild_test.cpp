// `difflab report --from`: a committed folder is enough.
#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

constexpr const char* kDrawn = R"(# @package _global_
title: Is DIFF better?
question: Does DIFF have a lower loss?
baseline: transformer
sweep: {model: [transformer, diff], seed: range(3)}
claims:
  - {text: DIFF has a lower loss, metric: valid_loss, variant: diff, expect: lower}
tables:
  - {name: table, rows: model, columns: [parameters, valid_loss]}
figures:
  - {name: loss, mark: interval, y: model, x: valid_loss}
  - {name: curve, mark: line, x: step, y: valid_loss, color: model}
)";

std::map<std::string, std::string> bytes_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

CATCH_TEST_CASE("a report is written again without its runs and without its experiment") {
  const Driver driver;
  driver.write("experiments/drawn.yaml", kDrawn);
  CATCH_REQUIRE(driver.call({"sweep", "drawn"}).code == 0);
  const auto from = driver.results() / "drawn" / "default";
  const auto to = driver.project() / "else where" / "again";
  const auto before = bytes_in(from);
  fs::remove_all(driver.results() / "runs");
  fs::remove(driver.project() / "experiments" / "drawn.yaml");
  const Answer answer = driver.call({"report", "--from", from.string() + "/", "--to", to}, 0);
  CATCH_CHECK(before.size() >= 10);
  CATCH_CHECK((bytes_in(to) == before));
  CATCH_CHECK_THAT(answer.out, Contains((to / "table.{md,csv,tex}").string()) &&
                                   Contains("validation loss") && !Contains("partial"));
  CATCH_CHECK(entries_in(to.parent_path()) == 1);

  // An empty folder will do as well as a new one.
  fs::create_directories(driver.project() / "empty");
  CATCH_CHECK(driver.call({"report", "--from", to, "--to", driver.project() / "empty"}).code == 0);
  CATCH_CHECK((bytes_in(driver.project() / "empty") == before));
}

CATCH_TEST_CASE("what cannot be written again leaves nothing behind") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto from = driver.output().string();
  const auto to = (driver.project() / "again").string();
  const auto refused = [&](const std::vector<std::string>& arguments, const char* expected) {
    std::vector<std::string> all = {"report"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    CATCH_CHECK_THAT(driver.call(all, 2).err, Contains(expected));
    CATCH_CHECK_FALSE(fs::exists(to));
  };
  refused({"--from", from}, "--from and --to belong together");
  refused({"--to", to}, "--from and --to belong together");
  refused({"tiny", "--from", from, "--to", to}, "cannot be combined with an experiment");
  refused({"--all", "--from", from, "--to", to}, "an experiment or --all");
  refused({"--from", from, "--to", to, "style.sise=8"}, "style.sise");
  refused({"--from", from, "--to", to, "train.steps=8"}, "train");
  refused({"--from", from, "--to", to, "style.size=0"}, "style.size");
  refused({"--from", to + "x", "--to", to}, "holds no report");
  refused({"--from", from, "--to", from}, " is ");
  refused({"--from", from, "--to", from + "/../default/deeper"}, "lies in");
  CATCH_CHECK_FALSE(fs::exists(from + "/deeper"));
  driver.write("full/file", "");
  refused({"--from", from, "--to", driver.project() / "full"}, "is not empty");
  refused({"--from", from, "--to", driver.project() / "full" / "file"}, "is not empty");
  const auto entries = entries_in(driver.project());
  write_file_atomically(from + "/observations.json", "{");
  refused({"--from", from, "--to", to}, "observations.json is damaged");
  fs::remove(from + "/observations.json");
  refused({"--from", from, "--to", to}, "observations.json is missing");
  CATCH_CHECK(entries_in(driver.project()) == entries);
}

}  // namespace
}  // namespace difflab
