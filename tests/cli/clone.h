#pragma once

// A clone of the project whose script ./difflab calls stubs, which note their arguments.

#include "cli/driver.h"

namespace difflab::testing {

namespace fs = std::filesystem;

// Notes the call; configuring and building leave what the real ones leave.
inline constexpr const char* kCmake = R"(#!/bin/bash
echo "cmake $*" >>"$STUBS/calls"
echo "prefixes $CMAKE_PREFIX_PATH" >>"$STUBS/calls"
[[ -e $STUBS/cmake_fails ]] && { echo "CMake Error: no luck"; echo "src/study/load/resolve.cpp: <unresolved overloaded function type>"; exit 1; }
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
inline constexpr const char* kDpkgQuery = R"(#!/bin/bash
[[ -e $STUBS/no_${!#} ]] || printf installed
)";
inline constexpr const char* kAptGet = R"(#!/bin/bash
echo "apt-get $*" >>"$STUBS/calls"
[[ -e $STUBS/no_network ]] && { echo "Temporary failure resolving 'deb.example'"; exit 100; }
[[ $* == *update ]] && touch "$STUBS/updated"
[[ $* == *update || -e $STUBS/updated ]] || { echo "E: Unable to locate package"; exit 100; }
for word; do [[ $word != Dir::Cache=* ]] || touch "${word#*=}/archives/a.deb"; done
)";
// Unpacks the name of a library that the machine has.
inline constexpr const char* kDpkg = R"(#!/bin/bash
echo "dpkg $*" >>"$STUBS/calls"
mkdir -p "$3/usr/lib/x86_64-linux-gnu" && ln -s libz.so.1 "$3/usr/lib/x86_64-linux-gnu/libz.so"
)";
// Of the programs that Python is, the one that makes a .venv.
inline constexpr const char* kPython3 = R"(#!/bin/bash
[[ $1 == -m && $2 == venv ]] || exec /usr/bin/python3 "$@"
echo "python3 $*" >>"$STUBS/calls"
)";
inline constexpr const char* kId = R"(#!/bin/bash
[[ -e $STUBS/no_root ]] && echo 1000 || echo 0
)";
inline constexpr const char* kCtest = R"(#!/bin/bash
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
    fs::create_directories(root() / ".venv/lib/python3.11/site-packages/pip");
    stub(root() / ".venv/bin/python", "#!/bin/sh\n");
    stub(stubs() / "cmake", kCmake);
    stub(stubs() / "dpkg-query", kDpkgQuery);
    stub(stubs() / "apt-get", kAptGet);
    stub(stubs() / "ctest", kCtest);
    stub(stubs() / "dpkg", kDpkg);
    stub(stubs() / "id", kId);
    stub(stubs() / "python3", kPython3);
    stub(stubs() / "sudo", "#!/bin/sh\nexit 1\n");
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", (stubs().string() + ":" + path_before_).c_str(), 1);
    ::setenv("STUBS", stubs().c_str(), 1);
  }
  ~Clone() { ::setenv("PATH", path_before_.c_str(), 1); }
  Clone(const Clone&) = delete;
  Clone& operator=(const Clone&) = delete;

  fs::path root() const { return folder_.path() / "a clone [1]"; }
  fs::path stubs() const { return folder_.path() / "stubs"; }

  std::unique_ptr<Process> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"/bin/bash", (root() / "difflab").string()});
    return std::make_unique<Process>(arguments);
  }
  Answer call(const std::vector<std::string>& arguments, std::optional<int> code = {}) const {
    return Driver::finish(*start(arguments), code);
  }
  /// Calls again after a source has changed, so that set-up does its work once more.
  Answer change_and_call(std::optional<int> code = {}) const {
    write_file_atomically(root() / "src/b.cpp", "");
    return call({"list"}, code);
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
  /// A machine without one of its programs.
  void hide(const char* program) const {
    const fs::path programs = folder_.path() / "programs";
    fs::create_directories(programs);
    for (const auto& entry : fs::directory_iterator("/usr/bin")) {
      if (entry.path().filename() != program)
        fs::create_symlink(entry, programs / entry.path().filename());
    }
    ::setenv("PATH", (stubs().string() + ":" + programs.string()).c_str(), 1);
  }

 private:
  static void stub(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    write_file_atomically(file, text);
    fs::permissions(file, fs::perms::owner_all);
  }

  TemporaryFolder folder_;
  std::string path_before_;
};

}  // namespace difflab::testing
