// Rules about where the runs of a reference come from: one clean commit, one idle machine.
#include "referee/good_results.h"
#include "support/catch.h"

namespace difflab::referee {
namespace {

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
  // What some runs tell does not stand for those that are silent.
  const auto silent = [&](const char* key, const Json& value) {
    return against([&](Run& run) {
      if (run.seed == 3 && run.model == "diff") run.provenance[key] = value;
    });
  };
  CATCH_CHECK_THAT(silent("commit", nullptr),
                   Contains("contrast runs.json: 4 of 64 runs do not name their commit; others "
                            "name 0123456789ab"));
  CATCH_CHECK_THAT(silent("commit", ""), Contains("4 of 64 runs do not name their commit"));
  CATCH_CHECK_THAT(silent("cpu", nullptr), Contains("4 of 64 runs do not name their cpu"));
  CATCH_CHECK_THAT(silent("dirty", nullptr), Contains("4 of 64 runs do not say whether"));
  CATCH_CHECK_THAT(silent("earlier_sessions", {{{"cpu", "AMD EPYC 7003"}, {"dirty", false}}}),
                   Contains("4 of 64 runs do not name their commit"));
  CATCH_CHECK_THAT(against([](Run& run) {
                     if (run.seed == 3) run.provenance = Json::object();
                   }),
                   Contains("8 of 64 runs do not name their commit"));
}

// reproduced.json of a reference: its first three runs, with the same numbers.
struct MadeAgain : GoodResults {
  Json session(const char* of = "contrast") const {
    const auto runs = Json::parse(read_file(folder(of) / "runs.json")).at("runs");
    return {{"commit", "0123456789abcdef0123"},
            {"dirty", false},
            {"cpu", "AMD EPYC 7003"},
            {"libtorch", "2.13.0"},
            {"runs", {runs[0], runs[1], runs[2]}}};
  }
  std::string with(const std::vector<Json>& sessions, const char* of = "contrast") const {
    const Json file{{"format", 2}, {"sessions", sessions}};
    write_file_atomically(folder(of) / "reproduced.json", file.dump());
    return against("provenance");
  }
};

CATCH_TEST_CASE("provenance: a reference of another commit counts if its runs were made again") {
  MadeAgain results;
  results.each_run = [](auto& run) {
    if (run.seed < 100) run.provenance["commit"] = "fedcba98765432100123";
  };
  results.write();
  CATCH_REQUIRE_THAT(results.against("provenance"), Contains("its commit is"));
  const auto good = results.session();
  const auto changed = [&](const Json& changes) {
    auto session = good;
    session.merge_patch(changes);
    return results.with({session});
  };
  CATCH_CHECK(results.with({good}) == "");
  CATCH_CHECK_THAT(changed({{"commit", "another"}}), Contains("its commit is"));
  CATCH_CHECK_THAT(changed({{"dirty", true}}), Contains("its commit is"));
  CATCH_CHECK_THAT(changed({{"runs", Json::array()}}), Contains("its commit is"));
  const auto& runs = good.at("runs");
  CATCH_CHECK_THAT(changed({{"runs", {runs[0], runs[1]}}}), Contains("its commit is"));
  CATCH_CHECK_THAT(changed({{"runs", {runs[0], runs[1], runs[1]}}}), Contains("its commit is"));
  // One session of several is enough.
  auto another = good;
  another["commit"] = "another";
  CATCH_CHECK(results.with({another, good}) == "");
  CATCH_CHECK(results.with({good, another}) == "");
  // Two references that are the same under a third commit link theirs.
  auto tuning = results.session("tuning");
  tuning["commit"] = "another";
  results.with({tuning}, "tuning");
  CATCH_CHECK_THAT(results.with({}), Contains("its commit is"));
  CATCH_CHECK(results.with({another}) == "");

  // Numbers are compared with those of today, whatever a record says of itself.
  auto other = good;
  other["runs"][1]["metrics"]["needle_accuracy"] = 0.123;
  other["runs"][1]["confirms"] = true;
  CATCH_CHECK_THAT(results.with({other}), Contains("its commit is"));
  other = good;
  other["runs"][1]["id"] = "nobody";
  CATCH_CHECK_THAT(results.with({other}), Contains("its commit is"));
  other = good;
  other["runs"][1].erase("metrics");
  CATCH_CHECK_THAT(results.with({other}), Contains("its commit is"));
  for (const Json& odd : {Json(1), Json::array({1}), Json{{"runs", Json::array({1, 2, 3})}}}) {
    CATCH_CHECK_THAT(results.with({odd}), Contains("its commit is"));
  }
  results.edit("reproduced.json", [](Json& json) { json = Json::array({1}); });
  CATCH_CHECK_THAT(results.against("provenance"), Contains("its commit is"));
}

CATCH_TEST_CASE("provenance: a reference of another processor counts if this one confirms it") {
  MadeAgain results;
  results.each_run = [](auto& run) {
    if (run.seed < 100) run.provenance["cpu"] = "Intel Xeon";
  };
  results.write();
  CATCH_REQUIRE_THAT(results.against("provenance"), Contains("its processor is"));
  auto session = results.session();
  CATCH_CHECK(results.with({session}) == "");
  // There a run is one more seed: anywhere among the others, but not beyond.
  auto& metrics = session["runs"][0]["metrics"];
  const auto steps = metrics.at("steps_to_found").get<int>();
  metrics["steps_to_found"] = steps + 5;
  CATCH_CHECK(results.with({session}) == "");
  metrics["steps_to_found"] = 3 * steps;
  CATCH_CHECK_THAT(results.with({session}), Contains("its processor is"));
  metrics.erase("steps_to_found");  // what it is reported for has to be there
  CATCH_CHECK_THAT(results.with({session}), Contains("its processor is"));
  session = results.session();
  session["cpu"] = "a third one";
  CATCH_CHECK_THAT(results.with({session}), Contains("its processor is"));
}

CATCH_TEST_CASE("provenance: a run that differs from itself") {
  const GoodResults results;
  const auto twin = Json::parse(read_file(results.folder("tuning") / "runs.json"))["runs"][0];
  results.edit("runs.json", [&](Json& json) {
    json["runs"][0]["id"] = twin.at("id");
    json["runs"][0]["metrics"] = twin.at("metrics");
    json["runs"][0]["metrics"]["train_seconds"] = 7;
  });
  CATCH_CHECK(results.against("provenance") == "");
  // What a report reads off curves depends on what it asks of them.
  results.edit("runs.json", [](Json& json) { json["runs"][0]["metrics"]["learned"] = 0; });
  CATCH_CHECK(results.against("provenance") == "");
  results.edit("runs.json", [](Json& json) { json["runs"][0]["status"] = "diverged"; });
  CATCH_CHECK_THAT(results.against("provenance"),
                   Contains("is finished here, and diverged in contrast"));
  results.edit("runs.json", [](Json& json) { json["runs"][0]["status"] = "finished"; });
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
    const auto run = Json::parse(read_file(results.folder("contrast") / "runs.json"))["runs"][0];
    auto tuning = Json::parse(read_file(results.folder("tuning") / "runs.json"));
    tuning["runs"][0]["id"] = run.at("id");
    tuning["runs"][0]["metrics"] = run.at("metrics");
    tuning["runs"][0]["metrics"]["steps_to_found"] =
        run.at("metrics").at("steps_to_found").get<double>() + later;
    tuning["runs"][0]["provenance"]["cpu"] = processor;
    write_file_atomically(results.folder("tuning") / "runs.json", tuning.dump());
    return results.against("provenance");
  };
  CATCH_CHECK_THAT(objects(5, "AMD EPYC 7003"), Contains("has another steps_to_found in contrast"));
  CATCH_CHECK_THAT(objects(5, "another one"), !Contains("has another steps_to_found"));
  CATCH_CHECK_THAT(objects(500, "another one"), Contains("has another steps_to_found in contrast"));
}

CATCH_TEST_CASE("wall_clock: seconds of runs that shared a machine") {
  GoodResults results;
  results.contrast = [](report::Study& study) {
    study.report.tables[0].columns = {"train_seconds"};  // beside others it would be left out
    report::IntervalConfig interval;
    interval.name = "seconds";
    interval.y = "model";
    interval.x = "train_seconds";
    interval.facet = "train.loss.per";
    interval.where.entries = {{"model.embedding_std", "1"}};
    study.report.figures.emplace_back(interval);
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
