// The claims as a table for programs and for papers.
#include "report/example_study.h"
#include "report/table/claim.h"
#include "support/catch.h"
#include "support/problems.h"

namespace difflab::report {
namespace {

// Eight pairs: DIFF has half as much more, whatever the seed.
struct Claimed {
  Claimed() {
    for (int seed = 0; seed < 8; ++seed) {
      builder.finished("transformer", seed, {{"needle_accuracy", 0.2 + 0.001 * seed}});
      builder.finished("diff", seed, {{"needle_accuracy", 0.7 + 0.002 * seed}});
    }
    const auto claim = of_yaml<ClaimConfig>(
        "text: 'DIFF finds more, \"100 %\" of the time', metric: needle_accuracy, variant: diff, "
        "paper: a paper");
    ClaimConfig unmeasured = claim;
    unmeasured.metric = "test_loss";
    unmeasured.expect = Expect::kLower;
    builder.study.report.claims = {claim, unmeasured};
  }
  std::vector<Answer> answers() const {
    return answer_claims(builder.study, frame_of(builder.study),
                         Labels(builder.study.report.labels));
  }
  StudyBuilder builder;
};

CATCH_TEST_CASE("each claim is a line of numbers, of an unmeasured one without them") {
  const Claimed claimed;
  const auto answers = claimed.answers();
  const std::string csv = claims_csv(claimed.builder.study, answers);
  const auto second = csv.find('\n') + 1, third = csv.find('\n', second) + 1;
  CATCH_CHECK(csv.substr(0, second) ==
              "claim,metric,variant,against,where,expect,verdict,difference,low,high,p,level,pairs,"
              "pairs_needed,published\n");
  const auto line = csv.substr(second, third - second);
  CATCH_CHECK_THAT(line, Catch::StartsWith("\"DIFF finds more, \"\"100 %\"\" of the time\","
                                           "needle_accuracy,diff,transformer,,higher,supported,"
                                           "0.50"));
  CATCH_CHECK_THAT(line, Contains(",0.015625,,8,") && Catch::EndsWith(",a paper\n"));
  CATCH_CHECK_THAT(csv.substr(third),
                   Contains("test_loss,diff,transformer,,lower,not measured,,,,"));
  CATCH_REQUIRE((answers[0].found && answers[0].found->interval));
  CATCH_CHECK_THAT(line, Contains(concat(",", answers[0].found->interval->low, ",").substr(0, 8)));
}

CATCH_TEST_CASE("the claims of a paper have the names of the tables, and nothing that TeX reads") {
  const Claimed claimed;
  TextMap names;
  names.entries.emplace_back("needle_accuracy", "needles that were found");
  const Labels labels(names);
  const auto tex = claims_tex(claimed.builder.study, claimed.answers(), labels);
  CATCH_CHECK_THAT(tex, Contains("100 \\%") && Contains("needles that were found") &&
                            Contains("p (Holm)") && Contains("& +0.50") && Contains("supported"));
}

CATCH_TEST_CASE("no table may be called as the claims or the settings are") {
  ReportConfig report;
  TableConfig table;
  report.tables = {table};
  const auto called = [&](const char* name) {
    report.tables[0].name = name;
    return testing::Problems::found([&](config::Check& check) { report.validate(check); });
  };
  CATCH_CHECK(called("claims") ==
              "tables has one named 'claims', as the table of claims is; expected another\n");
  CATCH_CHECK(called("settings") ==
              "tables has one named 'settings', as the table of settings is; expected another\n");
}

CATCH_TEST_CASE("a report has its claims in files, and none of claims that it had") {
  Claimed claimed;
  write_report(claimed.builder.study);
  const auto file = claimed.builder.study.output / "claims.csv";
  CATCH_CHECK_THAT(read_file(file), Contains(",supported,"));
  CATCH_CHECK(std::filesystem::exists(claimed.builder.study.output / "claims.tex"));
  claimed.builder.study.report.claims.clear();
  write_report(claimed.builder.study);
  CATCH_CHECK_FALSE(std::filesystem::exists(file));
  CATCH_CHECK_FALSE(std::filesystem::exists(claimed.builder.study.output / "claims.tex"));
}

}  // namespace
}  // namespace difflab::report
