// What ./difflab does about packages that are missing: Debian's, LibTorch and CUDA's headers.
#include "cli/clone.h"

namespace difflab {
namespace {

using testing::Clone;

CATCH_TEST_CASE("a missing package is installed") {
  const Clone clone;
  clone.set("no_catch2");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  // The list of packages is updated only because it had to be.
  const std::string calls = clone.calls();
  const auto install = calls.find("--no-install-recommends catch2");
  CATCH_REQUIRE(install != calls.npos);
  CATCH_CHECK(calls.find("update") > install);
  CATCH_CHECK(calls.find("--no-install-recommends catch2", install + 1) != calls.npos);
}

CATCH_TEST_CASE("without root a missing package is unpacked into the checkout, once") {
  const Clone clone;
  const fs::path system = clone.stubs() / "usr/lib/x86_64-linux-gnu";
  fs::create_directories(system);
  write_file_atomically(system / "libz.so.1.2", "z");
  fs::create_symlink("libz.so.1.2", system / "libz.so.1");
  ::setenv("DIFFLAB_USR", (clone.stubs() / "usr").c_str(), 1);
  clone.set("no_catch2");
  clone.set("no_root");
  CATCH_CHECK_THAT(clone.call({"list"}, 0).err,
                   Contains("no root: fetching 1 Debian packages") && Contains(": catch2\n"));
  const fs::path packages = clone.root() / ".difflab/packages";
  const std::string calls = clone.calls();
  CATCH_CHECK_THAT(calls, Contains(" --download-only --no-install-recommends catch2\n") &&
                              Contains("/archives/a.deb " + packages.string() + "\n"));
  CATCH_CHECK_THAT(calls, Contains("prefixes " + (packages / "usr").string() + "\n"));
  CATCH_CHECK_FALSE(fs::exists(clone.root() / ".difflab/apt/archives/a.deb"));
  // The library, which the machine has, is found beside its name for the linker.
  for (const char* name : {"libz.so", "libz.so.1", "libz.so.1.2"}) {
    CATCH_CHECK(read_file(packages / "usr/lib/x86_64-linux-gnu" / name) == "z");
  }

  CATCH_CHECK(clone.change_and_call().code == 0);
  ::unsetenv("DIFFLAB_USR");
  const std::string again = clone.calls();
  CATCH_CHECK_THAT(again, !Contains("apt-get") && !Contains("dpkg"));
  CATCH_CHECK_THAT(again, Contains("prefixes " + (packages / "usr").string() + "\n"));
}

CATCH_TEST_CASE("without root a program of a module or of conda counts, and g++ is not unpacked") {
  const Clone clone;
  clone.set("no_root");
  clone.set("no_cmake");  // not of Debian, but there
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), !Contains("apt-get"));

  clone.set("no_g++");
  clone.set("no_libfmt-dev");
  CATCH_CHECK(clone.change_and_call().code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("--no-install-recommends libfmt-dev\n"));

  clone.hide("g++");
  clone.set("no_libcli11-dev");
  CATCH_CHECK_THAT(clone.change_and_call(2).err,
                   Contains("error: there is no g++ (12 or later)") &&
                       Contains("sudo apt-get install g++ libcli11-dev\n"));
  CATCH_CHECK_THAT(clone.calls(), !Contains("apt-get"));
}

CATCH_TEST_CASE("a .venv that was left half made is made again") {
  const Clone clone;
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), !Contains("-m venv"));
  // Its pip does not work.
  write_file_atomically(clone.root() / ".venv/bin/python",
                        "#!/bin/sh\n[ \"$2\" != pip ] || [ \"$3\" != --version ]\n");
  fs::permissions(clone.root() / ".venv/bin/python", fs::perms::owner_all);
  CATCH_CHECK(clone.change_and_call().code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("python3 -m venv --clear "));
}

CATCH_TEST_CASE("no network is called by its name") {
  const Clone clone;
  clone.set("no_catch2");
  clone.set("no_network");
  CATCH_CHECK_THAT(clone.call({"list"}, 2).err, Contains("apt-get update failed: no network"));
}

// A clone with a .venv whose pip notes what it is asked for, and whose packages are those of a
// folder: a torch of this version.
class WithTorch : public Clone {
 public:
  explicit WithTorch(const std::string& version) : site_(stubs() / "site") {
    fs::create_directories(site_);
    write_file_atomically(site_ / "vl_convert.py", "");
    write_file_atomically(root() / ".venv/bin/python", kPython);
    fs::permissions(root() / ".venv/bin/python", fs::perms::owner_all);
    for (const char* name : kPlaces) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("PYTHONPATH", site_.c_str(), 1);
    ::setenv("DIFFLAB_USR", usr().c_str(), 1);
    add("torch", version);
  }
  ~WithTorch() {
    for (const char* name : kPlaces) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

  void add(const std::string& name, const std::string& version) const {
    const auto folder = site_ / (name + "-" + version + ".dist-info");
    fs::create_directories(folder);
    write_file_atomically(folder / "METADATA",
                          "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
    if (name != "torch") return;
    fs::create_directories(cmake_of_torch());
    write_file_atomically(cmake_of_torch() / "TorchConfig.cmake", "");
  }
  fs::path cmake_of_torch() const { return site_ / "torch/share/cmake/Torch"; }

  // Stands for /usr.
  fs::path usr() const { return site_ / "usr"; }

 private:
  static constexpr const char* kPlaces[] = {"PYTHONPATH", "DIFFLAB_USR", "Torch_DIR", "Torch_ROOT",
                                            "CMAKE_PREFIX_PATH"};
  static constexpr const char* kPython = R"(#!/bin/bash
[[ $1 == -m ]] || exec python3 "$@"
[[ ${!#} != --version ]] || exit 0
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
    const WithTorch clone(version);
    CATCH_CHECK(clone.call({"list"}).code == 0);
    const auto calls = clone.calls();
    CATCH_CHECK((calls.find("pip torch==") == calls.npos) == enough);
    if (!enough) {
      CATCH_CHECK_THAT(calls, Contains(driver ? "pip torch==2.13.0\n" : "pip torch==2.13.0+cpu\n"));
    }
  }
}

CATCH_TEST_CASE("a torch without what CMake needs, as Debian's python3-torch, is none") {
  const WithTorch clone("2.6.0");
  fs::remove_all(clone.cmake_of_torch());
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("pip torch==2.13.0"));
}

CATCH_TEST_CASE("a LibTorch that Torch_ROOT names is taken") {
  const WithTorch clone("1.0");
  const auto folder = clone.usr() / "opt/share/cmake/Torch";
  fs::create_directories(folder);
  write_file_atomically(folder / "TorchConfigVersion.cmake", "set(PACKAGE_VERSION \"2.7.0\")\n");
  ::setenv("Torch_ROOT", (clone.usr() / "opt").c_str(), 1);
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK(clone.calls().find("pip torch==") == std::string::npos);
}

CATCH_TEST_CASE("Debian's own LibTorch is taken if it is recent enough") {
  for (const auto& [version, enough] :
       std::map<std::string, bool>{{"1.13.1", false}, {"2.5.0", false}, {"2.6.0", true}}) {
    CATCH_INFO(version);
    const WithTorch clone("1.0");
    const auto folder = clone.usr() / "lib/x86_64-linux-gnu/cmake/Torch";
    fs::create_directories(folder);
    write_file_atomically(folder / "TorchConfigVersion.cmake",
                          "set(PACKAGE_VERSION \"" + version + "\")\n");
    CATCH_CHECK(clone.call({"list"}).code == 0);
    CATCH_CHECK((clone.calls().find("pip torch==") == std::string::npos) == enough);
  }
}

CATCH_TEST_CASE("where no LibTorch for the CPU alone is on offer the other one is installed") {
  const WithTorch clone("1.0");
  clone.set("no_cpu_wheel");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK_THAT(clone.calls(), Contains("pip torch==2.13.0\n"));
}

CATCH_TEST_CASE("LibTorch with CUDA gets the rest of CUDA's headers, of its own version") {
  const WithTorch clone("2.13.0");
  clone.add("nvidia_cuda_runtime", "12.4.127");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK(clone.calls().find("pip nvidia-cuda-crt==12.4.*\n") == 0);
  clone.add("nvidia_cuda_crt", "12.4.131");
  write_file_atomically(clone.root() / "src/a.cpp", "// changed");
  CATCH_CHECK(clone.call({"list"}).code == 0);
  CATCH_CHECK(clone.calls().find("pip ") == std::string::npos);
}

}  // namespace
}  // namespace difflab
