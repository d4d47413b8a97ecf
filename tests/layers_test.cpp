// The architecture as a test: which room of src/ may include which, and in what order the rooms
// inside a room build on each other (docs/architecture.md).
#include <regex>

#include "support/source_files.h"

namespace {

namespace fs = std::filesystem;
using difflab::testing::source_files;

struct Room {
  std::set<std::string> may_include;
  /// Folders inside, each of which may include those before it. The room's own files come last
  /// unless it says where ("").
  std::vector<std::string> inner = {};
};

const std::map<std::string, Room> kRooms = {
    {"util", {{}, {"", "terminal"}}},
    {"statistics", {{"util"}}},
    {"config", {{"util"}, {"value", "schema", "override", "interpolate", "compose", "grid"}}},
    {"record", {{"util"}, {"", "log"}}},
    {"kernel", {{}, {"", "operation"}}},
    {"text", {{"util", "config"}}},
    {"model",
     {{"util", "config", "kernel"}, {"layer", "attention/base", "attention", "", "generate"}}},
    {"task",
     {{"util", "config", "text"},
      {"base", "needle", "association", "tracking", "language", "in_text"}}},
    {"train",
     {{"util", "statistics", "config", "record", "model", "task"},
      {"optimizer", "settings", "step"}}},
    {"evaluate",
     {{"util", "statistics", "config", "text", "model", "task"},
      {"base", "answers", "retrieval", "inside", "heads", "language", "speed"}}},
    {"run",
     {{"util", "statistics", "config", "record", "text", "model", "task", "train", "evaluate"}}},
    {"experiment",
     {{"util", "config", "record", "kernel", "model", "task", "train", "evaluate", "run"},
      {"verify"}}},
    {"sweep", {{"util", "config", "record"}, {"plan", "launcher"}}},
    {"report",
     {{"util", "statistics", "config", "record"},
      {"data", "figure", "mark", "settings", "table", "page", "archive", "export"}}},
    {"referee", {{"util", "statistics", "record", "report"}, {"base", "rule"}}},
    {"study",
     {{"util", "config", "record", "model", "run", "sweep", "report"}, {"", "load", "asked"}}},
    {"worker",
     {{"util", "config", "record", "kernel", "model", "task", "train", "evaluate", "experiment"}}},
    {"cli",
     {{"util", "config", "record", "text", "model", "run", "sweep", "report", "referee", "study"},
      {"", "tool", "inspect", "runs", "sweep"}}},
};

/// Rooms that the driver links, which starts in milliseconds without LibTorch.
const std::set<std::string> kWithoutTensors = {"util",    "statistics", "config", "record",
                                               "text",    "run",        "sweep",  "report",
                                               "referee", "study",      "cli"};

struct Place {
  std::string room, inner;

  static Place of(const fs::path& file) {  // below src/
    const auto folder = file.parent_path();
    const auto room = folder.begin()->string();
    return {room, folder == room ? "" : fs::relative(folder, room).string()};
  }
};

/// How high the place is in its room; nothing if the table does not know it.
std::size_t height(const Place& place) {
  auto order = kRooms.at(place.room).inner;
  if (std::find(order.begin(), order.end(), "") == order.end()) order.push_back("");
  const auto found = std::find(order.begin(), order.end(), place.inner);
  CATCH_INFO("src/" << place.room << '/' << place.inner);
  CATCH_REQUIRE(found != order.end());
  return static_cast<std::size_t>(found - order.begin());
}

CATCH_TEST_CASE("rooms include what they may, and inner rooms only those below them") {
  const std::regex include(R"re(^\s*#\s*include\s*"([^"]+)")re");
  std::set<std::pair<std::string, std::string>> used;
  for (const auto& file : source_files()) {
    const auto here = Place::of(file.path);
    CATCH_INFO(file.path);
    CATCH_REQUIRE(kRooms.count(here.room) == 1);
    for (const auto& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const auto there = Place::of(match[1].str());
      CATCH_INFO(line);
      if (there.room == here.room) {
        CATCH_CHECK(height(there) <= height(here));
      } else {
        CATCH_CHECK(kRooms.at(here.room).may_include.count(there.room) == 1);
        used.insert({here.room, there.room});
      }
    }
  }
  for (const auto& [name, room] : kRooms) {
    for (const auto& other : room.may_include) {
      CATCH_INFO(name << " may include " << other << ", and does not");
      CATCH_CHECK(used.count({name, other}) == 1);
    }
  }
}

CATCH_TEST_CASE("no room needs one that needs it") {
  // Each round takes away rooms that need none of those left.
  auto left = kRooms;
  for (bool changed = true; changed;) {
    const auto before = left;
    std::erase_if(left, [&](const auto& room) {
      return std::none_of(before.begin(), before.end(), [&](const auto& other) {
        return room.second.may_include.count(other.first) == 1;
      });
    });
    changed = left.size() < before.size();
  }
  CATCH_CHECK(left.empty());
}

CATCH_TEST_CASE("folders hold at most 20 files, files at most 400 lines") {
  std::map<std::string, int> files;
  for (const auto& file : source_files()) {
    ++files[file.path.parent_path().string()];
    CATCH_INFO(file.path << " has " << file.lines.size() << " lines");
    CATCH_CHECK(file.lines.size() <= 400);
  }
  for (const auto& [folder, count] : files) {
    CATCH_INFO("src/" << folder << " holds " << count << " files");
    CATCH_CHECK(count <= 20);
  }
  for (const auto& file : source_files("tests")) {
    CATCH_INFO("tests/" << file.path << " has " << file.lines.size() << " lines");
    CATCH_CHECK(file.lines.size() <= 400);
  }
}

CATCH_TEST_CASE("the driver's rooms never see a tensor") {
  const std::regex torch(R"re(#\s*include\s*<(torch|ATen|c10)/)re");
  for (const auto& file : source_files()) {
    const bool of_kind = file.path.stem().string().ends_with("_config");
    if (kWithoutTensors.count(Place::of(file.path).room) == 0 && !of_kind) continue;
    for (const auto& line : file.lines) {
      CATCH_INFO(file.path << ": " << line);
      CATCH_CHECK_FALSE(std::regex_search(line, torch));
    }
  }
}

CATCH_TEST_CASE("a comment begins with what it speaks of") {
  const std::regex vague(R"(^ *//+ *(What|Of|Whether|Those|That) )");
  for (const auto& file : source_files()) {
    for (const auto& line : file.lines) {
      CATCH_INFO(file.path << ": " << line);
      CATCH_CHECK_FALSE(std::regex_search(line, vague));
    }
  }
}

}  // namespace
