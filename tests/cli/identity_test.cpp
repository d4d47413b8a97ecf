// The names of runs that people have and papers cite.
#include "cli/driver.h"
#include "support/dose.h"

namespace difflab {
namespace {

using testing::Driver;

std::vector<std::string> ids_in(const Json& runs) {
  std::vector<std::string> ids;
  for (const auto& run : runs) ids.push_back(run.at("id"));
  return ids;
}

// "./difflab sweep NAME preset=reference" without the quotes that a shell takes away.
std::vector<std::string> arguments_of(std::string command) {
  std::erase(command, '\'');
  auto words = split(command, ' ');
  words.erase(words.begin());
  return words;
}

CATCH_TEST_CASE("runs of the committed references keep their names") {
  const Driver driver;
  const std::filesystem::path root = DIFFLAB_ROOT;
  ::setenv("DIFFLAB_ROOT", root.c_str(), 1);
  int compared = 0;
  for (const auto& folder : std::filesystem::directory_iterator(root / "results")) {
    const auto file = folder.path() / "reference" / "runs.json";
    const auto name = folder.path().filename().string();
    const bool downloads = name == "char_lm" || name == "nanogpt";  // its text
    if (!std::filesystem::exists(file) || downloads) continue;
    if (compared++ % testing::kEvery != 0) continue;
    const auto committed = Json::parse(read_file(file));
    auto arguments = arguments_of(committed.at("command"));
    arguments.insert(arguments.end(), {"--dry-run", "--json"});
    const auto answer = driver.call(arguments, 0);
    CATCH_INFO(name << "\n" << answer.err);
    const bool has_longer =
        read_file(root / "experiments" / (name + ".yaml")).find("longer:") != std::string::npos;
    const auto planned = Json::parse(answer.out);
    auto due = ids_in(planned);
    // What is due first of a tuned one are the first of the runs that find its values. A variant
    // of which no value worked has them again with more steps (tune.longer), under other names.
    const auto tuning = file.parent_path() / "tuning" / "runs.json";
    if (std::filesystem::exists(tuning)) {
      const auto runs = Json::parse(read_file(tuning)).at("runs");
      const auto all = ids_in(runs);
      std::size_t kept = 0;
      for (const auto& run : planned) {
        kept += static_cast<std::size_t>(std::count(all.begin(), all.end(), run.at("id")));
        CATCH_CHECK(std::any_of(runs.begin(), runs.end(), [&](const Json& other) {
          const bool same = other.at("id") == run.at("id");
          return same || (has_longer && other.at("axes") == run.at("axes"));
        }));
      }
      CATCH_CHECK(due.size() >= 10);
      CATCH_CHECK(kept >= (has_longer ? due.size() / 2 : due.size()));
    } else {
      CATCH_CHECK(due == ids_in(committed.at("runs")));
    }
  }
  CATCH_CHECK(compared >= 19);
}

CATCH_TEST_CASE("a sweep whose evaluations changed says that nothing is to be trained") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto answer = driver.call({"sweep", "tiny", "evaluate=[{kind: heldout, samples: 7}]"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("6 trained and to be asked, 0 to train"));
  CATCH_CHECK_THAT(answer.out, !Contains("expected "));
}

}  // namespace
}  // namespace difflab
