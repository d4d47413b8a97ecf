#pragma once

#include "cli/driver.h"

namespace difflab::testing {

inline constexpr const char* kTunedStudy = R"(# @package _global_
title: Which model is better?
baseline: transformer
unmatched: they need not be
sweep:
  model: [transformer, diff]
  seed: range(2)
tune: {key: train.lr, values: [1e-3, 3e-3, 1e-2], seeds: 2}
claims:
  - {text: DIFF has a lower loss, metric: valid_loss, variant: diff, expect: lower}
tables:
  - {name: table, rows: model, columns: [parameters, train.lr, valid_loss]}
  - {name: other, rows: model, columns: [valid_loss]}
)";

// The best rate is the one in the middle of the grid.
inline constexpr const char* kInside = R"("lr: 0.003\n": -3)";
// It lies beyond the grid, and every value is better than the one below it.
inline constexpr const char* kBeyond =
    R"("lr: 0.003\n": -1, "lr: 0.01\n": -3, "lr: 0.03\n": -5, "lr: 0.1\n": -4)";
inline constexpr const char* kDiffIsLower = R"("name: diff\n": -5)";
// What a curve that lies lower than 0 does not do.
inline constexpr const char* kLearned = "+learned={metric: valid_loss, at_least: 0, in_a_row: 1}";

/// An experiment whose rate is tuned, with the fake worker: its losses are hashes of the
/// configuration between 1 and 2, with what is planted added to them.
struct TuningBench {
  explicit TuningBench(const std::string& losses, const std::string& more = "") {
    set(losses, more);
    driver.write("experiments/tuned.yaml", kTunedStudy);
  }
  void set(const std::string& losses, const std::string& more = "") {
    driver.workers.set(concat(R"({"loss": {)", losses, "}", more, "}"));
  }
  Answer sweep(std::vector<std::string> more = {}, std::optional<int> code = {}) const {
    more.insert(more.begin(), {"sweep", "tuned"});
    return driver.call(more, code);
  }
  // The only one there is, whatever overrides made of its name.
  std::filesystem::path output() const {
    return std::filesystem::directory_iterator(driver.results() / "tuned")->path();
  }
  Json report(const char* folder = "") const {
    return Json::parse(read_file(output() / folder / "runs.json")).at("runs");
  }
  Json variants() const {
    const auto text = read_file(output() / "observations.json");
    return Json::parse(text).at("study").at("tuned").at("variants");
  }
  std::set<std::string> rates_tried() const {
    std::set<std::string> rates;
    for (const auto& run : report("tuning")) rates.insert(run.at("axes").at("train.lr"));
    return rates;
  }
  /// Writes the report again from its folder alone: these files come out the same.
  void check_rebuilt(const std::vector<const char*>& files) const {
    const auto to = driver.project() / "again";
    CATCH_REQUIRE(driver.call({"report", "--from", output(), "--to", to}).code == 0);
    for (const char* file : files) CATCH_CHECK(read_file(to / file) == read_file(output() / file));
  }
  // Everything that was decided.
  std::string decisions() const {
    std::string all;
    for (const char* file : {"table.md", "table.csv", "summary.json", "tuning/table.md"}) {
      all += read_file(output() / file);
    }
    return all;
  }

  Driver driver;
};

/// A sweep that is killed whenever as many runs have ended decides what an undisturbed one does.
inline void check_killed(const std::string& losses, const std::string& knobs,
                         const std::vector<std::string>& words,
                         const std::vector<std::size_t>& ends) {
  const TuningBench undisturbed(losses, knobs);
  CATCH_REQUIRE(undisturbed.sweep(words).code == 0);
  const TuningBench bench(losses, concat(knobs, R"(, "steps": 5, "step_ms": 4)"));
  std::vector<std::string> killed{"sweep", "tuned", "launcher.workers=2"};
  killed.insert(killed.begin() + 2, words.begin(), words.end());
  bench.driver.kill_after(ends, killed);
  bench.sweep(words, 0);
  CATCH_CHECK(bench.decisions() == undisturbed.decisions());
  for (const auto& [run, times] : bench.driver.workers.ends()) CATCH_CHECK(times == 1);
}

}  // namespace difflab::testing
