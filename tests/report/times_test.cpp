// Seconds and speeds of runs that were not alone.
#include "report/data/company.h"
#include "report/example_study.h"
#include "support/catch.h"
#include "support/declared.h"

namespace difflab::report {
namespace {

using testing::TemporaryFolder;

Json at_work(const char* from, const char* to, const char* host = "a") {
  return {{"started", from}, {"finished", to}, {"host", host}, {"cores_busy_elsewhere", 0.02}};
}

constexpr const char* kOne = "2026-11-01T10:00:00Z";
constexpr const char* kTwo = "2026-11-01T10:05:00Z";
constexpr const char* kThree = "2026-11-01T10:10:00Z";

CATCH_TEST_CASE("runs were alone if nothing else was at work on their machine") {
  const Json first = at_work(kOne, kTwo), second = at_work(kTwo, kThree);
  const auto alone = company_of({{"x", &first}, {"y", &second}});
  CATCH_CHECK((alone.with.empty() && alone.known));

  const Json beside = at_work(kOne, kThree);
  CATCH_CHECK(company_of({{"x", &beside}, {"y", &second}}).with == "x and y");
  CATCH_CHECK(company_of({{"y", &second}, {"x", &beside}}).with == "x and y");
  // Runs of less than a second, before a longer one that began in the same second.
  const Json brief = at_work(kOne, kOne), as_brief = brief;
  for (int round = 0; round < 2; ++round) {
    const Json &a = round == 0 ? first : brief, &b = round == 0 ? brief : first;
    CATCH_CHECK(company_of({{"x", &a}, {"y", &b}, {"z", &as_brief}}).with.empty());
  }
  const Json elsewhere = at_work(kOne, kThree, "b");
  CATCH_CHECK(company_of({{"x", &elsewhere}, {"y", &second}}).with.empty());
  // Two variants that share a run are not two runs.
  CATCH_CHECK(company_of({{"x", &first}, {"x", &first}}).with.empty());

  Json busy = first;
  busy["cores_busy_elsewhere"] = 0.5;
  CATCH_CHECK(company_of({{"x", &busy}}).with == "x beside 0.5 busy cores");
  busy["cores_busy_elsewhere"] = nullptr;
  Json resumed = first;
  resumed["earlier_sessions"] = Json::array({{{"started", kOne}, {"finished", nullptr}}});
  CATCH_CHECK(company_of({{"x", &resumed}}).with ==
              "x, which was interrupted and continued, beside unknown work");
  const auto unknown = company_of({{"x", &busy}, {"y", nullptr}});
  CATCH_CHECK((unknown.with.empty() && !unknown.known));
}

// The table of two runs, whose provenance says this.
std::string table_of(const Json& one, const Json& other, std::vector<std::string> columns) {
  StudyBuilder builder;
  for (const char* model : {"transformer", "diff"}) {
    const auto& provenance = std::string(model) == "diff" ? other : one;
    builder.finished(model, 0,
                     {{"parameters", 9},
                      {"test_loss", 2.5},
                      {"train_seconds", 71.0},
                      {"forward_tokens_per_second_t256", 8e3}});
    write_file_atomically(builder.study.runs.back().directory.path / "provenance.json",
                          provenance.dump());
  }
  builder.table(std::move(columns), {"model"});
  write_report(builder.study);
  return read_file(builder.study.output / "table.md") +
         read_file(builder.study.output / "table.csv");
}

CATCH_TEST_CASE("a table leaves out times of runs that were not alone, and says so") {
  const Declared declared({speed_metric("forward_tokens_per_second_t*")});
  const Json first = at_work(kOne, kTwo), second = at_work(kTwo, kThree);
  const Json beside = at_work(kOne, kThree);
  const std::vector<std::string> columns{"parameters", "test_loss", "train_seconds"};
  CATCH_CHECK_THAT(table_of(first, second, columns),
                   Contains("71.0") && Contains("mean_train_seconds") && !Contains("Left out"));
  CATCH_CHECK_THAT(table_of(beside, second, columns),
                   !Contains("71.0") && !Contains("train_seconds") && Contains("2.5") &&
                       Contains("Left out: ") && Contains("Runs shared a machine: ") &&
                       Contains("launcher.workers=1"));
  // Nothing else is compared there.
  CATCH_CHECK_THAT(table_of(beside, second, {"parameters", "train_seconds"}),
                   Contains("71.0") && !Contains("Left out") &&
                       Contains("These times are not those of an idle machine: "));
  // A speed is one, too, whatever its key ends in.
  CATCH_CHECK_THAT(table_of(beside, second, {"parameters", "forward_tokens_per_second_t256"}),
                   Contains("8,000") && Contains("These times are not those of an idle machine: "));
}

}  // namespace
}  // namespace difflab::report
