// Unequal sizes are refused before anything runs, and too few seeds are said.
#include <cstdio>

#include "cli/driver.h"
#include "config/compose/compose.h"

namespace difflab {
namespace {

using testing::Driver;

constexpr const char* kUnequal = R"(# @package _global_
title: Is a wider model better?
baseline: 64
sweep:
  model.d_model: [64, 128]
  seed: range(6)
tables:
  - {name: table, rows: model.d_model, columns: [parameters, valid_loss]}
)";

CATCH_TEST_CASE("compared models of unequal size are refused with their sizes, or explained") {
  const Driver driver;
  driver.write("experiments/wider.yaml", kUnequal);
  for (const auto& arguments : {std::vector<std::string>{"sweep", "wider"},
                                std::vector<std::string>{"sweep", "wider", "--dry-run"}}) {
    CATCH_CHECK_THAT(driver.call(arguments, 2).err,
                     Contains("wider: the models compared along model.d_model differ") &&
                         Contains("expected at most 1 %") && Contains("  128\n") &&
                         Contains("unmatched: reason"));
  }
  // As a share of the smaller one, of the sizes that it lists itself.
  const auto refusal = driver.call({"sweep", "wider"}).err;
  std::vector<double> sizes;
  for (const char* width : {"  64\n", "  128\n"}) {
    const auto end = refusal.find(width);
    CATCH_REQUIRE(end != refusal.npos);
    auto number = refusal.substr(refusal.rfind('\n', end) + 1, end - refusal.rfind('\n', end) - 1);
    std::erase_if(number, [](char c) { return c < '0' || c > '9'; });
    sizes.push_back(std::stod(number));
  }
  char apart[32];
  std::snprintf(apart, sizeof apart, "differ by %.1f %%", 100 * (sizes[1] - sizes[0]) / sizes[0]);
  CATCH_CHECK_THAT(refusal, Contains(apart));
  CATCH_CHECK(driver.workers.starts().empty());
  CATCH_CHECK(driver.call({"params", "wider"}).code == 0);  // the tool that helps still counts

  driver.write("experiments/wider.yaml",
               std::string(kUnequal) + "unmatched: width is the point.\n");
  CATCH_CHECK_THAT(driver.call({"sweep", "wider"}, 0).out,
                   Contains("sizes      not matched: width is the point."));
  CATCH_CHECK_THAT(read_file(driver.results() / "wider" / "default" / "table.md"),
                   Contains("The sizes of the models are not matched: width is the point."));
}

CATCH_TEST_CASE("models are compared at equal values of the other axes, so sizes may be an axis") {
  const Driver driver;
  driver.write("experiments/sizes.yaml", R"(# @package _global_
title: Does it scale?
baseline: transformer
sweep:
  model: [transformer, diff]
  model.d_model: [64, 128]
  seed: range(2)
tables:
  - {name: table, rows: [model, model.d_model], columns: [valid_loss]}
)");
  driver.call({"sweep", "sizes", "--dry-run"}, 0);
}

CATCH_TEST_CASE("too few seeds to resolve an effect are said where something is compared") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "--dry-run"}).out,
                   Contains("warning: 3 seeds are too few for a verdict; 'seed=range(8)' has "
                            "the 8 that it needs"));
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "seed=0", "--dry-run"}).out,
                   Contains("1 seed is too few for a verdict"));
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "seed=range(8)", "--dry-run"}).out,
                   !Contains("warning"));
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "baseline=''", "--dry-run"}).out,
                   !Contains("warning"));
}

CATCH_TEST_CASE("as many seeds are asked for before the runs as the table asks for after them") {
  const Driver driver;
  const std::vector<std::pair<std::string, std::string>> kRates{
      {"1e-3", "8"}, {"1e-3,2e-3,3e-3,4e-3", "9"}, {"1,2,3,4,5,6,7", "10"}};
  for (const auto& [rates, needed] : kRates) {
    const std::vector<std::string> words{"sweep", "tiny", concat("train.lr=", rates), "seed=0,1"};
    auto dry = words;
    dry.push_back("--dry-run");
    CATCH_CHECK_THAT(driver.call(dry).out,
                     Contains(concat("'seed=range(", needed, ")' has the ", needed, " that")));
    CATCH_CHECK_THAT(driver.call(words).out, Contains(concat("verdict; ", needed, " are needed")));
  }
}

CATCH_TEST_CASE("the models of every experiment match, or the experiment says why not") {
  ::setenv("DIFFLAB_ROOT", DIFFLAB_ROOT, 1);
  config::Library library(config::SearchPath::of_project(DIFFLAB_ROOT));
  const auto all = library.options("experiment");
  CATCH_REQUIRE(all.size() >= 29);
  for (const auto& experiment : all) {
    Process process({DIFFLAB_BUILD "/difflab", "sweep", experiment, "--dry-run", "preset=smoke"});
    Driver::finish(process, 0);
  }
}

CATCH_TEST_CASE("every claim names variants of its experiment and something to compare with") {
  const Driver driver;
  driver.write("experiments/bare.yaml", R"(# @package _global_
sweep: {model: [transformer, diff]}
claims: [{text: DIFF is better, metric: valid_loss, variant: diff, expect: lower}]
tables: [{columns: [valid_loss]}]
)");
  CATCH_CHECK_THAT(driver.call({"sweep", "bare", "--dry-run"}).err,
                   Contains("claims[0] names nothing to compare with"));
}

}  // namespace
}  // namespace difflab
