// Tables whose values are spelled otherwise, look like LaTeX, or were not asked at all.
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

bool contains(const StudyBuilder& builder, const std::string& file, const std::string& part) {
  return read_file(builder.study.output / file).find(part) != std::string::npos;
}

CATCH_TEST_CASE("a table that names a commit says of how many runs none is known") {
  for (const char* silent :
       {R"({"commit": null, "dirty": null})", R"({"commit": ""})", R"({"host": "quiet"})",
        R"({"commit": "0123456789abcdef0123", "earlier_sessions": [{"commit": null}]})"}) {
    CATCH_INFO(silent);
    StudyBuilder builder;
    for (int seed = 0; seed < 3; ++seed) {
      builder.finished("diff", seed, {{"needle_accuracy", 0.9}});
      write_file_atomically(builder.study.runs.back().directory.path / "provenance.json",
                            seed == 1 ? silent : R"({"commit": "0123456789abcdef0123"})");
    }
    builder.table({"needle_accuracy"});
    write_report(builder.study);
    CATCH_CHECK(
        contains(builder, "table.md", "commit 0123456789ab; code without a commit (1 of 3 runs)"));
  }
}

CATCH_TEST_CASE("a row of LaTeX that begins with a bracket is no option of what stands before it") {
  StudyBuilder builder;
  builder.finished("[64]", 0, {{"needle_accuracy", 0.25}});
  builder.study.report.tables = {TableConfig()};
  builder.study.report.labels.entries.emplace_back("model", "[b]");
  write_report(builder.study);
  CATCH_CHECK(contains(builder, "table.tex", "\\toprule\n{}[b] & "));
  CATCH_CHECK(contains(builder, "table.tex", "\\midrule\n{}[64] & "));
}

CATCH_TEST_CASE("a baseline is the variant of its number, however it is spelled") {
  StudyBuilder builder;
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("1.0", seed, {{"needle_accuracy", 0.25}});
    builder.finished("4.0", seed, {{"needle_accuracy", 0.5}});
  }
  builder.table({"needle_accuracy"});
  builder.study.baseline = "1";
  write_report(builder.study);
  CATCH_CHECK(contains(builder, "table.paired.csv", "\n4.0,needle_accuracy,0.25"));
  CATCH_CHECK(contains(builder, "table.paired.tex", "needle accuracy $\\uparrow$ & 4.0 & "));
  CATCH_CHECK_FALSE(contains(builder, "table.tex", "difference"));
  builder.study.baseline = "";
  write_report(builder.study);  // and nothing of an earlier baseline stays
  CATCH_CHECK_FALSE(std::filesystem::exists(builder.study.output / "table.paired.csv"));
  CATCH_CHECK_FALSE(std::filesystem::exists(builder.study.output / "table.paired.tex"));
}

CATCH_TEST_CASE("whether a run has learned is not known where it was not asked") {
  StudyBuilder builder;
  builder.finished("transformer", 0, {{"needle_accuracy", 0.99}});
  write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl",
                        "{\"step\": 5, \"valid_loss\": 1}\n");
  builder.study.report.learned.metric = "valid_accuracy";
  const auto frame = frame_of(builder.study);
  CATCH_CHECK_FALSE(frame.runs()[0].metric("learned"));
  CATCH_CHECK_FALSE(frame.runs()[0].censored_above("steps_to_learn"));
}

CATCH_TEST_CASE("a note tells which evaluations cut contexts, and of how many questions at most") {
  StudyBuilder builder;
  const auto choices = [](const Json& cut) {
    return Json{{"evaluations", {{"choices", {{"cut_contexts", cut}}}, {"whole", {{"n", 4}}}}}};
  };
  const auto note = [&](int seed, const Json& cut) {
    builder.finished("diff", seed, {{"loss", 1}}, choices(cut));
    builder.study.report.tables = {TableConfig()};
    builder.study.report.tables[0].columns = {"loss"};
    write_report(builder.study);
    const auto table = read_file(builder.study.output / "table.md");
    const auto at = table.find("Of choices, ");
    return at == table.npos ? "" : table.substr(at, table.find(':', at) - at);
  };
  CATCH_CHECK(note(0, 0) == "");
  CATCH_CHECK(note(1, "many") == "");
  CATCH_CHECK(note(2, 1) ==
              "Of choices, the contexts of up to 1 question were cut at their beginning");
  CATCH_CHECK(note(3, 12) ==
              "Of choices, the contexts of up to 12 questions were cut at their beginning");
}

}  // namespace
}  // namespace difflab::report
