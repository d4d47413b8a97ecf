// The architecture as a test: which room of src/ may include which (docs/architecture.md).
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "support/catch.h"

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"util", {}},
    {"statistics", {"util"}},
    {"config", {"util"}},
    {"record", {"util", "config"}},
    {"kernel", {}},
    {"model", {"util", "config", "kernel"}},
    {"task", {"util", "config"}},
    {"train", {"util", "statistics", "config", "record", "model", "task"}},
    {"evaluate", {"util", "statistics", "config", "record", "model", "task"}},
    {"experiment", {"util", "config", "record", "kernel", "model", "task", "train", "evaluate"}},
    {"sweep", {"util", "config", "record", "experiment"}},
    {"report", {"util", "statistics", "config", "record"}},
    {"cli",
     {"util", "statistics", "config", "record", "kernel", "model", "task", "train", "evaluate",
      "experiment", "sweep", "report"}},
};

CATCH_TEST_CASE("every file includes only the rooms that its own room may use") {
  const std::regex include(R"re(^\s*#\s*include\s*"(\w+)/)re");
  const fs::path src = fs::path(DIFFLAB_ROOT) / "src";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file()) continue;
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const auto room = fs::relative(entry.path(), src).begin()->string();
    CATCH_INFO(entry.path());
    CATCH_REQUIRE(kMayInclude.count(room) == 1);
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include) || match[1] == room) continue;
      CATCH_INFO(line);
      CATCH_CHECK(kMayInclude.at(room).count(match[1]) == 1);
    }
  }
  CATCH_CHECK(files > 50);
}

CATCH_TEST_CASE("the driver's rooms never see a tensor") {
  const std::regex torch(R"re(#\s*include\s*<(torch|ATen|c10)/)re");
  for (const auto* room : {"util", "statistics", "config", "record", "sweep", "report"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(DIFFLAB_ROOT) / "src" / room)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        CATCH_INFO(entry.path() << ": " << line);
        CATCH_CHECK_FALSE(std::regex_search(line, torch));
      }
    }
  }
}

}  // namespace
