// Rules about where the runs of a reference come from: one clean commit, one idle machine.
#include <functional>

#include "referee/good_results.h"
#include "support/catch.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

using Catch::Contains;
using Run = GoodResults::Run;

CATCH_TEST_CASE("provenance: uncommitted changes, several commits, several machines") {
  const auto against = [](const std::function<void(Run&)>& change) {
    GoodResults results;
    results.each_run = change;
    results.write();
    return results.against("provenance");
  };
  CATCH_CHECK_THAT(against([](Run& run) { run.provenance["dirty"] = run.seed == 3; }),
                   Contains("contrast runs.json: runs of a tree with uncommitted changes") &&
                       !Contains("tuning"));
  CATCH_CHECK_THAT(against([](Run& run) {
                     if (run.seed == 3) run.provenance["commit"] = "fedcba98765432100123";
                   }),
                   Contains("runs of several commits: 0123456789ab, fedcba987654"));
  CATCH_CHECK_THAT(against([](Run& run) {
                     if (run.seed == 3) run.provenance["cpu"] = "Intel Xeon";
                   }),
                   Contains("runs of several values of cpu: AMD EPYC 7003, Intel Xeon"));
  const auto apart = against([](Run& run) {
    if (run.seed >= 100) run.provenance["commit"] = "fedcba98765432100123";
    if (run.seed >= 100) run.provenance["cpu"] = "Intel Xeon";
  });
  CATCH_CHECK_THAT(apart, Contains("its commit is fedcba987654; 1 of 2 references come from 0123"));
  CATCH_CHECK_THAT(apart, Contains("its processor is Intel Xeon; 1 of 2 references ran on AMD"));
  CATCH_CHECK_THAT(against([](Run& run) { run.provenance = Json::object(); }),
                   Contains("cannot be checked: no run names its commit"));
}

CATCH_TEST_CASE("provenance: a reference of another commit counts if its runs were made again") {
  GoodResults results;
  results.each_run = [](Run& run) {
    if (run.seed < 100) run.provenance["commit"] = "fedcba98765432100123";
  };
  results.write();
  CATCH_REQUIRE_THAT(results.against("provenance"), Contains("its commit is"));
  const auto record = [&](const Json& changes) {
    Json all{{"commit", "0123456789abcdef0123"}, {"dirty", false}, {"runs", Json::array()}};
    for (const char* id : {"a", "b", "c"}) {
      all["runs"].push_back(
          {{"id", id}, {"numbers", 20}, {"differences", Json::array()}, {"confirms", true}});
    }
    all.merge_patch(changes);
    write_file_atomically(results.folder("contrast") / "reproduced.json", all.dump());
    return results.against("provenance");
  };
  CATCH_CHECK(record(Json::object()) == "");
  CATCH_CHECK_THAT(record({{"commit", "another"}}), Contains("its commit is"));
  CATCH_CHECK_THAT(record({{"dirty", true}}), Contains("its commit is"));
  CATCH_CHECK_THAT(record({{"runs", Json::array()}}), Contains("its commit is"));
  const Json one{{"id", "a"}, {"numbers", 20}, {"confirms", true}};
  const Json nothing{{"id", "a"}, {"numbers", 0}, {"confirms", true}};
  const Json other{{"id", "a"}, {"numbers", 20}, {"confirms", false}};
  CATCH_CHECK_THAT(record({{"runs", {one, one}}}), Contains("its commit is"));
  CATCH_CHECK_THAT(record({{"runs", {one, one, nothing}}}), Contains("its commit is"));
  CATCH_CHECK_THAT(record({{"runs", {one, one, other}}}), Contains("its commit is"));
  CATCH_CHECK(record({{"runs", {one, one, one}}}) == "");
  results.edit("reproduced.json", [](Json& json) { json = Json::array({1}); });
  CATCH_CHECK_THAT(results.against("provenance"), Contains("its commit is"));
}

CATCH_TEST_CASE("provenance: a reference of another processor counts if this one confirms it") {
  GoodResults results;
  results.each_run = [](Run& run) {
    if (run.seed < 100) run.provenance["cpu"] = "Intel Xeon";
  };
  results.write();
  CATCH_REQUIRE_THAT(results.against("provenance"), Contains("its processor is"));
  const auto record = [&](const std::string& cpu) {
    Json all{{"commit", "0123456789abcdef0123"}, {"dirty", false}, {"cpu", cpu}};
    for (const char* id : {"a", "b", "c"}) {
      all["runs"].push_back({{"id", id}, {"numbers", 20}, {"confirms", true}});
    }
    write_file_atomically(results.folder("contrast") / "reproduced.json", all.dump());
    return results.against("provenance");
  };
  CATCH_CHECK(record("AMD EPYC 7003") == "");
  CATCH_CHECK_THAT(record("a third one"), Contains("its processor is"));
}

CATCH_TEST_CASE("provenance: a run that differs from itself") {
  const GoodResults results;
  const auto tuning = Json::parse(read_file(results.folder("tuning") / "runs.json"));
  const auto& twin = tuning.at("runs").at(0);
  results.edit("runs.json", [&](Json& json) {
    json["runs"][0]["id"] = twin.at("id");
    json["runs"][0]["metrics"] = twin.at("metrics");
    json["runs"][0]["metrics"]["train_seconds"] = 7;
  });
  CATCH_CHECK(results.against("provenance") == "");
  results.edit("runs.json",
               [](Json& json) { json["runs"][0]["metrics"]["needle_accuracy"] = 0.5; });
  CATCH_CHECK_THAT(results.against("provenance"),
                   Contains("tuning runs.json: run " + twin.at("id").get<std::string>() +
                            " has another needle_accuracy in contrast"));
}

CATCH_TEST_CASE("provenance: a run that differs from itself as another processor makes it") {
  GoodResults results;
  const auto objects = [&](double later, const char* processor) {
    results.write();
    const auto contrast = Json::parse(read_file(results.folder("contrast") / "runs.json"));
    const auto& run = contrast.at("runs").at(0);
    auto tuning = Json::parse(read_file(results.folder("tuning") / "runs.json"));
    tuning["runs"][0]["id"] = run.at("id");
    tuning["runs"][0]["metrics"] = run.at("metrics");
    tuning["runs"][0]["metrics"]["steps_to_found"] =
        run.at("metrics").at("steps_to_found").get<double>() + later;
    tuning["runs"][0]["provenance"]["cpu"] = processor;
    write_file_atomically(results.folder("tuning") / "runs.json", tuning.dump());
    return results.against("provenance");
  };
  const std::string here = "AMD EPYC 7003";
  CATCH_CHECK_THAT(objects(5, here.c_str()), Contains("has another steps_to_found in contrast"));
  CATCH_CHECK_THAT(objects(5, "another one"), !Contains("has another steps_to_found"));
  CATCH_CHECK_THAT(objects(500, "another one"), Contains("has another steps_to_found in contrast"));
}

CATCH_TEST_CASE("wall_clock: seconds of runs that shared a machine") {
  GoodResults results;
  results.contrast = [](report::Study& study) {
    study.report.tables[0].columns = {"train_seconds"};  // beside others it would be left out
    report::BarConfig bar;
    bar.name = "seconds";
    bar.x = "model";
    bar.y = "train_seconds";
    bar.color = "model.embedding_std";
    bar.facet = "train.loss.per";
    study.report.figures.emplace_back(bar);
  };
  results.each_run = [&](Run& run) {
    run.metrics["train_seconds"] = 60;
    run.provenance["started"] = concat("2026-01-0", run.seed % 8 + 1, "T00:00:00Z");
    run.provenance["finished"] = concat("2026-01-0", run.seed % 8 + 1, "T00:01:00Z");
  };
  results.write();
  CATCH_CHECK_THAT(results.against("wall_clock"),
                   Contains("contrast table.csv: train_seconds of runs that shared a machine: ") &&
                       Contains("contrast figures/seconds.csv: train_seconds of runs that shared"));
  int hour = 0;
  results.each_run = [&](Run& run) {
    run.metrics["train_seconds"] = 60;
    const auto day =
        concat("2026-0", hour / 28 + 1, "-", hour % 28 + 1 < 10 ? "0" : "", hour % 28 + 1);
    run.provenance["started"] = day + "T00:00:00Z";
    run.provenance["finished"] = day + "T00:01:00Z";
    ++hour;
  };
  results.write();
  CATCH_CHECK_THAT(results.against("wall_clock"),
                   Contains("cannot be checked: train_seconds: no run records whether"));
  const auto with_others = [&, apart = results.each_run](double busiest) {
    hour = 0;
    results.each_run = [apart, busiest](Run& run) {
      apart(run);
      run.provenance["cores_busy_elsewhere"] = run.seed == 5 ? busiest : 0.02;
    };
    results.write();
    return results.against("wall_clock");
  };
  CATCH_CHECK(with_others(0.1).empty());
  CATCH_CHECK_THAT(with_others(0.75),
                   Contains("shared a machine: ") && Contains(" beside 0.75 busy cores"));
}

}  // namespace
}  // namespace difflab::referee
