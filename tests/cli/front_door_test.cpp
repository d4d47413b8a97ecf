// The script ./difflab with everything it calls replaced by stubs that note their arguments: what
// it does when, not whether Debian and CMake work (a fresh machine shows that, see
// CONTRIBUTING.md).
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::Answer;
using testing::Driver;

// Notes the call; configuring and building leave what the real ones leave.
constexpr const char* kCmake = R"(#!/bin/bash
echo "cmake $*" >>"$STUBS/calls"
[[ -e $STUBS/cmake_fails ]] && { echo "CMake Error: no luck"; exit 1; }
[[ -e $STUBS/disk_full ]] && { echo "as: main.o: No space left on device"; exit 1; }
if [[ $1 == --build ]]; then
  printf '#!/bin/sh\nprintf "driver"; printf " <%%s>" "$@"; echo " in $DIFFLAB_ROOT"\n' >build/release/difflab
  cp build/release/difflab build/release/difflab-worker
  chmod +x build/release/difflab*
else
  mkdir -p "build/$2" && touch "build/$2/build.ninja"
  printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nTorch_DIR:PATH=%s\n' "$PWD" "$STUBS" >"build/$2/CMakeCache.txt"
fi
)";
constexpr const char* kDpkgQuery = R"(#!/bin/bash
[[ ${!#} == catch2 && -e $STUBS/no_catch2 ]] || printf installed
)";
constexpr const char* kAptGet = R"(#!/bin/bash
echo "apt-get $*" >>"$STUBS/calls"
[[ -e $STUBS/no_network ]] && { echo "Temporary failure resolving 'deb.example'"; exit 100; }
[[ $* == *update ]] && touch "$STUBS/updated"
[[ $* == *update || -e $STUBS/updated ]] || { echo "E: Unable to locate package"; exit 100; }
)";
constexpr const char* kCtest = R"(#!/bin/bash
echo "ctest $*" >>"$STUBS/calls"
[[ -e $STUBS/test_fails ]] && { echo "86% tests passed, 1 tests failed out of 7"; exit 8; }
mkdir -p "build/$2/Testing/Temporary"
printf '1/7 Testing: clock\n1/7 Test: clock\nSKIPPED: no clock\n' >"build/$2/Testing/Temporary/LastTest.log"
echo " 1/7 Test  #1: quick ............................   Passed    0.06 sec"
echo " 2/7 Test  #2: slow .............................   Passed   21.43 sec"
echo "100% tests passed, 0 tests failed out of 7"
)";

class Clone {
 public:
  Clone() {
    for (const char* name : {"src", "cmake", "tests", "configs", "experiments"}) {
      fs::create_directories(root() / name);
    }
    fs::copy_file(fs::path(DIFFLAB_ROOT) / "difflab", root() / "difflab");
    for (const char* name : {"CMakeLists.txt", "CMakePresets.json", "src/a.cpp"}) {
      write_file_atomically(root() / name, "");
    }
    // A .venv that has everything.
    fs::create_directories(root() / ".venv/lib/python3.11/site-packages/vl_convert");
    stub(root() / ".venv/bin/python", "#!/bin/sh\n");
    stub(stubs() / "cmake", kCmake);
    stub(stubs() / "dpkg-query", kDpkgQuery);
    stub(stubs() / "apt-get", kAptGet);
    stub(stubs() / "ctest", kCtest);
    stub(stubs() / "sudo", "#!/bin/sh\nexit 1\n");
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", (stubs().string() + ":" + path_before_).c_str(), 1);
    ::setenv("STUBS", stubs().c_str(), 1);
  }
  ~Clone() { ::setenv("PATH", path_before_.c_str(), 1); }
  Clone(const Clone&) = delete;
  Clone& operator=(const Clone&) = delete;

  fs::path root() const { return folder_.path() / "a clone"; }
  fs::path stubs() const { return folder_.path() / "stubs"; }

  std::unique_ptr<Process> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"/bin/bash", (root() / "difflab").string()});
    return std::make_unique<Process>(arguments);
  }
  Answer call(const std::vector<std::string>& arguments) const {
    return Driver::finish(*start(arguments));
  }
  /// What was called since the last time.
  std::string calls() const {
    const auto file = stubs() / "calls";
    if (!fs::exists(file)) return "";
    const std::string text = read_file(file);
    fs::remove(file);
    return text;
  }
  void set(const char* condition) const { write_file_atomically(stubs() / condition, ""); }

 private:
  static void stub(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    write_file_atomically(file, text);
    fs::permissions(file, fs::perms::owner_all);
  }

  testing::TemporaryFolder folder_;
  std::string path_before_;
};

CATCH_TEST_CASE("the first use builds the programs and becomes the driver, the second only that") {
  const Clone clone;
  const Answer first = clone.call({"sweep", "a b", "x=[1, 2]"});
  CATCH_INFO(first.err);
  CATCH_CHECK(first.code == 0);
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
  const Answer answer = clone.call({"test", "-R", "sweep"});
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK_THAT(answer.out,
                   Catch::EndsWith("release: 100% tests passed, 0 tests failed out of 7\n"
                                   "asan: 100% tests passed, 0 tests failed out of 7\n"));
  const std::string calls = clone.calls();
  CATCH_CHECK_THAT(calls, Contains("ctest --preset release") && Contains("ctest --preset asan") &&
                              Contains("-R sweep"));
  CATCH_CHECK_FALSE(calls.find("--target") != calls.npos);
  CATCH_CHECK(clone.call({"test", "--quick"}).code == 0);
  CATCH_CHECK(clone.calls().find("asan") == std::string::npos);
}

CATCH_TEST_CASE("test says which tests were slow, and what was left out and why") {
  const Clone clone;
  const Answer answer = clone.call({"test", "--quick"});
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK_THAT(answer.out, Contains("    21.4  slow (release)\n     0.1  quick (release)\n"));
  CATCH_CHECK_THAT(answer.out, Contains("Left out:\n  clock (release): no clock\n"));
}

CATCH_TEST_CASE("test fails if a test fails") {
  const Clone clone;
  clone.set("test_fails");
  const Answer answer = clone.call({"test"});
  CATCH_CHECK(answer.code == 8);
  CATCH_CHECK_THAT(answer.out, Contains("1 tests failed out of 7"));
}

CATCH_TEST_CASE("a build that fails shows its last lines and where the rest is") {
  const Clone clone;
  clone.set("cmake_fails");
  const Answer answer = clone.call({"list"});
  CATCH_CHECK(answer.code == 2);
  CATCH_CHECK_THAT(answer.err, Contains("CMake Error: no luck") && Contains(".difflab/setup.log"));
  fs::remove(clone.stubs() / "cmake_fails");
  CATCH_CHECK(clone.call({"list"}).code == 0);
}

CATCH_TEST_CASE("a full disk is called by its name") {
  const Clone clone;
  clone.set("disk_full");
  const Answer answer = clone.call({"list"});
  CATCH_CHECK(answer.code == 2);
  CATCH_CHECK_THAT(answer.err, Contains("the build failed: no space left; ") ||
                                   Contains("cmake failed: no space left; "));
  CATCH_CHECK_THAT(answer.err, Contains(" MB are free at ") && Contains("takes 4 GB"));
}

CATCH_TEST_CASE("a missing package is installed, or the command is printed") {
  const Clone clone;
  clone.set("no_catch2");
  const Answer answer = clone.call({"list"});
  if (::geteuid() != 0) {
    CATCH_CHECK(answer.code == 2);
    CATCH_CHECK_THAT(answer.err, Contains("sudo apt-get install catch2\n"));
    return;
  }
  CATCH_CHECK(answer.code == 0);
  // The list of packages is updated only because it had to be.
  const std::string calls = clone.calls();
  const auto install = calls.find("--no-install-recommends catch2");
  CATCH_REQUIRE(install != calls.npos);
  CATCH_CHECK(calls.find("update") > install);
  CATCH_CHECK(calls.find("--no-install-recommends catch2", install + 1) != calls.npos);
}

CATCH_TEST_CASE("no network is called by its name") {
  if (::geteuid() != 0) return;
  const Clone clone;
  clone.set("no_catch2");
  clone.set("no_network");
  const Answer answer = clone.call({"list"});
  CATCH_CHECK(answer.code == 2);
  CATCH_CHECK_THAT(answer.err, Contains("apt-get update failed: no network"));
}

// A .venv whose pip notes what it is asked for, and whose packages are those of a folder.
class Packages {
 public:
  explicit Packages(const Clone& clone) : site_(clone.stubs() / "site") {
    fs::create_directories(site_);
    write_file_atomically(site_ / "vl_convert.py", "");
    write_file_atomically(clone.root() / ".venv/bin/python", kPython);
    fs::permissions(clone.root() / ".venv/bin/python", fs::perms::owner_all);
    for (const char* name : kPlaces) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("PYTHONPATH", site_.c_str(), 1);
    ::setenv("DIFFLAB_USR", usr().c_str(), 1);
  }
  ~Packages() {
    for (const char* name : kPlaces) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;

  void add(const std::string& name, const std::string& version) const {
    const auto folder = site_ / (name + "-" + version + ".dist-info");
    fs::create_directories(folder);
    write_file_atomically(folder / "METADATA",
                          "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
  }

  // Stands for /usr.
  fs::path usr() const { return site_ / "usr"; }

 private:
  static constexpr const char* kPlaces[] = {"PYTHONPATH", "DIFFLAB_USR", "Torch_DIR",
                                            "CMAKE_PREFIX_PATH"};
  static constexpr const char* kPython = R"(#!/bin/bash
[[ $1 == -m ]] || exec python3 "$@"
echo "pip ${!#}" >>"$STUBS/calls"
[[ ${!#} == *+cpu && -e $STUBS/no_cpu_wheel ]] && { echo "ERROR: No matching distribution"; exit 1; }
exit 0
)";
  fs::path site_;
  std::map<std::string, std::string> before_;
};

CATCH_TEST_CASE("LibTorch is installed where there is none that is recent enough") {
  const bool driver = fs::exists("/proc/driver/nvidia/version");
  for (const auto& [version, enough] : std::map<std::string, bool>{{"1.13.1", false},
                                                                   {"2.5.1", false},
                                                                   {"2.6.0+cpu", true},
                                                                   {"2.13.0", true},
                                                                   {"3.0.0", true}}) {
    CATCH_INFO(version);
    const Clone clone;
    const Packages packages(clone);
    packages.add("torch", version);
    CATCH_CHECK(clone.call({"list"}).code == 0);
    const auto calls = clone.calls();
    CATCH_CHECK((calls.find("pip torch==") == calls.npos) == enough);
    if (!enough) {
      CATCH_CHECK_THAT(calls, Contains(driver ? "pip torch==2.13.0\n" : "pip torch==2.13.0+cpu\n"));
    }
  }
}

CATCH_TEST_CASE("Debian's own LibTorch is taken if it is recent enough") {
  for (const auto& [version, enough] :
       std::map<std::string, bool>{{"1.13.1", false}, {"2.5.0", false}, {"2.6.0", true}}) {
    CATCH_INFO(version);
    const Clone clone;
    const Packages packages(clone);
    packages.add("torch", "1.0");
    const auto folder = packages.usr() / "lib/x86_64-linux-gnu/cmake/Torch";
    fs::create_directories(folder);
    write_file_atomically(folder / "TorchConfigVersion.cmake",
                          "set(PACKAGE_VERSION \"" + version + "\")\n");
    CATCH_CHECK(clone.call({"list"}).code == 0);
    CATCH_CHECK((clone.calls().find("pip torch==") == std::string::npos) == enough);
  }
}

CATCH_TEST_CASE("where no LibTorch for the CPU alone is on offer the other one is installed") {
  const Clone clone;
  const Packages packages(clone);
  packages.add("torch", "1.0");
  clone.set("no_cpu_wheel");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("pip torch==2.13.0\n"));
}

CATCH_TEST_CASE("LibTorch with CUDA gets the rest of CUDA's headers, of its own version") {
  const Clone clone;
  const Packages packages(clone);
  packages.add("torch", "2.13.0");
  packages.add("nvidia_cuda_runtime", "12.4.127");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK(clone.calls().find("pip nvidia-cuda-crt==12.4.*\n") == 0);
  packages.add("nvidia_cuda_crt", "12.4.131");
  write_file_atomically(clone.root() / "src/a.cpp", "// changed");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK(clone.calls().find("pip ") == std::string::npos);
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
    const Answer answer = clone.call(arguments);
    CATCH_CHECK(answer.code == 0);
    CATCH_CHECK_THAT(answer.out, Contains("./difflab sweep headline"));
  }
  CATCH_CHECK(clone.calls().empty());
  CATCH_CHECK_FALSE(fs::exists(clone.root() / ".difflab"));
}

}  // namespace
}  // namespace difflab
