// The script ./difflab with everything it calls replaced by stubs that note their arguments: what
// it does when, not whether Debian and CMake work (a fresh machine shows that, see
// CONTRIBUTING.md).
#include "cli/clone.h"

namespace difflab {
namespace {

using testing::Answer, testing::Clone, testing::Driver;

CATCH_TEST_CASE("the first use builds the programs and becomes the driver, the second only that") {
  const Clone clone;
  const Answer first = clone.call({"sweep", "a b", "x=[1, 2]"}, 0);
  CATCH_CHECK(first.out == "driver <sweep> <a b> <x=[1, 2]> in " + clone.root().string() + "\n");
  const std::string calls = clone.calls();
  CATCH_CHECK_THAT(calls, Contains("cmake --preset release\n"));
  CATCH_CHECK_THAT(calls, Contains("--target difflab difflab-worker\n"));
  CATCH_CHECK_THAT(first.err, Contains("building (release"));

  const Answer second = clone.call({"list"});
  CATCH_CHECK(second.out == "driver <list> in " + clone.root().string() + "\n");
  CATCH_CHECK(second.err.empty());
  CATCH_CHECK(clone.calls().empty());
}

CATCH_TEST_CASE("a changed, new or deleted source is built before the driver starts") {
  const Clone clone;
  CATCH_REQUIRE(clone.call({"list"}).code == 0);
  clone.calls();
  for (int change = 0; change < 3; ++change) {
    const auto file = clone.root() / "src" / (change == 1 ? "new.cpp" : "a.cpp");
    if (change == 2) fs::remove(file);
    if (change < 2) write_file_atomically(file, "// changed");
    CATCH_CHECK(clone.call({"list"}).code == 0);
    CATCH_CHECK_THAT(clone.calls(), Contains("cmake --build"));
    CATCH_CHECK(clone.call({"list"}).code == 0);
    CATCH_CHECK(clone.calls().empty());
  }
}

CATCH_TEST_CASE("two first uses at once build once") {
  const Clone clone;
  const auto one = clone.start({"one"});
  const auto two = clone.start({"two"});
  CATCH_CHECK_THAT(Driver::finish(*one).out, Contains("driver <one>"));
  CATCH_CHECK_THAT(Driver::finish(*two).out, Contains("driver <two>"));
  const std::string calls = clone.calls();
  CATCH_CHECK(calls.find("cmake --build") == calls.rfind("cmake --build"));
}

CATCH_TEST_CASE("test builds everything and ends with what passed") {
  const Clone clone;
  CATCH_CHECK_THAT(clone.call({"test", "--all", "-R", "sweep"}, 0).out,
                   Catch::EndsWith("release: 100% tests passed, 0 tests failed out of 7\n"
                                   "asan: 100% tests passed, 0 tests failed out of 7\n"));
  const std::string calls = clone.calls();
  CATCH_CHECK_THAT(calls, Contains("ctest --preset release") && Contains("ctest --preset asan") &&
                              Contains("-R sweep"));
  CATCH_CHECK_FALSE(calls.find("--target") != calls.npos);
  CATCH_CHECK(clone.call({"test"}).code == 0);
  CATCH_CHECK(clone.calls().find("asan") == std::string::npos);
}

CATCH_TEST_CASE("test says which tests were slow, and what was left out and why") {
  const Clone clone;
  const Answer answer = clone.call({"test"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("    21.4  slow (release)\n     0.1  quick (release)\n"));
  CATCH_CHECK_THAT(answer.out, Contains("Left out:\n  clock (release): no clock\n"));
}

CATCH_TEST_CASE("test fails if a test fails") {
  const Clone clone;
  clone.set("test_fails");
  CATCH_CHECK_THAT(clone.call({"test"}, 8).out, Contains("1 tests failed out of 7"));
}

CATCH_TEST_CASE("a build that fails shows its last lines and where the rest is") {
  const Clone clone;
  clone.set("cmake_fails");
  const Answer answer = clone.call({"list"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("CMake Error: no luck") && Contains(".difflab/setup.log"));
  CATCH_CHECK_THAT(answer.err, Contains("unresolved overloaded") && !Contains("no network"));
  fs::remove(clone.stubs() / "cmake_fails");
  CATCH_CHECK(clone.call({"list"}).code == 0);
}

CATCH_TEST_CASE("a full disk is called by its name") {
  const Clone clone;
  clone.set("disk_full");
  const Answer answer = clone.call({"list"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("the build failed: no space left; ") ||
                                   Contains("cmake failed: no space left; "));
  CATCH_CHECK_THAT(answer.err, Contains(" MB are free at ") && Contains("takes 5 GB"));
}

CATCH_TEST_CASE("a clone that was moved is configured anew") {
  const Clone clone;
  CATCH_REQUIRE(clone.call({"list"}).code == 0);
  const auto cache = clone.root() / "build/release/CMakeCache.txt";
  write_file_atomically(cache, "CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n");
  write_file_atomically(clone.root() / "src/a.cpp", "// changed");
  clone.calls();
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("cmake --preset release"));
}

CATCH_TEST_CASE("help before the first build explains what will happen and builds nothing") {
  const Clone clone;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--help"}, {"-h"}}) {
    CATCH_CHECK_THAT(clone.call(arguments, 0).out, Contains("./difflab sweep headline"));
  }
  CATCH_CHECK(clone.calls().empty());
  CATCH_CHECK_FALSE(fs::exists(clone.root() / ".difflab"));
}

}  // namespace
}  // namespace difflab
