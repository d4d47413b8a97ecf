// How large the house may be. What needs more room than its line here says raises it in the commit
// that says why; what has become smaller lowers it.
#include <cstdio>
#include <iterator>

#include "support/catch.h"

namespace {

namespace fs = std::filesystem;

/// Lines of the rooms of src/; "src" and "tests" are all of them together.
const std::map<std::string, int> kLineBudgets = {
    {"src", 61'875},     {"tests", 44'560},     {"cli", 5'750},     {"config", 8'010},
    {"evaluate", 3'830}, {"experiment", 1'770}, {"kernel", 3'270},  {"model", 3'930},
    {"python", 1'320},   {"record", 2'215},     {"referee", 1'885}, {"report", 11'410},
    {"run", 1'430},      {"statistics", 1'170}, {"study", 3'950},   {"sweep", 2'975},
    {"task", 4'380},     {"text", 955},         {"train", 2'040},   {"util", 1'700},
    {"worker", 1'300},
};
constexpr std::uintmax_t kMostBytesOfResults = 76'760'000;
constexpr int kMostCommands = 27;

/// By the first folder of their paths ("" for those in none).
std::map<std::string, int> lines_below(const std::string& folder) {
  std::map<std::string, int> lines;
  const auto root = fs::path(DIFFLAB_ROOT) / folder;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const auto kind = entry.path().extension();
    if (kind != ".cpp" && kind != ".h" && kind != ".py") continue;
    std::ifstream file(entry.path());
    const auto path = fs::relative(entry.path(), root);
    lines[path.has_parent_path() ? path.begin()->string() : ""] += static_cast<int>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
  }
  return lines;
}

void check_lines(const std::string& of, int lines) {
  CATCH_INFO(of << " has " << lines << " lines");
  CATCH_REQUIRE(kLineBudgets.count(of) == 1);
  CATCH_CHECK(lines <= kLineBudgets.at(of));
}

CATCH_TEST_CASE("src, each of its rooms and tests have no more lines than their budgets") {
  int all = 0, tests = 0;
  for (const auto& [room, lines] : lines_below("src")) {
    check_lines(room, lines);
    if (room != "python") all += lines;
  }
  check_lines("src", all);
  for (const auto& [folder, lines] : lines_below("tests")) tests += lines;
  check_lines("tests", tests);
}

CATCH_TEST_CASE("the committed results weigh no more than their budget") {
  std::uintmax_t bytes = 0;
  const fs::path results = DIFFLAB_ROOT "/results";
  for (const auto& experiment : fs::directory_iterator(results)) {
    if (experiment.is_regular_file()) bytes += experiment.file_size();
    if (!fs::is_directory(experiment.path() / "reference")) continue;  // a user's own runs
    for (const auto& entry : fs::recursive_directory_iterator(experiment.path() / "reference")) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
  }
  CATCH_CHECK(bytes > 0);
  CATCH_CHECK(bytes <= kMostBytesOfResults);
}

CATCH_TEST_CASE("there are no more commands than their budget") {
  FILE* help = ::popen("'" DIFFLAB_BUILD "/difflab' --help", "r");
  CATCH_REQUIRE(help != nullptr);
  int commands = 0;
  bool within = false;
  std::array<char, 1'000> line{};
  while (std::fgets(line.data(), line.size(), help) != nullptr) {
    const std::string text = line.data();
    if (text == "\n") within = false;
    // The lines that go on with a long description are indented further.
    if (within && text.starts_with("  ") && text[2] != ' ') ++commands;
    if (text == "Subcommands:\n") within = true;
  }
  CATCH_CHECK(::pclose(help) == 0);
  CATCH_CHECK(commands > 10);
  CATCH_CHECK(commands <= kMostCommands);
}

}  // namespace
