// What the runs of a report took: all sessions, all threads, and a shared run once.
#include "report/example_study.h"
#include "report/page/gallery.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

constexpr const char* kRuns = R"({"runs": [
  {"id": "a", "provenance": {"threads": 2, "started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:30:00Z",
    "earlier_sessions": [
      {"threads": 2, "started": "2025-12-31T00:00:00Z", "finished": "2025-12-31T01:00:00Z"},
      {"threads": 2, "started": "2025-12-30T00:00:00Z", "finished": null}]}},
  {"id": "b", "provenance": {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:09Z"}},
  {"id": "c", "provenance": null},
  {"id": "d"}]})";

CATCH_TEST_CASE("core time counts all sessions that ended, threads times their length") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "runs.json", kRuns);
  const auto runs = core_time_of(folder.path());
  CATCH_CHECK(runs == CoreTime{{"a", 2 * 5400}, {"b", 9}});
  CATCH_CHECK(core_hours_text(core_hours(runs)) == "3.0 core-hours");
}

CATCH_TEST_CASE("core time includes the tuning, and a run that is in both once") {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "runs.json", kRuns);
  std::filesystem::create_directories(folder.path() / "tuning");
  write_file_atomically(folder.path() / "tuning" / "runs.json", R"({"runs": [
    {"id": "b", "provenance": {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:09Z"}},
    {"id": "e", "provenance": {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:01:00Z"}}]})");
  std::filesystem::create_directories(folder.path() / "tuning" / "shorter");
  write_file_atomically(folder.path() / "tuning" / "shorter" / "runs.json", R"({"runs": [
    {"id": "f", "provenance": {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:30Z"}}]})");
  CATCH_CHECK(core_time_of(folder.path()) ==
              CoreTime{{"a", 2 * 5400}, {"b", 9}, {"e", 60}, {"f", 30}});
}

CATCH_TEST_CASE("the gallery adds up what its experiments took, a run that two share once") {
  const Json summary = {{"preset", "reference"},
                        {"runs", {{"planned", 2}, {"finished", 2}}},
                        {"answers", Json::array()}};
  const std::vector<Exhibit> exhibits = {{.name = "a",
                                          .title = {},
                                          .topic = {},
                                          .summary = summary,
                                          .folder = "a",
                                          .core_time = {{"x", 3600}, {"y", 1800}}},
                                         {.name = "b",
                                          .title = {},
                                          .topic = {},
                                          .summary = summary,
                                          .folder = "b",
                                          .core_time = {{"x", 3600}, {"z", 3600}}}};
  for (const auto& page : {gallery_markdown(exhibits), gallery_html(exhibits)}) {
    CATCH_CHECK_THAT(page, Contains("took 2.5 core-hours."));
    CATCH_CHECK_THAT(page, Contains("2 of 2 runs, 1.5 core-hours"));
    CATCH_CHECK_THAT(page, Contains("2 of 2 runs, 2.0 core-hours"));
  }
}

CATCH_TEST_CASE("a record that is missing or damaged took no time, and little is not none") {
  const TemporaryFolder folder;
  CATCH_CHECK(core_time_of(folder.path()).empty());
  for (const char* damaged : {"{", "[]", R"({"runs": 3})", R"({"runs": [1, {"provenance": 2}]})",
                              R"({"runs": [{"id": 4, "provenance": {"earlier_sessions": 1}}]})"}) {
    write_file_atomically(folder.path() / "runs.json", damaged);
    CATCH_INFO(damaged);
    CATCH_CHECK(core_hours(core_time_of(folder.path())) == 0);
  }
  CATCH_CHECK(core_hours_text(.01) == "less than 0.1 core-hours");
  CATCH_CHECK(core_hours_text(.05) == "0.1 core-hours");
}

}  // namespace
}  // namespace difflab::report
