// Replays what fuzzing has found worth keeping. To look for more (clang with libFuzzer):
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/tests/fuzz_yaml -max_total_time=600 -timeout=1 -rss_limit_mb=256 FOLDER
//   tests/fuzz/corpus/yaml
#include "fuzz/targets.h"
#include "support/catch.h"

namespace difflab::fuzz {
namespace {

CATCH_TEST_CASE("the inputs that fuzzing kept are accepted or refused without a crash") {
  const std::map<std::string, std::function<void(std::string_view)>> targets{
      {"override", fuzz_override}, {"yaml", fuzz_yaml}, {"interpolation", fuzz_interpolation}};
  const std::filesystem::path corpus = DIFFLAB_ROOT "/tests/fuzz/corpus";
  for (const auto& [name, target] : targets) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / name)) {
      CATCH_INFO(entry.path().string());
      CATCH_CHECK_NOTHROW(target(read_file(entry.path())));
      ++files;
    }
    CATCH_CHECK(files >= 10);
  }
}

}  // namespace
}  // namespace difflab::fuzz
