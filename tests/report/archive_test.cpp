// A report's folder alone is enough to write the report again.
#include "report/archive/rebuild.h"
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  }
  return files;
}

// All that a report can hold: every kind of figure, metrics made from cells and from curves,
// claims, texts, runs that diverged, failed or never began.
void make_rich(StudyBuilder& builder) {
  fill_like_headline(builder);
  auto& study = builder.study;
  study.prediction = "DIFF finds more.";
  study.notes = "Made up.";
  study.unmatched = "one has more heads";
  study.command = "./difflab sweep headline";
  study.report = headline_report();
  for (const auto& figure : other_figures()) study.report.figures.push_back(figure);
  auto rates = of_yaml<ScatterConfig>("name: rates, x: train.lr, y: valid_loss, color: model");
  study.report.figures.emplace_back(rates);
  study.report.figures.emplace_back(of_yaml<LineConfig>(
      "name: lambda, source: lambda, x: step, y: lambda, color: layer, facet: model"));
  study.report.derived = {of_yaml<EffectiveLengthConfig>(
                              "name: effective_length, source: needle_grid, where: {depth: 50}"),
                          of_yaml<BelowConfig>("name: is_negative, value: lambda.0")};
  study.report.learned = {.metric = "needle_accuracy", .at_least = 0.9, .in_a_row = 2};
  study.report.tables[0].columns.insert(study.report.tables[0].columns.end(),
                                        {"learned", "steps_to_learn", "effective_length"});
  study.report.claims = {of_yaml<ClaimConfig>(
      "text: DIFF finds more needles, metric: needle_accuracy, variant: diff, withdrawn: too few")};
  const auto run = study.runs[0].directory.path / "result.json";
  Json result = Json::parse(read_file(run));
  result["evaluations"]["sample_text"] = {
      {"samples", Json::array({Json{{"prompt", "To be"}, {"text", " or not"}}})}};
  result["evaluations"]["cold"] = {
      {"samples", Json::array({Json{{"prompt", "A"}, {"text", "b"}, {"step", 200}}})}};
  result["evaluations"]["count_model"] = {{"samples", 4}};  // no text
  result["evaluations"]["choices"] = {{"cut_contexts", 3}};
  result["evaluations"]["needle_grid"]["cut_contexts"] = 1;
  result["looks"] = Json::parse(R"({"every": 5, "lambda.0": [0.2, -1.5e-05, null]})");
  result["metrics"]["lambda.0"] = -0.5;
  write_file_atomically(run, result.dump());
}

// A report whose runs are gone.
struct Reported {
  Reported() : at(builder.study.output) {
    make_rich(builder);
    write_report(builder.study);
    before = files_in(at);
    fs::remove_all(builder.folder() / "runs");
  }
  fs::path again() {
    const auto to = builder.folder() / "headline" / "again";
    const auto archive = read_archive(at, to);
    write_report(archive.study, archive.frame);
    return to;
  }
  void edit(const char* file, const std::function<void(Json&)>& change) const {
    Json json = Json::parse(read_file(at / file));
    change(json);
    write_file_atomically(at / file, json.dump());
  }
  std::string refusal() {
    return testing::error_of([&] { read_archive(at, builder.folder() / "to"); });
  }

  StudyBuilder builder;
  fs::path at;
  std::map<std::string, std::string> before;
};

CATCH_TEST_CASE("a report is written again from its folder alone, byte for byte") {
  Reported reported;
  const auto after = files_in(reported.again());
  CATCH_REQUIRE(reported.before.size() > 30);
  CATCH_CHECK(reported.before.count("figures/when.vl.json") == 1);
  CATCH_CHECK_THAT(reported.before.at("runs.json"), Contains("\"lambda.0\":[0.2,-1.5e-05,null]"));
  CATCH_CHECK_THAT(reported.before.at("figures/lambda.vl.json"),
                   Contains("\"layer\"") && !Contains("\"null\""));
  CATCH_CHECK(after.size() == reported.before.size());
  for (const auto& [name, bytes] : reported.before) {
    CATCH_INFO(name);
    CATCH_REQUIRE(after.count(name) == 1);
    CATCH_CHECK((after.at(name) == bytes));
  }
}

CATCH_TEST_CASE("an evaluation whose name has a dot has cells, too") {
  FrameRun run;
  run.result["evaluations"]["sparse_0.1"]["cells"] = Json::array({Json{{"n", 3}}});
  CATCH_CHECK(cells_of(run, "sparse_0.1", {}).size() == 1);
  CATCH_CHECK(cells_of(run, "sparse_0", {}).empty());
}

CATCH_TEST_CASE("what a report keeps of its runs is what it shows") {
  Reported reported;
  const auto kept = reported.before.at(kObservationsFile);
  CATCH_CHECK_THAT(kept, Contains("or not"));
  CATCH_CHECK_THAT(reported.before.at("report.html"),
                   Contains(", cold</summary>\n<p class=\"muted\">step 200</p>"));
  CATCH_CHECK_THAT(kept, !Contains("samples\",\"n\""));  // a key of the grid that nothing asks for
  // The configurations are equal but for seed and model, and stand there once.
  CATCH_CHECK(kept.find("\"lr\":0.003") == kept.rfind("\"lr\":0.003"));
  // Who has learned is asked of the curves, also where no figure draws them.
  StudyBuilder there;
  make_rich(there);
  auto& report = there.study.report;
  report.figures.clear();
  report.derived.clear();
  CATCH_CHECK_THAT(observations_text(there.study, frame_of(there.study)), Contains("\"curve\""));
  // Without figures, derived metrics and the question who has learned, no rows are kept.
  report = {};
  const auto bare = observations_text(there.study, frame_of(there.study));
  CATCH_CHECK_THAT(bare, !Contains("\"rows\"") && !Contains("\"curve\""));
}

CATCH_TEST_CASE("a report of older code is refused, with all that it lacks") {
  Reported reported;
  fs::remove(reported.at / kObservationsFile);
  CATCH_CHECK_THAT(reported.refusal(), Contains("observations.json is missing") &&
                                           !Contains("no metrics") && Contains("older difflab"));
  reported.edit("runs.json", [](Json& json) {
    for (Json& run : json["runs"]) run.erase("metrics");
  });
  CATCH_CHECK_THAT(reported.refusal(),
                   Contains("runs.json has no metrics of its runs; observations.json is missing"));
  fs::remove(reported.at / "runs.json");
  CATCH_CHECK_THAT(reported.refusal(), Contains("holds no report: runs.json is missing"));
}

CATCH_TEST_CASE("damaged or foreign files are refused, with their name") {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> damages = {
      {[](Json& json) { json["format"] = 2; }, "format is 2; expected 1"},
      {[](Json& json) { json["runs"].erase(0); }, "runs, runs.json "},
      {[](Json& json) { json["runs"][0]["id"] = "other"; }, "is other in observations.json"},
      {[](Json& json) { json["runs"][0]["config"]["train"] = 7; }, "does not fit runs.json"},
      {[](Json& json) { json["runs"][0]["axes"] = 3; }, "does not fit runs.json"},
      {[](Json& json) { json["runs"][0]["curve"]["rows"][0][0] = 99; }, "does not fit runs.json"},
      {[](Json& json) { json["study"].erase("report"); }, "does not fit runs.json"},
      {[](Json& json) { json["study"]["report"]["tabels"] = 1; }, "tabels"},
  };
  for (const auto& [damage, expected] : damages) {
    Reported reported;
    reported.edit(kObservationsFile, damage);
    CATCH_CHECK_THAT(reported.refusal(),
                     Contains(expected) && Contains((reported.at / kObservationsFile).string()));
  }
  Reported reported;
  for (const char* file : {kObservationsFile, "runs.json"}) {
    for (const char* bytes : {"{\"runs\": [", "", "[]", "\xff"}) {
      CATCH_INFO(file << ": " << bytes);
      write_file_atomically(reported.at / file, bytes);
      CATCH_CHECK_THAT(reported.refusal(), Contains(std::string(file) + " is damaged"));
    }
  }
}

}  // namespace
}  // namespace difflab::report
